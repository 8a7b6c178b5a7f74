package envoy

import (
	"time"

	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	// FilterName is the filter's name in Envoy's configuration and the key of its
	// filter state in access logs.
	FilterName = "trimtab"
	// ExtProcCluster is the cluster of the gRPC server.
	ExtProcCluster = "trimtab_extproc"
	// MetadataNamespace is the namespace of the dynamic metadata that trimtab sets.
	MetadataNamespace = "trimtab"
	// ProfileMetadata is the gRPC metadata key by which a route names its profile.
	ProfileMetadata = "x-trimtab-profile"
	// MessageTimeout is how long Envoy waits for an answer, by default, before it
	// lets a request go on as it came. trimtab's own deadline is below it.
	MessageTimeout = 2 * time.Second
)

// PatienceFor is how long Envoy has to wait for an answer of a server that works
// on a request for up to deadline.
func PatienceFor(deadline time.Duration) time.Duration {
	return max(MessageTimeout, deadline+deadline/3)
}

// maxMessageTimeout is the most that the server may ask for by extending a
// message's timeout.
const maxMessageTimeout = 30 * time.Second

// allowedHeaders are the headers that the filter may change, and no other:
// Envoy does not check a content-length or a transfer-encoding that it is told
// to set.
const allowedHeaders = `^(content-length|content-encoding|accept-encoding|x-trimtab-.*)$`

// Filter returns the configuration of the trimtab filter.
//
// The base modes read headers only; the server's answer to the headers asks for
// a body where it wants one. That way nothing is buffered that is not ours, and
// the original stays in Envoy: whatever happens to the server, the request goes
// on as it came. messageTimeout is how long Envoy waits for an answer.
func Filter(messageTimeout time.Duration) *extprocv3.ExternalProcessor {
	return &extprocv3.ExternalProcessor{
		GrpcService: &corev3.GrpcService{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
			EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: ExtProcCluster},
		}},
		FailureModeAllow:  true,
		AllowModeOverride: true,
		// The server can change a body and nothing else: neither answer in the
		// provider's place nor send a request elsewhere.
		DisableImmediateResponse: true,
		RouteCacheAction:         extprocv3.ExternalProcessor_RETAIN,

		MessageTimeout:    durationpb.New(messageTimeout),
		MaxMessageTimeout: durationpb.New(max(maxMessageTimeout, messageTimeout)),
		ProcessingMode: &extprocv3.ProcessingMode{
			RequestHeaderMode:   extprocv3.ProcessingMode_SEND,
			ResponseHeaderMode:  extprocv3.ProcessingMode_SEND,
			RequestBodyMode:     extprocv3.ProcessingMode_NONE,
			ResponseBodyMode:    extprocv3.ProcessingMode_NONE,
			RequestTrailerMode:  extprocv3.ProcessingMode_SKIP,
			ResponseTrailerMode: extprocv3.ProcessingMode_SKIP,
		},
		RequestAttributes: []string{"xds.route_name", "xds.cluster_name", "request.id"},
		MetadataOptions: &extprocv3.MetadataOptions{
			ReceivingNamespaces: &extprocv3.MetadataOptions_MetadataNamespaces{Untyped: []string{MetadataNamespace}},
		},
		MutationRules: &mutationv3.HeaderMutationRules{
			DisallowAll:     wrapperspb.Bool(true),
			AllowExpression: &matcherv3.RegexMatcher{Regex: allowedHeaders},
		},
	}
}

// PerRoute returns the filter's configuration on a route whose requests have
// the named profile.
func PerRoute(profile string) proto.Message {
	return &extprocv3.ExtProcPerRoute{Override: &extprocv3.ExtProcPerRoute_Overrides{
		Overrides: &extprocv3.ExtProcOverrides{GrpcInitialMetadata: []*corev3.HeaderValue{
			{Key: ProfileMetadata, Value: profile},
		}},
	}}
}

// RemovedHeaders are the request headers that speak to trimtab. Routes remove
// them, so that none reaches a provider even while trimtab is down.
func RemovedHeaders() []string {
	var names []string
	for _, family := range []string{"x-trimtab-", "x-context-guru-"} {
		for _, name := range []string{"session", "agent", "bypass", "profile", "ping"} {
			names = append(names, family+name)
		}
	}
	return names
}
