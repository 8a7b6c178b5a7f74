package envoytest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// chaosRequest is one of the kinds of requests that are sent under chaos.
type chaosRequest struct {
	path   string
	stream bool
	sent   []byte
	want   []byte
}

func chaosRequests(t *testing.T) []chaosRequest {
	var list []chaosRequest
	for i, path := range []string{"/v1/messages", "/v1/chat/completions", "/v1/responses"} {
		for _, size := range []int{2 << 10, 12 << 10, 60 << 10} {
			for _, stream := range []bool{false, true} {
				r := chaosRequest{path: path, stream: stream}
				r.sent = body(t, path, fmt.Sprint("chaos", i, size, stream), size, stream)
				r.want = want(t, path, r.sent)
				list = append(list, r)
			}
		}
	}
	// Not an agent's: the server answers the headers and sees no more of it.
	plain := []byte(`{"purpose":"batch"}`)
	return append(list, chaosRequest{path: "/v1/files", sent: plain, want: plain})
}

// The server dies and comes back every half second under traffic, with all that it
// knew gone. No request is harmed, and Envoy's access log shows as many failures as
// there were: requests that found no server, and those cut off in the middle.
func TestServerDiesAndComesBackUnderTraffic(t *testing.T) {
	if os.Getenv("TRIMTAB_FAULTS") == "" {
		t.Skip("make test runs it by itself at the end, since it counts what it injects: make test-faults")
	}
	const requests, workers, every = 5000, 12, 500 * time.Millisecond
	up := envoytest.StartUpstream(t)
	up.Pause = time.Millisecond
	socket := "unix:" + filepath.Join(t.TempDir(), "s")
	server := envoytest.StartServer(t, envoytest.ServerOptions{Addr: socket, Environ: slow})
	front := envoytest.StartFront(t, envoytest.FrontOptions{Root: root, ExtProc: socket, Upstream: up.URL, MessageTimeout: 20 * time.Second})
	front.AwaitServer(t, true)
	kinds := chaosRequests(t)

	var next, raw, rewritten atomic.Int64
	var wg sync.WaitGroup
	over := make(chan struct{})
	for w := range workers {
		client := envoytest.Client(t, w%2 == 1)
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= requests {
					return
				}
				c := kinds[n%len(kinds)]
				id, length := fmt.Sprint(n), n/len(kinds)%3 != 0
				r, err := envoytest.Post(t.Context(), client, front.URL()+c.path, c.sent, length, envoytest.IDHeader, id)
				got := up.Take(id)
				switch {
				case err != nil:
					t.Errorf("%d: %v", n, err)
				case r.Status != http.StatusOK || string(r.Body) != envoytest.Answer(id, c.stream):
					t.Errorf("%d: %d, %d bytes of an answer of %d", n, r.Status, len(r.Body), len(envoytest.Answer(id, c.stream)))
				case got.Times != 1:
					t.Errorf("%d: arrived %d times", n, got.Times)
				case bytes.Equal(got.Body, c.sent):
					raw.Add(1)
				case bytes.Equal(got.Body, c.want):
					rewritten.Add(1)
				default:
					t.Errorf("%d: %d bytes arrived, neither the %d that were sent nor the %d that they become", n, len(got.Body), len(c.sent), len(c.want))
				}
			}
		})
	}
	go func() { wg.Wait(); close(over) }()
	deaths := 0
	for alive := true; alive; {
		select {
		case <-over:
			alive = false
		case <-time.After(every):
			server.Freeze()
			server.Stop()
			deaths++
			time.Sleep(every / 4)
			server.Start()
		}
	}
	shown := 0
	for _, entry := range front.Access(t, requests) {
		if failed(entry) {
			shown++
		}
	}
	server.Stop()
	l := server.Ledger()
	t.Logf("%d deaths; %d requests were rewritten, %d went as they were; %+v; the access log shows %d failures", deaths, rewritten.Load(), raw.Load(), l, shown)
	if injected := requests - l.Whole; shown != injected {
		t.Errorf("the access log shows %d failures, there were %d", shown, injected)
	}
	if l.Cut == 0 || l.Whole < requests/50 || rewritten.Load() < requests/50 {
		t.Errorf("it was not what was meant: %d rewritten, %d raw, %+v", rewritten.Load(), raw.Load(), l)
	}
}
