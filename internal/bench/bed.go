package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/trimtab-io/trimtab/envoy"
)

// The ways through one Envoy, each a name that a client calls it by.
const (
	plain    = "plain"    // without any server
	noop     = "noop"     // through the server that does nothing
	echo     = "echo"     // through the same, which hands the body back
	trimtab  = "trimtab"  // through trimtab
	nothings = "nothings" // the cluster of the server that does nothing
)

// bed is what is measured through: a provider, an Envoy and two servers.
type bed struct {
	dir      string
	upstream *upstream
	http     *http.Server
	trimtab  *child
	nothing  *child
	envoy    *envoy.Process
	version  string
	client   *http.Client
}

// workers is the number of Envoy's threads. Requests come one after another, and the
// machine's other cores are for the servers.
const workers = 1

func newBed(ctx context.Context, o options) (_ *bed, err error) {
	b := &bed{upstream: newUpstream(), client: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 16, WriteBufferSize: 64 << 10, DisableCompression: true,
	}}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.dir, err = os.MkdirTemp("", "trimtab-bench-"); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b.http = &http.Server{Handler: b.upstream, ReadHeaderTimeout: time.Minute}
	go b.http.Serve(l) // ends with close
	if err := b.startServers(ctx, o); err != nil {
		return nil, err
	}
	return b, b.startEnvoy(ctx, o, "http://"+l.Addr().String())
}

func (b *bed) path(name string) string { return filepath.Join(b.dir, name) }

// configuration has a deadline that only an engine that hangs would reach, so that
// what is measured is always the rewrite.
const configuration = "profiles: {default: {preset: " + preset + ", storage: {level: metadata}, limits: {deadline: 20s}}}\n"

func (b *bed) startServers(ctx context.Context, o options) error {
	if err := os.WriteFile(b.path("trimtab.yaml"), []byte(configuration), 0o600); err != nil {
		return err
	}
	var err error
	socket := b.path("t.sock")
	if b.trimtab, err = startChild(ctx, socket, o.Trimtab, "serve", "--config", b.path("trimtab.yaml"), "--grpc", "unix:"+socket, "--admin", "127.0.0.1:0"); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	socket = b.path("n.sock")
	b.nothing, err = startChild(ctx, socket, self, "-nothing", socket)
	return err
}

func (b *bed) startEnvoy(ctx context.Context, o options, upstream string) error {
	options := envoy.Options{
		Listen: "127.0.0.1:0", ExtProc: "unix:" + b.path("t.sock"), MaxBodyBytes: 32 << 20, MessageTimeout: envoy.PatienceFor(20 * time.Second),
	}
	var err error
	for name, to := range map[string]*envoy.Upstream{"anthropic": &options.Anthropic, "openai": &options.OpenAI} {
		if *to, err = envoy.ParseUpstream(name, upstream, ""); err != nil {
			return err
		}
	}
	binary, version, err := envoy.Find(ctx, "", o.Root)
	if err != nil {
		return err
	}
	b.version = version
	b.envoy, err = envoy.Start(ctx, envoy.StartOptions{Binary: binary, Options: options, Concurrency: workers, Adjust: b.addWays})
	if err != nil {
		return err
	}
	for range 1000 {
		stats, err := b.envoy.Stats(ctx, "membership_healthy$")
		if err == nil && stats["cluster."+envoy.ExtProcCluster+".membership_healthy"] > 0 && stats["cluster."+nothings+".membership_healthy"] > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return errors.New("a server is not reached by Envoy")
}

// addWays puts the other ways beside the product's own: the same routes under other
// names, with another server or none.
func (b *bed) addWays(boot *bootstrapv3.Bootstrap) error {
	static := boot.GetStaticResources()
	for _, c := range static.GetClusters() {
		if c.GetName() == envoy.ExtProcCluster {
			other := proto.CloneOf(c)
			other.Name = nothings
			other.LoadAssignment = pipeAssignment(nothings, b.path("n.sock"))
			static.Clusters = append([]*clusterv3.Cluster{other}, static.Clusters...)
			break
		}
	}
	filter := static.GetListeners()[0].GetFilterChains()[0].GetFilters()[0]
	manager := &hcmv3.HttpConnectionManager{}
	if err := filter.GetTypedConfig().UnmarshalTo(manager); err != nil {
		return err
	}
	routes := manager.GetRouteConfig()
	ours := routes.GetVirtualHosts()[0]
	for name, per := range map[string]*extprocv3.ExtProcPerRoute{
		plain: {Override: &extprocv3.ExtProcPerRoute_Disabled{Disabled: true}},
		noop:  through(nothings),
		echo:  through(nothings, &corev3.HeaderValue{Key: echoKey, Value: "1"}),
		// The product's own, named in the same way, so that the way is the same.
		trimtab: through(envoy.ExtProcCluster),
	} {
		packed, err := anypb.New(per)
		if err != nil {
			return err
		}
		host := proto.CloneOf(ours)
		host.Name, host.Domains = name, []string{name}
		host.TypedPerFilterConfig = map[string]*anypb.Any{envoy.FilterName: packed}
		routes.VirtualHosts = append(routes.VirtualHosts, host)
	}
	packed, err := anypb.New(manager)
	if err != nil {
		return err
	}
	filter.GetTypedConfig().Value = packed.GetValue()
	return nil
}

func through(cluster string, metadata ...*corev3.HeaderValue) *extprocv3.ExtProcPerRoute {
	return &extprocv3.ExtProcPerRoute{Override: &extprocv3.ExtProcPerRoute_Overrides{Overrides: &extprocv3.ExtProcOverrides{
		GrpcInitialMetadata: metadata,
		GrpcService: &corev3.GrpcService{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
			EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: cluster},
		}},
	}}}
}

func pipeAssignment(cluster, socket string) *endpointv3.ClusterLoadAssignment {
	return &endpointv3.ClusterLoadAssignment{ClusterName: cluster, Endpoints: []*endpointv3.LocalityLbEndpoints{{
		LbEndpoints: []*endpointv3.LbEndpoint{{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{
			Address: &corev3.Address{Address: &corev3.Address_Pipe{Pipe: &corev3.Pipe{Path: socket}}},
		}}}},
	}}}
}

// post sends a request on one of the ways. The caller closes the answer's body.
func (b *bed) post(ctx context.Context, way, id string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.envoy.Addr()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Host = way
	req.Header.Set("content-type", "application/json")
	req.Header.Set("anthropic-version", "2023-06-01")
	req.Header.Set(idHeader, id)
	resp, err := b.client.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		err = fmt.Errorf("status %d on the way %s", resp.StatusCode, way)
	}
	return resp, err
}

// ask sends a request, reads the answer and returns how long both took and how many
// bytes reached the provider.
func (b *bed) ask(ctx context.Context, way string, body []byte) (took time.Duration, arrived int, err error) {
	began := time.Now()
	resp, err := b.post(ctx, way, "", body)
	if err != nil {
		return 0, 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	took = time.Since(began)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return 0, 0, err
	}
	arrived, err = strconv.Atoi(resp.Header.Get(arrivedHeader))
	return took, arrived, err
}

// close ends everything and leaves nothing behind.
func (b *bed) close() {
	if b.envoy != nil {
		b.envoy.Kill()
	}
	for _, c := range []*child{b.trimtab, b.nothing} {
		if c != nil {
			c.kill()
		}
	}
	if b.http != nil {
		b.http.Close()
	}
	b.client.CloseIdleConnections()
	os.RemoveAll(b.dir)
}
