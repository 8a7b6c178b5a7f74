package envoytest

import (
	"errors"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/trimtab-io/trimtab/envoy"
)

// FrontOptions say what to put an Envoy in front of.
type FrontOptions struct {
	// Root is the checkout, in which `make setup` installed an Envoy.
	Root string
	// ExtProc is where the server is, or will be: unix:PATH or HOST:PORT.
	ExtProc string
	// Upstream is the URL of both providers.
	Upstream string
	// MessageTimeout is Envoy's patience with the server; 0: the product's.
	MessageTimeout time.Duration
	// MaxBodyBytes is the largest body that the server reads; 0: the default.
	MaxBodyBytes int64
	// AccessLog replaces the file of the access log.
	AccessLog string
	// Adjust changes the product's configuration of Envoy, of which Envoy's health
	// checks are ten times as frequent here.
	Adjust func(*bootstrapv3.Bootstrap) error
}

// Front is an Envoy with the product's own configuration in front of a server
// that the test runs, stops and breaks itself.
type Front struct {
	*envoy.Process
	*record
}

// StartFront runs an Envoy and ends it with the test. Without an Envoy the test is
// skipped, with the remedy.
func StartFront(t testing.TB, o FrontOptions) *Front {
	t.Helper()
	f := &Front{record: newRecord(t)}
	if o.AccessLog != "" {
		f.accessLog = o.AccessLog
	}
	binary, _, err := envoy.Find(t.Context(), "", o.Root)
	if errors.Is(err, envoy.ErrNotFound) {
		t.Skip("needs an Envoy: run `make setup`")
	}
	if err != nil {
		t.Fatal(err)
	}
	options := envoy.Options{
		Listen: "127.0.0.1:0", ExtProc: o.ExtProc, AccessLog: f.accessLog,
		MaxBodyBytes: o.MaxBodyBytes, MessageTimeout: o.MessageTimeout,
	}
	if options.MaxBodyBytes == 0 {
		options.MaxBodyBytes = 32 << 20
	}
	for name, to := range map[string]*envoy.Upstream{"anthropic": &options.Anthropic, "openai": &options.OpenAI} {
		if *to, err = envoy.ParseUpstream(name, o.Upstream, ""); err != nil {
			t.Fatal(err)
		}
	}
	f.Process, err = envoy.Start(t.Context(), envoy.StartOptions{
		Binary: binary, Options: options, Log: f.logs, Concurrency: 2,
		Adjust: func(b *bootstrapv3.Bootstrap) error {
			quickly(b)
			if o.Adjust == nil {
				return nil
			}
			return o.Adjust(b)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Kill()
		f.show(t)
	})
	return f
}

// URL is where agents connect, without a path.
func (f *Front) URL() string { return "http://" + f.Addr() }

// AwaitServer waits until Envoy knows whether the server is healthy.
func (f *Front) AwaitServer(t testing.TB, healthy bool) {
	t.Helper()
	n := int64(0)
	if healthy {
		n = 1
	}
	f.AwaitServers(t, n)
}

// AwaitServers waits until Envoy knows n healthy servers. What it thought of them
// before does not count: each of them answers a health check that began after the
// call.
func (f *Front) AwaitServers(t testing.TB, n int64) {
	t.Helper()
	const cluster = "cluster." + envoy.ExtProcCluster
	before := int64(-1)
	for range 1500 {
		stats, err := f.Stats(t.Context(), "^"+cluster+".")
		if err != nil {
			t.Fatal(err)
		}
		answered := stats[cluster+".health_check.success"]
		if before < 0 {
			before = answered
		}
		// One may have been under way, and two of the same server come in a row.
		if stats[cluster+".membership_healthy"] == n && (n == 0 || answered > before+n) {
			time.Sleep(10 * time.Millisecond) // Envoy's threads hear of it one after another
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("Envoy does not see %d healthy servers", n)
}

// quickly makes Envoy check health often, so that tests need not wait for it.
func quickly(b *bootstrapv3.Bootstrap) {
	for _, c := range ServerCluster(b).GetHealthChecks() {
		c.Interval = durationpb.New(100 * time.Millisecond)
		c.NoTrafficInterval = durationpb.New(100 * time.Millisecond)
	}
}

// ServerCluster is the server's cluster in a configuration.
func ServerCluster(b *bootstrapv3.Bootstrap) *clusterv3.Cluster {
	for _, c := range b.GetStaticResources().GetClusters() {
		if c.GetName() == envoy.ExtProcCluster {
			return c
		}
	}
	panic("the configuration has no cluster of the server")
}
