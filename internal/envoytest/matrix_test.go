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
func until(happened <-chan struct{}) func() {
	return func() {
		select {
		case <-happened:
			time.Sleep(30 * time.Millisecond)
		case <-time.After(5 * time.Second): // whoever planned it says so
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

// bench is what cells are run on.
type bench struct {
	up     *envoytest.Upstream
	server *envoytest.Server
	front  *envoytest.Front
	sent   map[bool][]byte // by whether a stream is asked for
	want   map[bool][]byte
	ran    []cell // in the order of the access log; those that did not fail are silent
}

func newBench(t *testing.T, size int, timeout time.Duration, limit int64) *bench {
	b := &bench{up: envoytest.StartUpstream(t), sent: map[bool][]byte{}, want: map[bool][]byte{}}
	b.up.Pause = 3 * time.Millisecond
	socket := "unix:" + filepath.Join(t.TempDir(), "s")
	environ := append(slow, fmt.Sprint("TRIMTAB_MAX_BODY_BYTES=", limit))
	b.server = envoytest.StartServer(t, envoytest.ServerOptions{Addr: socket, Environ: environ, Late: timeout * 3 / 2})
	b.front = envoytest.StartFront(t, envoytest.FrontOptions{Root: root, ExtProc: socket, Upstream: b.up.URL, MessageTimeout: timeout, MaxBodyBytes: limit})
	b.front.AwaitServer(t, true)
	for _, stream := range []bool{false, true} {
		b.sent[stream] = body(t, messages, fmt.Sprint("matrix", stream), size, stream)
		b.want[stream] = want(t, messages, b.sent[stream])
	}
	return b
}

// way is how a request comes in.
type way struct {
	length, stream, http2 bool
	half                  bool // the second half of the body waits for the failure
}

// run lets one exchange fail. On a machine that is busy Envoy's patience may end
// before an exchange has come as far; then it is tried again.
func (b *bench) run(t *testing.T, c cell, w way) {
	t.Helper()
	for range 4 {
		id := fmt.Sprint("cell-", len(b.ran))
		fired := b.server.Plan(id, c.Fault)
		wait := nothing
		if w.half {
			wait = until(fired)
		}
		b.up.Hold(id, func(point string) {
			if c.Phase == envoytest.AfterBody && point == envoytest.BeforeHeaders ||
				c.Phase == envoytest.AfterAnswer && point == envoytest.BeforeBody ||
				c.Phase == envoytest.AfterChunk && point == envoytest.MidStream {
				until(fired)()
			}
		})
		r, err := send(t.Context(), envoytest.Client(t, w.http2), b.front.URL()+messages, id, b.sent[w.stream], w.length, wait)
		got := whole(t, b.up, id, w.stream, r, err)
		happened := false
		select {
		case <-fired:
			happened = true
		default:
		}
		either := c.either || !happened
		raw, rewritten := bytes.Equal(got.Body, b.sent[w.stream]), bytes.Equal(got.Body, b.want[w.stream])
		if either && !raw && !rewritten || !either && (c.rewritten != rewritten || c.rewritten == raw) {
			t.Errorf("%s, %+v: %d bytes arrived of %d, rewritten are %d", c.Fault, w, len(got.Body), len(b.sent[w.stream]), len(b.want[w.stream]))
		}
		if b.server.Service() == nil {
			b.server.Start()
			b.front.AwaitServer(t, true)
		}
		if happened {
			b.ran = append(b.ran, c)
			return
		}
		b.ran = append(b.ran, cell{silent: true})
	}
	t.Errorf("%s, %+v: it never happened", c.Fault, w)
}

// Whatever the server does, wherever in an exchange: the request arrives as it
// was sent, or as it was rewritten if that was done before, and the answer is
// whole.
func TestFailureMatrix(t *testing.T) {
	if os.Getenv("TRIMTAB_FAULTS") == "" {
		t.Skip("make test runs it by itself at the end, since it counts what it injects: make test-faults")
	}
	b := newBench(t, 120<<10, patience, 32<<20)
	for i, c := range matrix() {
		for j := range 4 {
			if j > 1 && c.rewritten {
				break // the way in no longer matters: the protocols alternate
			}
			b.run(t, c, way{
				length: j&1 == 0,
				http2:  (i+j>>1)%2 == 0,
				stream: c.rewritten || i%2 == 0, // failures in the answer are for streams
				half:   c.Phase == envoytest.AfterHeaders,
			})
		}
	}
	for i, entry := range b.front.Access(t, len(b.ran)) {
		if !b.ran[i].silent && !failed(entry) {
			t.Errorf("%s: the access log says %v", b.ran[i].Fault, entry["filter"])
		}
	}
}

// Large bodies, within the limit and over it. Of one that is over it and of unknown
// length the server gets the beginning only, and answers while the rest comes in.
func TestFailureMatrixOfLargeBodies(t *testing.T) {
	if os.Getenv("TRIMTAB_FAULTS") == "" {
		t.Skip("make test runs it by itself at the end, since it counts what it injects: make test-faults")
	}
	for _, over := range []bool{false, true} {
		t.Run(fmt.Sprint("over the limit ", over), func(t *testing.T) {
			limit := int64(32 << 20)
			if over {
				limit = 1 << 20
			}
			b := newBench(t, 3<<20, 3*time.Second, limit)
			for i, c := range matrix() {
				if c.Kind == envoytest.Slow || c.rewritten && c.Phase != envoytest.AfterBody {
					continue // the body is long gone
				}
				w := way{http2: i%2 == 0, half: c.Phase == envoytest.AfterHeaders}
				if over {
					c.rewritten = false
					w.http2 = false // it has a limit of its own, far above
					w.half = c.Phase != envoytest.AtHeaders
				}
				b.run(t, c, w)
				if !over && (c.Kind == envoytest.Error || c.Kind == envoytest.Killed) {
					w.length = true
					b.run(t, c, w)
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
