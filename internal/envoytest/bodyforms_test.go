package envoytest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// chopped gives a body in n writes.
type chopped struct {
	rest []byte
	size int
}

func inPieces(body []byte, n int) io.Reader { return &chopped{body, (len(body) + n - 1) / max(n, 1)} }

func (p *chopped) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.size, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

// TestBodiesInEveryForm: in few and many chunks, with and without a length, with
// trailers, announced by Expect. What is known to be whole is rewritten; a body of
// unknown length that trailers follow can't be told from one that was cut, and
// arrives as it was sent. (Envoy drops trailers of HTTP/1.1 before anybody sees them.)
func TestBodiesInEveryForm(t *testing.T) {
	const path = "/v1/messages"
	upstream := startStrict(t)
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: upstream.URL, Environ: slow})
	sent := body(t, path, "forms", 40<<10, false)
	expected := want(t, path, sent)
	for _, http2 := range []bool{false, true} {
		client := envoytest.Client(t, http2)
		client.Transport.(*http.Transport).ExpectContinueTimeout = time.Minute // a continue must come
		for _, chunks := range []int{1, 2, 100} {
			for _, c := range []struct {
				name                      string
				length, trailers, expects bool
			}{
				{"length", true, false, false},
				{"no length", false, false, false},
				{"expect", true, false, true},
				{"expect, no length", false, false, true},
				{"trailers, no length", false, true, false},
				{"trailers", true, true, false},
			} {
				if c.trailers && c.length && !http2 {
					continue // HTTP/1.1 has no such thing
				}
				name := fmt.Sprintf("%s, http2 %v, %d chunks", c.name, http2, chunks)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, rig.URL()+path+"?beta=true", inPieces(sent, chunks))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("content-type", "application/json")
				req.Header.Set("anthropic-version", "2023-06-01")
				req.Header.Set("x-unknown", "kept")
				if c.length {
					req.ContentLength = int64(len(sent))
				}
				if c.expects {
					req.Header.Set("expect", "100-continue")
				}
				if c.trailers {
					req.Trailer = http.Header{"X-Sum": {"1"}}
				}
				upstream.take(!c.length)
				resp, err := client.Do(req)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				got, header, told := upstream.last()
				if resp.StatusCode != 200 {
					t.Fatalf("%s: %d", name, resp.StatusCode)
				}
				if raw := c.trailers && !c.length && http2; raw && !bytes.Equal(got, sent) || !raw && !bytes.Equal(got, expected) {
					t.Errorf("%s: %d bytes arrived, want %d of %d", name, len(got), len(expected), len(sent))
				}
				if c.length && told != int64(len(got)) {
					t.Errorf("%s: the provider was told %d of %d", name, told, len(got))
				}
				if header.Get("expect") != "" || header.Get("x-unknown") != "kept" {
					t.Errorf("%s: headers %v", name, header)
				}
			}
		}
	}
	awaitStat(t, rig, "the count of bodies that trailers follow", func(stats map[string]any) bool {
		return part(stats, "passthrough", "partial_body") == 3
	})
}

// TestEmptyBodies: no body, one of length 0 and one without any chunk arrive as they
// are.
func TestEmptyBodies(t *testing.T) {
	upstream := startStrict(t)
	upstream.take(true)
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: upstream.URL, Environ: slow})
	for _, http2 := range []bool{false, true} {
		client := envoytest.Client(t, http2)
		for _, c := range []struct {
			method string
			body   io.Reader
		}{
			{http.MethodPost, nil},
			{http.MethodPost, http.NoBody},
			{http.MethodPost, inPieces(nil, 1)},
			{http.MethodPost, bytes.NewReader([]byte(" "))},
			{http.MethodGet, nil},
			{http.MethodDelete, nil},
			{http.MethodHead, nil},
			{http.MethodOptions, nil},
		} {
			req, err := http.NewRequestWithContext(t.Context(), c.method, rig.URL()+"/v1/messages", c.body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatalf("%s %T: %v", c.method, c.body, err)
			}
			resp.Body.Close()
			got, _, _ := upstream.last()
			if resp.StatusCode != 200 || len(bytes.TrimSpace(got)) != 0 {
				t.Errorf("%s %T: %d, %q arrived", c.method, c.body, resp.StatusCode, got)
			}
			upstream.mu.Lock()
			if upstream.method != c.method {
				t.Errorf("%s arrived as %s", c.method, upstream.method)
			}
			upstream.mu.Unlock()
		}
	}
	awaitStat(t, rig, "the count of empty bodies", func(stats map[string]any) bool {
		return part(stats, "passthrough", "parse") == 8 && part(stats, "passthrough", "not_post") == 8
	})
}

// TestBytesInFlightOverEnvoy: while as much is held as may be, further bodies arrive
// as they were sent, at once; afterwards they are rewritten again.
func TestBytesInFlightOverEnvoy(t *testing.T) {
	const path = "/v1/messages"
	upstream := startStrict(t)
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: upstream.URL, Environ: append(slow,
		"TRIMTAB_MAX_BYTES_IN_FLIGHT=1MiB", "TRIMTAB_MAX_BODY_BYTES=1MiB")})
	client := envoytest.Client(t, false)
	first, second := body(t, path, "first", 600<<10, false), body(t, path, "second", 600<<10, false)
	r, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, rig.URL()+path, r)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(len(first))
	req.Header.Set("anthropic-version", "2023-06-01")
	done := make(chan error, 1)
	go func() {
		resp, err := client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	if _, err := w.Write(first[:1000]); err != nil {
		t.Fatal(err)
	}
	awaitStat(t, rig, "the reservation", func(stats map[string]any) bool { return number(stats["bytes_in_flight"]) >= float64(len(first)) })
	for _, length := range []bool{true, false} {
		upstream.take(!length)
		if r, err := envoytest.Post(t.Context(), client, rig.URL()+path, second, length); err != nil || r.Status != 200 {
			t.Fatalf("%d %v", r.Status, err)
		}
		if got, _, _ := upstream.last(); !bytes.Equal(got, second) {
			t.Errorf("length %v: %d bytes of %d arrived", length, len(got), len(second))
		}
	}
	awaitStat(t, rig, "the count", func(stats map[string]any) bool { return part(stats, "passthrough", "bytes_in_flight") == 2 })
	if _, err := w.Write(first[1000:]); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, _, _ := upstream.last(); !bytes.Equal(got, want(t, path, first)) {
		t.Errorf("the first: %d bytes of %d arrived", len(got), len(first))
	}
	if _, err := envoytest.Post(t.Context(), client, rig.URL()+path, second, true); err != nil {
		t.Fatal(err)
	}
	// It went out raw before, so that the provider knows it raw; it is rewritten again.
	if got, _, _ := upstream.last(); len(got) >= len(second) {
		t.Errorf("the second, afterwards: %d bytes of %d arrived", len(got), len(second))
	}
	awaitStat(t, rig, "the end", func(stats map[string]any) bool {
		return number(stats["bytes_in_flight"]) == 0 && number(stats["exchanges_open"]) == 0
	})
}
