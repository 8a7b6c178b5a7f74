package envoy

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Options are what a complete configuration depends on.
type Options struct {
	// Listen is where agents connect, HOST:PORT; port 0 lets the kernel choose.
	Listen string
	// Admin is Envoy's admin address, HOST:PORT or unix:PATH; empty: none.
	Admin string
	// ExtProc is the gRPC server's address, unix:PATH or HOST:PORT.
	ExtProc string
	// Anthropic and OpenAI are the providers.
	Anthropic, OpenAI Upstream
	// Profile is sent with each request; empty: the server's default profile.
	Profile string
	// MaxBodyBytes is the largest body that the server reads.
	MaxBodyBytes int64
	// MessageTimeout is how long Envoy waits for an answer of the server; 0 means
	// the constant of that name.
	MessageTimeout time.Duration
	// AccessLog is the file that gets one JSON line per request; empty: none.
	AccessLog string
}

// idleTimeout ends a request on which nothing moved for so long. Models may
// think for minutes before the first byte.
const idleTimeout = 10 * time.Minute

// maxRequests bounds the open requests of a cluster. Each proxied request holds
// a gRPC stream for its whole life, which is minutes; Envoy's default of 1024
// would let requests beyond it through unprocessed.
const maxRequests = 100000

// Bootstrap returns a complete Envoy configuration: a listener, routes to both
// providers, the trimtab filter on all of them.
func Bootstrap(o Options) (*bootstrapv3.Bootstrap, error) {
	if o.MessageTimeout == 0 {
		o.MessageTimeout = MessageTimeout
	}
	listen, err := address(o.Listen)
	if err != nil {
		return nil, err
	}
	extProc, err := extProcCluster(o.ExtProc)
	if err != nil {
		return nil, err
	}
	b := &bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{}}
	b.StaticResources.Clusters = append(b.StaticResources.Clusters, extProc)
	for _, u := range []Upstream{o.Anthropic, o.OpenAI} {
		c, err := u.cluster()
		if err != nil {
			return nil, err
		}
		b.StaticResources.Clusters = append(b.StaticResources.Clusters, c)
	}
	if o.Admin != "" {
		admin, err := address(o.Admin)
		if err != nil {
			return nil, err
		}
		b.Admin = &bootstrapv3.Admin{Address: admin}
	}
	manager, err := connectionManager(o)
	if err != nil {
		return nil, err
	}
	packed, err := anypb.New(manager)
	if err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	b.StaticResources.Listeners = []*listenerv3.Listener{{
		Name:    "agents",
		Address: listen,
		FilterChains: []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{
			Name:       "envoy.filters.network.http_connection_manager",
			ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed},
		}}}},
	}}
	return b, nil
}

func connectionManager(o Options) (*hcmv3.HttpConnectionManager, error) {
	filters, err := httpFilters(o.MessageTimeout)
	if err != nil {
		return nil, err
	}
	routes, err := o.routes()
	if err != nil {
		return nil, err
	}
	m := &hcmv3.HttpConnectionManager{
		StatPrefix:                 "agents",
		HttpFilters:                filters,
		ServerHeaderTransformation: hcmv3.HttpConnectionManager_PASS_THROUGH,
		// The request stays the agent's: no id of ours goes to the provider.
		GenerateRequestId: wrapperspb.Bool(false),
		// So that the route that refuses them is asked.
		UpgradeConfigs: []*hcmv3.HttpConnectionManager_UpgradeConfig{{UpgradeType: websocket}},
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{
			Name:                   "providers",
			RequestHeadersToRemove: RemovedHeaders(),
			VirtualHosts: []*routev3.VirtualHost{{
				Name: "providers", Domains: []string{"*"}, Routes: routes,
			}},
		}},
	}
	if o.AccessLog != "" {
		entry, err := accessLog(o.AccessLog)
		if err != nil {
			return nil, err
		}
		m.AccessLog = append(m.AccessLog, entry)
	}
	return m, nil
}

func httpFilters(messageTimeout time.Duration) ([]*hcmv3.HttpFilter, error) {
	var list []*hcmv3.HttpFilter
	for _, f := range []struct {
		name   string
		config proto.Message
	}{
		{FilterName, Filter(messageTimeout)},
		// Headers of Envoy's own are of no use to a provider.
		{"envoy.filters.http.router", &routerv3.Router{SuppressEnvoyHeaders: true}},
	} {
		packed, err := anypb.New(f.config)
		if err != nil {
			return nil, fmt.Errorf("envoy filter %s: %w", f.name, err)
		}
		list = append(list, &hcmv3.HttpFilter{
			Name: f.name, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed},
		})
	}
	return list, nil
}

// routes sends what is told by its path to its provider; anything else goes to
// anthropic if it has that provider's version header, else to openai.
func (o Options) routes() ([]*routev3.Route, error) {
	version := []*routev3.HeaderMatcher{{
		Name:                 "anthropic-version",
		HeaderMatchSpecifier: &routev3.HeaderMatcher_PresentMatch{PresentMatch: true},
	}}
	list := []struct {
		name, prefix, rewrite string
		headers               []*routev3.HeaderMatcher
		to                    Upstream
	}{
		{"anthropic-prefix", "/anthropic/", "/", nil, o.Anthropic},
		{"openai-prefix", "/openai/", "/", nil, o.OpenAI},
		{"messages", "/v1/messages", "/v1/messages", nil, o.Anthropic},
		{"chat", "/v1/chat/completions", "/v1/chat/completions", nil, o.OpenAI},
		{"responses", "/v1/responses", "/v1/responses", nil, o.OpenAI},
		{"anthropic-version", "/", "/", version, o.Anthropic},
		{"other", "/", "/", nil, o.OpenAI},
	}
	refuse, err := refuseWebSockets()
	if err != nil {
		return nil, err
	}
	routes := []*routev3.Route{refuse}
	for _, r := range list {
		action := o.action(r.to)
		if rewrite := r.to.path() + r.rewrite; rewrite != r.prefix {
			action.PrefixRewrite = rewrite
		}
		route := &routev3.Route{
			Name: r.name,
			Match: &routev3.RouteMatch{
				PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: r.prefix}, Headers: r.headers,
			},
			Action:                 &routev3.Route_Route{Route: action},
			RequestBodyBufferLimit: wrapperspb.UInt64(uint64(o.MaxBodyBytes)),
		}
		if o.Profile != "" {
			packed, err := anypb.New(PerRoute(o.Profile))
			if err != nil {
				return nil, fmt.Errorf("envoy route %s: %w", r.name, err)
			}
			route.TypedPerFilterConfig = map[string]*anypb.Any{FilterName: packed}
		}
		routes = append(routes, route)
	}
	return routes, nil
}

// websocket is what a request for a WebSocket wants to upgrade to.
const websocket = "websocket"

// refuseWebSockets answers requests for a WebSocket with 426. An agent that knows
// both ways then sends the same as plain requests, which can be shortened; at
// Envoy's own 403 some try again for seconds.
func refuseWebSockets() (*routev3.Route, error) {
	disabled, err := anypb.New(&extprocv3.ExtProcPerRoute{Override: &extprocv3.ExtProcPerRoute_Disabled{Disabled: true}})
	if err != nil {
		return nil, fmt.Errorf("envoy route %s: %w", websocket, err)
	}
	return &routev3.Route{
		Name: websocket,
		Match: &routev3.RouteMatch{
			PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"},
			// Envoy takes the header off what is no such request.
			Headers: []*routev3.HeaderMatcher{{Name: "upgrade", HeaderMatchSpecifier: exactly(websocket, true)}},
		},
		Action:               &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: http.StatusUpgradeRequired}},
		TypedPerFilterConfig: map[string]*anypb.Any{FilterName: disabled},
	}, nil
}

func exactly(value string, ignoreCase bool) *routev3.HeaderMatcher_StringMatch {
	return &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
		MatchPattern: &matcherv3.StringMatcher_Exact{Exact: value}, IgnoreCase: ignoreCase,
	}}
}

func (o Options) action(to Upstream) *routev3.RouteAction {
	return &routev3.RouteAction{
		ClusterSpecifier:     &routev3.RouteAction_Cluster{Cluster: to.Name},
		HostRewriteSpecifier: &routev3.RouteAction_HostRewriteLiteral{HostRewriteLiteral: to.authority()},
		// An answer may take as long as it takes; the agent has its own timeout.
		Timeout:     durationpb.New(0),
		IdleTimeout: durationpb.New(idleTimeout),
		RetryPolicy: retries(),
	}
}

// retries are of what cannot have been billed; agents retry the rest. Where a
// request may be tried again Envoy keeps a copy of what it has sent. If the server
// fails while a body of unknown length comes in, Envoy sends that copy a second
// time: so only requests whose body can't be of unknown length are tried again.
func retries() *routev3.RetryPolicy {
	return &routev3.RetryPolicy{
		RetryOn:    "connect-failure,refused-stream,reset-before-request",
		NumRetries: wrapperspb.UInt32(2),
		RetriableRequestHeaders: []*routev3.HeaderMatcher{
			{Name: "content-length", HeaderMatchSpecifier: &routev3.HeaderMatcher_PresentMatch{PresentMatch: true}},
			{Name: ":method", InvertMatch: true, HeaderMatchSpecifier: exactly(http.MethodPost, false)},
		},
	}
}

// address turns HOST:PORT or unix:PATH into Envoy's form.
func address(addr string) (*corev3.Address, error) {
	if path, ok := socketPath(addr); ok {
		return &corev3.Address{Address: &corev3.Address_Pipe{Pipe: &corev3.Pipe{Path: path}}}, nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: want HOST:PORT or unix:PATH", addr)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %q: the port must be a number from 0 to 65535", addr)
	}
	if host == "" {
		host = "0.0.0.0"
	}
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address: host, PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: uint32(n)},
	}}}, nil
}
