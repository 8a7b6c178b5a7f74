package envoytest_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/trimtab-io/trimtab/extproc"
	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// speaking are the headers that speak to trimtab, in both families.
func speaking(session, bypass, profile string) []string {
	var list []string
	for _, family := range []string{"x-trimtab-", "X-Context-Guru-"} {
		list = append(list, family+"session", session, family+"bypass", bypass, family+"profile", profile, family+"agent", "a", family+"ping", "1")
	}
	return list
}

// leaked are the headers of an arrival that speak to trimtab or come from Envoy.
func leaked(h http.Header) []string {
	var list []string
	for name := range h {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-trimtab-") || strings.HasPrefix(name, "x-context-guru-") || strings.HasPrefix(name, "x-envoy-") {
			list = append(list, name)
		}
	}
	return list
}

// Headers that speak to trimtab are believed only where the configuration says so,
// and none reaches a provider, whether the server is there or not. All others do.
func TestHeadersThatSpeakToTrimtab(t *testing.T) {
	const path = "/v1/messages"
	file := func(t *testing.T, trusted bool) string {
		name := filepath.Join(t.TempDir(), "trimtab.yaml")
		text := fmt.Sprintf("trusted_headers: {session: %[1]v, bypass: %[1]v, profile: %[1]v, agent: %[1]v}\n", trusted) +
			"profiles: {default: {preset: conservative, limits: {deadline: 30s}}, other: {preset: \"off\"}}\n"
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	sent := body(t, path, "headers", 40<<10, false)
	rewritten := want(t, path, sent)
	for _, trusted := range []bool{false, true} {
		t.Run(fmt.Sprint("trusted ", trusted), func(t *testing.T) {
			up := envoytest.StartUpstream(t)
			rig := envoytest.Start(t, envoytest.Options{Root: root, File: file(t, trusted), Upstream: up.URL})
			raw := sent
			if !trusted {
				raw = rewritten
			}
			for i, c := range []struct {
				name, bypass, profile string
				want                  []byte
			}{
				{"bypass", "1", "", raw},
				{"no bypass", "0", "", rewritten},
				{"another profile", "", "other", raw},
				{"the same profile", "", "default", rewritten},
				{"unknown profile", "", "none of ours", raw},
				{"server gone", "0", "", sent},
			} {
				if c.name == "server gone" {
					if err := rig.Service().Kill(); err != nil {
						t.Fatal(err)
					}
				}
				for _, http2 := range []bool{false, true} {
					for _, length := range []bool{true, false} {
						id := fmt.Sprint(i, http2, length)
						header := append(speaking(id, c.bypass, c.profile), envoytest.IDHeader, id,
							"x-claude-code-agent-id", "sub-1", "anthropic-beta", "a,b", "x-unknown", "kept", "authorization", "Bearer key")
						if _, err := envoytest.Post(t.Context(), envoytest.Client(t, http2), rig.URL()+path+"?beta=true&x=%2F", sent, length, header...); err != nil {
							t.Fatal(err)
						}
						got := up.Take(id)
						if !bytes.Equal(got.Body, c.want) {
							t.Errorf("%s: %d bytes arrived, want %d", c.name, len(got.Body), len(c.want))
						}
						if names := leaked(got.Header); len(names) > 0 {
							t.Errorf("%s: %v reached the provider", c.name, names)
						}
						for name, value := range map[string]string{
							"x-claude-code-agent-id": "sub-1", "anthropic-beta": "a,b", "x-unknown": "kept", "authorization": "Bearer key", "anthropic-version": "2023-06-01",
						} {
							if got.Header.Get(name) != value {
								t.Errorf("%s: %s is %q, want %q", c.name, name, got.Header.Get(name), value)
							}
						}
						if got.Path != path+"?beta=true&x=%2F" {
							t.Errorf("%s: path %s", c.name, got.Path)
						}
					}
				}
			}
		})
	}
}

// meddler is a server that tries to change what it must not.
type meddler struct {
	extprocpb.UnimplementedExternalProcessorServer
	mutation *extprocpb.HeaderMutation
}

func (m *meddler) Process(stream extprocpb.ExternalProcessor_ProcessServer) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return nil
		}
		common := &extprocpb.CommonResponse{HeaderMutation: m.mutation, ClearRouteCache: true}
		answer := &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocpb.HeadersResponse{Response: common}}}
		if r.GetResponseHeaders() != nil {
			answer = &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocpb.HeadersResponse{Response: common}}}
		}
		if stream.Send(answer) != nil {
			return nil
		}
	}
}

// Envoy's own rules let the server change the headers that belong to a body, and no
// other, on either way.
func TestEnvoyRefusesOtherMutations(t *testing.T) {
	set := func(name, value string) *corev3.HeaderValueOption {
		return &corev3.HeaderValueOption{
			Header:       &corev3.HeaderValue{Key: name, RawValue: []byte(value)},
			AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
		}
	}
	m := &meddler{mutation: &extprocpb.HeaderMutation{
		SetHeaders: []*corev3.HeaderValueOption{
			set(":path", "/elsewhere"), set(":method", "PUT"), set(":authority", "elsewhere"), set("host", "elsewhere"), set(":scheme", "https"),
			set("authorization", "Bearer stolen"), set("x-api-key", "stolen"), set("anthropic-version", "2099-01-01"), set("content-type", "text/plain"),
			set("transfer-encoding", "chunked"), set("connection", "close"), set("te", "trailers"), set("upgrade", "websocket"), set("x-other", "new"),
			set("location", "/elsewhere"), set("set-cookie", "a=b"), set(":status", "500"),
			set("x-trimtab-note", "kept"), set("accept-encoding", "gzip"),
		},
		RemoveHeaders: []string{":path", "authorization", "anthropic-version", "content-type", "x-unknown"},
	}}
	socket := "unix:" + filepath.Join(t.TempDir(), "s")
	l, err := extproc.Listen(context.Background(), socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	extprocpb.RegisterExternalProcessorServer(server, m)
	healthpb.RegisterHealthServer(server, health.NewServer())
	go server.Serve(l)
	t.Cleanup(server.Stop)
	up := envoytest.StartUpstream(t)
	front := envoytest.StartFront(t, envoytest.FrontOptions{Root: root, ExtProc: socket, Upstream: up.URL})
	front.AwaitServer(t, true)
	sent := body(t, "/v1/messages", "meddler", 4<<10, false)
	for _, http2 := range []bool{false, true} {
		id := fmt.Sprint("meddled", http2)
		r, err := envoytest.Post(t.Context(), envoytest.Client(t, http2), front.URL()+"/v1/messages", sent, true,
			envoytest.IDHeader, id, "authorization", "Bearer key", "x-unknown", "kept")
		if err != nil || r.Status != http.StatusOK || string(r.Body) != envoytest.Answer(id, false) {
			t.Fatalf("%d %v %s", r.Status, err, r.Body)
		}
		got := up.Take(id)
		if got.Path != "/v1/messages" || got.Method != http.MethodPost || !bytes.Equal(got.Body, sent) {
			t.Errorf("%s %s, %d bytes", got.Method, got.Path, len(got.Body))
		}
		for name, value := range map[string]string{
			"authorization": "Bearer key", "x-unknown": "kept", "anthropic-version": "2023-06-01", "content-type": "application/json",
			"x-api-key": "", "x-other": "", "upgrade": "", "te": "", "connection": "", "x-trimtab-note": "kept", "accept-encoding": "gzip",
		} {
			if got.Header.Get(name) != value {
				t.Errorf("at the provider %s is %q, want %q", name, got.Header.Get(name), value)
			}
		}
		for name, value := range map[string]string{
			"content-type": "application/json", "location": "", "set-cookie": "", "x-other": "", "x-trimtab-note": "kept",
		} {
			if r.Header.Get(name) != value {
				t.Errorf("at the client %s is %q, want %q", name, r.Header.Get(name), value)
			}
		}
	}
	stats, err := front.Stats(t.Context(), "rejected_header_mutations")
	if err != nil || stats["http.agents.ext_proc.rejected_header_mutations"] == 0 {
		t.Errorf("%v %v", err, stats)
	}
}
