package envoy

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Upstream is one provider.
type Upstream struct {
	// Name is the cluster's name.
	Name string
	// URL is http or https; a path in it is put before each request's path.
	URL *url.URL
	// CAFile holds the certificates that an https provider is checked against;
	// empty: the system's.
	CAFile string
}

// ParseUpstream reads a provider's URL.
func ParseUpstream(name, raw, caFile string) (Upstream, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return Upstream{}, fmt.Errorf("upstream %s: %w", name, err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return Upstream{}, fmt.Errorf("upstream %s: %q is neither an http nor an https URL", name, raw)
	case u.Hostname() == "":
		return Upstream{}, fmt.Errorf("upstream %s: %q names no host", name, raw)
	case u.RawQuery != "" || u.User != nil || u.Fragment != "":
		return Upstream{}, fmt.Errorf("upstream %s: a URL of a provider has no query, user or fragment", name)
	}
	if caFile != "" {
		// Envoy runs in a folder of its own.
		if caFile, err = filepath.Abs(caFile); err != nil {
			return Upstream{}, fmt.Errorf("upstream %s: %w", name, err)
		}
	}
	return Upstream{Name: name, URL: u, CAFile: caFile}, nil
}

func (u Upstream) secure() bool { return u.URL.Scheme == "https" }

// path is what stands before each request's path, without a slash at the end.
func (u Upstream) path() string { return strings.TrimRight(u.URL.Path, "/") }

// authority is the Host that the provider is called by.
func (u Upstream) authority() string { return u.URL.Host }

func (u Upstream) hostPort() string {
	port := u.URL.Port()
	switch {
	case port != "":
	case u.secure():
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.URL.Hostname(), port)
}

func (u Upstream) cluster() (*clusterv3.Cluster, error) {
	if u.URL == nil {
		return nil, errors.New("envoy configuration: a provider has no URL")
	}
	addr, err := address(u.hostPort())
	if err != nil {
		return nil, err
	}
	c := &clusterv3.Cluster{
		Name:                 u.Name,
		ConnectTimeout:       durationpb.New(5 * time.Second),
		ClusterDiscoveryType: discovery(u.URL.Hostname()),
		LoadAssignment:       assignment(u.Name, addr),
		// Both families, whichever connects first: a machine may have a name's IPv6
		// address and no way to it.
		DnsLookupFamily: clusterv3.Cluster_ALL,
		CircuitBreakers: breakers(),
		CommonLbConfig:  noPanic(),
	}
	protocols := &httpv3.HttpProtocolOptions{}
	if u.secure() {
		// HTTP/2 where the provider offers it.
		protocols.UpstreamProtocolOptions = &httpv3.HttpProtocolOptions_AutoConfig{
			AutoConfig: &httpv3.HttpProtocolOptions_AutoHttpConfig{},
		}
		if c.TransportSocket, err = u.tls(); err != nil {
			return nil, err
		}
	} else {
		protocols.UpstreamProtocolOptions = explicit(&httpv3.HttpProtocolOptions_ExplicitHttpConfig{
			ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_HttpProtocolOptions{},
		})
	}
	return c, setProtocols(c, protocols)
}

// tls checks the provider's certificate against its name. An address has no SNI.
func (u Upstream) tls() (*corev3.TransportSocket, error) {
	ca := u.CAFile
	if ca == "" {
		var err error
		if ca, err = systemCAs(); err != nil {
			return nil, err
		}
	}
	host := u.URL.Hostname()
	kind := tlsv3.SubjectAltNameMatcher_DNS
	sni := host
	if net.ParseIP(host) != nil {
		kind, sni = tlsv3.SubjectAltNameMatcher_IP_ADDRESS, ""
	}
	return transportSocket(&tlsv3.UpstreamTlsContext{
		Sni: sni,
		CommonTlsContext: &tlsv3.CommonTlsContext{
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{
				ValidationContext: &tlsv3.CertificateValidationContext{
					TrustedCa: &corev3.DataSource{Specifier: &corev3.DataSource_Filename{Filename: ca}},
					MatchTypedSubjectAltNames: []*tlsv3.SubjectAltNameMatcher{{
						SanType: kind,
						Matcher: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: host}},
					}},
				},
			},
		},
	})
}

func transportSocket(tls *tlsv3.UpstreamTlsContext) (*corev3.TransportSocket, error) {
	packed, err := anypb.New(tls)
	if err != nil {
		return nil, fmt.Errorf("envoy TLS: %w", err)
	}
	return &corev3.TransportSocket{
		Name:       "envoy.transport_sockets.tls",
		ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: packed},
	}, nil
}

// systemCAs finds the system's certificates. Envoy has none of its own.
func systemCAs() (string, error) {
	for _, file := range []string{
		SystemCAFile, "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
	} {
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", errors.New("this machine has no CA certificates to check a provider by: install Debian's package ca-certificates, or give --upstream-ca FILE")
}

// SystemCAFile is where Debian keeps the system's certificates.
const SystemCAFile = "/etc/ssl/certs/ca-certificates.crt"

// extProcCluster is the gRPC server, watched by health checks, so that a server
// that is down costs a request nothing.
func extProcCluster(at string) (*clusterv3.Cluster, error) {
	addr, err := address(at)
	if err != nil {
		return nil, err
	}
	kind := discovery("127.0.0.1")
	if host, _, err := net.SplitHostPort(at); err == nil && addr.GetPipe() == nil {
		kind = discovery(host)
	}
	lb := noPanic()
	// Envoy's threads would hear of a server that is back, or gone, up to a second
	// later than its health check knows.
	lb.UpdateMergeWindow = durationpb.New(0)
	c := &clusterv3.Cluster{
		Name:                 ExtProcCluster,
		ConnectTimeout:       durationpb.New(500 * time.Millisecond),
		ClusterDiscoveryType: kind,
		LoadAssignment:       assignment(ExtProcCluster, addr),
		CircuitBreakers:      breakers(),
		CommonLbConfig:       lb,
		HealthChecks: []*corev3.HealthCheck{{
			Timeout:            durationpb.New(time.Second),
			Interval:           durationpb.New(time.Second),
			NoTrafficInterval:  durationpb.New(time.Second),
			UnhealthyThreshold: wrapperspb.UInt32(2),
			HealthyThreshold:   wrapperspb.UInt32(1),
			HealthChecker: &corev3.HealthCheck_GrpcHealthCheck_{
				GrpcHealthCheck: &corev3.HealthCheck_GrpcHealthCheck{},
			},
		}},
	}
	return c, setProtocols(c, &httpv3.HttpProtocolOptions{
		UpstreamProtocolOptions: explicit(&httpv3.HttpProtocolOptions_ExplicitHttpConfig{
			ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{
				Http2ProtocolOptions: &corev3.Http2ProtocolOptions{},
			},
		}),
	})
}

func explicit(c *httpv3.HttpProtocolOptions_ExplicitHttpConfig) *httpv3.HttpProtocolOptions_ExplicitHttpConfig_ {
	return &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{ExplicitHttpConfig: c}
}

func setProtocols(c *clusterv3.Cluster, p proto.Message) error {
	packed, err := anypb.New(p)
	if err != nil {
		return fmt.Errorf("envoy cluster %s: %w", c.GetName(), err)
	}
	c.TypedExtensionProtocolOptions = map[string]*anypb.Any{
		"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": packed,
	}
	return nil
}

// discovery resolves a name as its DNS entry changes; an address needs none.
func discovery(host string) *clusterv3.Cluster_Type {
	if net.ParseIP(host) != nil {
		return &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
	}
	return &clusterv3.Cluster_Type{Type: clusterv3.Cluster_LOGICAL_DNS}
}

func assignment(name string, addr *corev3.Address) *endpointv3.ClusterLoadAssignment {
	return &endpointv3.ClusterLoadAssignment{
		ClusterName: name,
		Endpoints: []*endpointv3.LocalityLbEndpoints{{LbEndpoints: []*endpointv3.LbEndpoint{{
			HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{Address: addr}},
		}}}},
	}
}

func breakers() *clusterv3.CircuitBreakers {
	return &clusterv3.CircuitBreakers{Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{
		MaxConnections:     wrapperspb.UInt32(maxRequests),
		MaxPendingRequests: wrapperspb.UInt32(maxRequests),
		MaxRequests:        wrapperspb.UInt32(maxRequests),
	}}}
}

// noPanic makes a host that is known to be down stay unused.
func noPanic() *clusterv3.Cluster_CommonLbConfig {
	return &clusterv3.Cluster_CommonLbConfig{HealthyPanicThreshold: &typev3.Percent{Value: 0}}
}

func socketPath(addr string) (string, bool) { return strings.CutPrefix(addr, "unix:") }
