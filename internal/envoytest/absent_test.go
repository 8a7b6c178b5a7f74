package envoytest_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// unwatched takes the health check away: Envoy learns of a dead server by each
// request anew.
func unwatched(b *bootstrapv3.Bootstrap) error {
	envoytest.ServerCluster(b).HealthChecks = nil
	return nil
}

// mute accepts connections and says nothing on them.
func mute(t *testing.T, network, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var held []net.Conn
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			held = append(held, c)
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range held {
			c.Close()
		}
	})
	return l
}

// Without a server requests arrive as they were sent, whatever is wrong with it
// and whether Envoy knows already or not.
func TestRequestsArriveWithoutAServer(t *testing.T) {
	const path = "/v1/messages"
	sent := map[bool][]byte{}
	for _, stream := range []bool{false, true} {
		sent[stream] = body(t, path, fmt.Sprint("absent", stream), 200<<10, stream)
	}
	for _, c := range []struct {
		name   string
		server func(t *testing.T) string // its address
	}{
		{"absent", func(t *testing.T) string { return "unix:" + filepath.Join(t.TempDir(), "s") }},
		{"refused, a socket nobody listens on", func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "s")
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: file, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			l.Close()
			return "unix:" + file
		}},
		{"refused, a port nobody listens on", func(t *testing.T) string {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
			return l.Addr().String()
		}},
		{"accepting and silent, socket", func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "s")
			mute(t, "unix", file)
			return "unix:" + file
		}},
		{"accepting and silent, port", func(t *testing.T) string { return mute(t, "tcp", "127.0.0.1:0").Addr().String() }},
	} {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, known %v", c.name, known), func(t *testing.T) {
				t.Parallel()
				up := envoytest.StartUpstream(t)
				o := envoytest.FrontOptions{Root: root, ExtProc: c.server(t), Upstream: up.URL, MessageTimeout: patience}
				if !known {
					o.Adjust = unwatched
				}
				front := envoytest.StartFront(t, o)
				for i := range 8 {
					http2, length, stream := i&1 == 1, i&2 == 2, i&4 == 4
					id := fmt.Sprint(i)
					r, err := send(t.Context(), envoytest.Client(t, http2), front.URL()+path, id, sent[stream], length, nothing)
					if err != nil || r.Status != http.StatusOK || string(r.Body) != envoytest.Answer(id, stream) {
						t.Errorf("HTTP/2 %v, length %v, stream %v: %d %v", http2, length, stream, r.Status, err)
					}
					if got := up.Take(id); got.Times != 1 || !bytes.Equal(got.Body, sent[stream]) {
						t.Errorf("HTTP/2 %v, length %v, stream %v: %d bytes arrived %d times", http2, length, stream, len(got.Body), got.Times)
					}
				}
				for i, entry := range front.Access(t, 8) {
					if filter, _ := entry["filter"].(map[string]any); filter["failed_open"] != true {
						t.Errorf("request %d: %v", i, filter)
					}
				}
			})
		}
	}
}

// Each open request holds a stream of the server's. Over the circuit breaker's
// limit requests go on as they were sent.
func TestCircuitBreakerLetsRequestsThrough(t *testing.T) {
	up := envoytest.StartUpstream(t)
	socket := "unix:" + filepath.Join(t.TempDir(), "s")
	envoytest.StartServer(t, envoytest.ServerOptions{Addr: socket, Environ: slow})
	front := envoytest.StartFront(t, envoytest.FrontOptions{
		Root: root, ExtProc: socket, Upstream: up.URL,
		Adjust: func(b *bootstrapv3.Bootstrap) error {
			envoytest.ServerCluster(b).CircuitBreakers.Thresholds[0].MaxRequests = wrapperspb.UInt32(1)
			return nil
		},
	})
	front.AwaitServer(t, true)
	const path = "/v1/messages"
	sent := body(t, path, "breaker", 40<<10, true)
	held, proceed := make(chan struct{}), make(chan struct{})
	up.Hold("first", func(point string) {
		if point == envoytest.BeforeHeaders {
			close(held)
			<-proceed
		}
	})
	ask := func(id string) {
		r, err := send(t.Context(), envoytest.Client(t, id == "third"), front.URL()+path, id, sent, id != "second", nothing)
		if err != nil || r.Status != http.StatusOK || string(r.Body) != envoytest.Answer(id, true) {
			t.Errorf("%s: %d %v", id, r.Status, err)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { ask("first") })
	<-held
	ask("second")
	ask("third")
	close(proceed)
	wg.Wait()
	ask("fourth")
	rewritten := want(t, path, sent)
	for id, expected := range map[string][]byte{"first": rewritten, "second": sent, "third": sent, "fourth": rewritten} {
		if got := up.Take(id); !bytes.Equal(got.Body, expected) {
			t.Errorf("%s: %d bytes arrived, want %d", id, len(got.Body), len(expected))
		}
	}
	open := 0
	for _, entry := range front.Access(t, 4) {
		if failed(entry) {
			open++
		}
	}
	if open != 2 {
		t.Errorf("%d failed open, want 2", open)
	}
}
