package envoytest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// patience is Envoy's with a server, in tests of servers that fail.
const patience = 800 * time.Millisecond

// parts sends a body in four parts, and the second half only once wait returns.
type parts struct {
	rest []byte
	size int
	sent int
	wait func()
}

func newParts(body []byte, wait func()) io.Reader {
	return &parts{rest: body, size: len(body)/4 + 1, wait: wait}
}

func (p *parts) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	if p.sent == 2*p.size {
		p.wait()
	}
	n := min(len(b), len(p.rest), p.size-p.sent%p.size)
	copy(b, p.rest[:n])
	p.rest, p.sent = p.rest[n:], p.sent+n
	return n, nil
}

// until waits for something, and then for Envoy to hear of it.
func until(t testing.TB, happened <-chan struct{}) func() {
	return func() {
		select {
		case <-happened:
			time.Sleep(30 * time.Millisecond)
		case <-time.After(10 * time.Second):
			t.Error("it never happened")
		}
	}
}

func nothing() {}

// send posts one body in parts under an id.
func send(ctx context.Context, c *http.Client, url, id string, body []byte, length bool, wait func()) (envoytest.Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, newParts(body, wait))
	if err != nil {
		return envoytest.Reply{}, err
	}
	if length {
		req.ContentLength = int64(len(body))
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("anthropic-version", "2023-06-01")
	req.Header.Set(envoytest.IDHeader, id)
	resp, err := c.Do(req)
	if err != nil {
		return envoytest.Reply{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return envoytest.Reply{Status: resp.StatusCode, Header: resp.Header, Body: data}, err
}

// cell is one failure at one place, and what Envoy makes of it.
type cell struct {
	envoytest.Fault
	rewritten bool // the body had been taken before
	either    bool // nobody knows whether it had
	silent    bool // Envoy may take it for an end in good order
}

// matrix are all failures at all places.
func matrix() []cell {
	var cells []cell
	for _, phase := range []envoytest.Phase{
		envoytest.AtHeaders, envoytest.AfterHeaders, envoytest.AtBody, envoytest.AfterBody,
		envoytest.AtAnswer, envoytest.AfterAnswer, envoytest.AtChunk, envoytest.AfterChunk,
	} {
		for _, kind := range []envoytest.Kind{
			envoytest.Silent, envoytest.Slow, envoytest.Error, envoytest.Close, envoytest.Killed,
			envoytest.Spurious, envoytest.Immediate, envoytest.Empty,
		} {
			after := phase == envoytest.AfterHeaders || phase == envoytest.AfterBody || phase == envoytest.AfterAnswer || phase == envoytest.AfterChunk
			if after && (kind == envoytest.Silent || kind == envoytest.Slow) {
				continue // the next message's
			}
			c := cell{Fault: envoytest.Fault{Kind: kind, Phase: phase}}
			switch phase {
			case envoytest.AtHeaders, envoytest.AfterHeaders, envoytest.AtBody:
			default:
				c.rewritten = true
			}
			// Whether what is written last gets out of a process that dies is chance.
			c.either = kind == envoytest.Killed && phase == envoytest.AfterBody
			c.silent = kind == envoytest.Close && after
			cells = append(cells, c)
		}
	}
	return cells
}

// Whatever the server does, wherever in an exchange: the request arrives as it
// was sent, or as it was rewritten if that was done before, and the answer is
// whole.
func TestFailureMatrix(t *testing.T) {
	if os.Getenv("TRIMTAB_FAULTS") == "" {
		t.Skip("it counts on a machine with nothing else to do: make test-faults")
	}
	up := envoytest.StartUpstream(t)
	up.Pause = 3 * time.Millisecond
	socket := filepath.Join(t.TempDir(), "s")
	server := envoytest.StartServer(t, envoytest.ServerOptions{Addr: "unix:" + socket, Environ: slow, Late: patience * 3 / 2})
	front := envoytest.StartFront(t, envoytest.FrontOptions{Root: root, ExtProc: "unix:" + socket, Upstream: up.URL, MessageTimeout: patience})
	front.AwaitServer(t, true)

	const path = "/v1/messages"
	bodies, wanted := map[bool][]byte{}, map[bool][]byte{}
	for _, stream := range []bool{false, true} {
		bodies[stream] = body(t, path, fmt.Sprint("matrix", stream), 200<<10, stream)
		wanted[stream] = want(t, path, bodies[stream])
	}
	var ran []cell
	for i, c := range matrix() {
		for j := range 4 {
			length, http2 := j&1 == 0, (i+j>>1)%2 == 0
			if j > 1 && c.rewritten {
				break // the way in no longer matters: the protocols alternate
			}
			// Failures in the answer are for streams; the others alternate.
			stream := c.rewritten || i%2 == 0
			name := fmt.Sprintf("%s, length %v, stream %v, HTTP/2 %v", c.Fault, length, stream, http2)
			id := fmt.Sprintf("cell-%d-%d", i, j)
			fired := server.Plan(id, c.Fault)
			wait := nothing
			if c.Phase == envoytest.AfterHeaders {
				wait = until(t, fired)
			}
			up.Hold(id, func(point string) {
				if c.Phase == envoytest.AfterBody && point == envoytest.BeforeHeaders ||
					c.Phase == envoytest.AfterAnswer && point == envoytest.BeforeBody ||
					c.Phase == envoytest.AfterChunk && point == envoytest.MidStream {
					until(t, fired)()
				}
			})
			r, err := send(t.Context(), envoytest.Client(t, http2), front.URL()+path, id, bodies[stream], length, wait)
			arrived := up.Take(id)
			expected := bodies[stream]
			if c.rewritten {
				expected = wanted[stream]
			}
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case r.Status != http.StatusOK || string(r.Body) != envoytest.Answer(id, stream):
				t.Errorf("%s: %d, %d bytes of an answer of %d", name, r.Status, len(r.Body), len(envoytest.Answer(id, stream)))
			case arrived.Times != 1:
				t.Errorf("%s: arrived %d times", name, arrived.Times)
			case !bytes.Equal(arrived.Body, expected) && !(c.either && bytes.Equal(arrived.Body, bodies[stream])):
				t.Errorf("%s: %d bytes arrived, want %d; %d were sent", name, len(arrived.Body), len(expected), len(bodies[stream]))
			}
			select {
			case <-fired:
			default:
				t.Errorf("%s: it never happened", name)
			}
			if server.Service() == nil {
				server.Start()
				front.AwaitServer(t, true)
			}
			ran = append(ran, c)
		}
	}
	for i, entry := range front.Access(t, len(ran)) {
		if !ran[i].silent && !failed(entry) {
			t.Errorf("%s: the access log says %v", ran[i].Fault, entry["filter"])
		}
	}
}

// Large bodies, within the limit and over it. Of one that is over it and of unknown
// length the server gets the beginning only, and answers while the rest comes in.
func TestFailureMatrixOfLargeBodies(t *testing.T) {
	if os.Getenv("TRIMTAB_FAULTS") == "" {
		t.Skip("it counts on a machine with nothing else to do: make test-faults")
	}
	sent := body(t, messages, "large", 3<<20, false)
	rewritten := want(t, messages, sent)
	for _, over := range []bool{false, true} {
		t.Run(fmt.Sprint("over the limit ", over), func(t *testing.T) {
			limit := int64(32 << 20)
			if over {
				limit = 1 << 20
			}
			up := envoytest.StartUpstream(t)
			socket := "unix:" + filepath.Join(t.TempDir(), "s")
			server := envoytest.StartServer(t, envoytest.ServerOptions{Addr: socket, Environ: append(slow, fmt.Sprint("TRIMTAB_MAX_BODY_BYTES=", limit)), Late: 3 * time.Second})
			front := envoytest.StartFront(t, envoytest.FrontOptions{Root: root, ExtProc: socket, Upstream: up.URL, MessageTimeout: 2 * time.Second, MaxBodyBytes: limit})
			front.AwaitServer(t, true)
			for i, c := range matrix() {
				if c.Kind == envoytest.Slow || c.rewritten && c.Phase != envoytest.AfterBody {
					continue // the body is long gone
				}
				for _, length := range []bool{false, true} {
					if length && (over || c.Kind != envoytest.Error && c.Kind != envoytest.Killed) {
						continue // over the limit the server gets nothing of it
					}
					id := fmt.Sprintf("large-%d-%v", i, length)
					fired := server.Plan(id, c.Fault)
					wait := nothing
					if c.Phase == envoytest.AfterHeaders || over && c.Phase != envoytest.AtHeaders {
						wait = until(t, fired)
					}
					// HTTP/2 has a limit of its own, far above.
					client := envoytest.Client(t, i%2 == 0 && !over)
					r, err := send(t.Context(), client, front.URL()+messages, id, sent, length, wait)
					expected := sent
					if c.rewritten && !over {
						expected = rewritten
					}
					got := whole(t, up, id, false, r, err)
					if !bytes.Equal(got.Body, expected) && !(c.either && bytes.Equal(got.Body, sent)) {
						t.Errorf("%s, length %v: %d bytes arrived, want %d of %d", c.Fault, length, len(got.Body), len(expected), len(sent))
					}
					if server.Service() == nil {
						server.Start()
						front.AwaitServer(t, true)
					}
				}
			}
		})
	}
}

// failed says that the access log shows a failure of the server. Envoy does not
// always call it failed open when the stream breaks while the answer is looked at,
// nor when it is closed in good order, but says how the call ended.
func failed(entry map[string]any) bool {
	filter, _ := entry["filter"].(map[string]any)
	for key, value := range filter {
		if key == "failed_open" && value == true || strings.HasSuffix(key, "call_status") && number(value) != 0 {
			return true
		}
	}
	return false
}
