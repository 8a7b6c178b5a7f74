package envoytest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trimtab-io/trimtab/internal/envoytest"
	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

const root = "../.."

// slow gives the engine time that a loaded machine under the race detector needs.
var slow = []string{"TRIMTAB_DEADLINE=30s"}

func complete(t *testing.T, path string, stream bool, r envoytest.Reply) {
	t.Helper()
	if r.Status != http.StatusOK {
		t.Errorf("status %d: %s", r.Status, r.Body)
		return
	}
	if !stream {
		if !json.Valid(r.Body) {
			t.Errorf("answer: %s", r.Body)
		}
		return
	}
	end := map[string]string{
		"/v1/messages": "message_stop", "/v1/chat/completions": "[DONE]", "/v1/responses": "response.completed",
	}[path]
	if !bytes.Contains(r.Body, []byte(end)) {
		t.Errorf("the stream was cut: %s", r.Body)
	}
}

func TestBodiesOfEverySizeAndForm(t *testing.T) {
	rig := envoytest.Start(t, envoytest.Options{Root: root, Environ: slow})
	smaller := 0
	wanted := map[string][]byte{}
	known := func(path string, sent []byte) []byte {
		if wanted[string(sent)] == nil {
			wanted[string(sent)] = want(t, path, sent)
		}
		return wanted[string(sent)]
	}
	for _, path := range []string{"/v1/messages", "/v1/chat/completions", "/v1/responses"} {
		sizes := []int{1 << 10, 30 << 10, 300 << 10, 3 << 20}
		if path != "/v1/messages" {
			sizes = sizes[1:3]
		}
		for _, size := range sizes {
			for i := range 8 {
				http2, length, stream := i&1 == 1, i&2 == 2, i&4 == 4
				name := fmt.Sprintf("%s of %d, http2 %v, length %v, stream %v", path, size, http2, length, stream)
				sent := body(t, path, fmt.Sprint(size, stream), size, stream)
				expected := known(path, sent)
				r, err := envoytest.Post(t.Context(), envoytest.Client(t, http2), rig.URL()+path, sent, length)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				complete(t, path, stream, r)
				all := rig.Provider.Received()
				got := all[len(all)-1]
				if !bytes.Equal(got.Body, expected) {
					t.Fatalf("%s: %d bytes arrived, want %d; %d were sent", name, len(got.Body), len(expected), len(sent))
				}
				if len(got.Body) < len(sent) {
					smaller++
				}
				wire := map[string]promptcache.Wire{"/v1/messages": promptcache.WireAnthropic, "/v1/chat/completions": promptcache.WireChat, "/v1/responses": promptcache.WireResponses}[path]
				if v := append(provider.Added(wire, sent, got.Body), provider.Altered(wire, sent, got.Body)...); len(v) > 0 {
					t.Errorf("%s: %v", name, v)
				}
				if cl := got.Header.Get("content-length"); length && cl != fmt.Sprint(len(got.Body)) {
					t.Errorf("%s: content-length %q of %d", name, cl, len(got.Body))
				}
			}
		}
	}
	if smaller < 32 {
		t.Errorf("only %d bodies were made smaller", smaller)
	}
}

func TestAccessLogSaysWhatWasDone(t *testing.T) {
	rig := envoytest.Start(t, envoytest.Options{Root: root, Environ: slow})
	client := envoytest.Client(t, false)
	const path = "/v1/messages"
	sent := body(t, path, "log", 60<<10, true)
	for range 2 {
		if _, err := envoytest.Post(t.Context(), client, rig.URL()+path, sent, true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := envoytest.Post(t.Context(), client, rig.URL()+"/v1/files", []byte("{}"), true); err != nil {
		t.Fatal(err)
	}
	entries := rig.Access(t, 3)
	tt, _ := entries[1]["trimtab"].(map[string]any)
	for key, ok := range map[string]bool{
		"dialect":      tt["dialect"] == "anthropic",
		"model":        tt["model"] == "claude-sonnet-4-5",
		"arm":          tt["arm"] == "treated",
		"profile":      tt["profile"] == "default",
		"saved_tokens": number(tt["saved_tokens"]) > 1000,
		"components":   strings.Contains(fmt.Sprint(tt["components"]), "backref"),
		"violations":   number(tt["prefix_violations"]) == 0,
		"conversation": fmt.Sprint(tt["conversation"]) != "",
		"usage":        number(tt["usage_output"]) > 0 && number(tt["usage_input"])+number(tt["usage_cache_read"])+number(tt["usage_cache_write"]) > 0,
	} {
		if !ok {
			t.Errorf("%s: %v", key, tt)
		}
	}
	for i, entry := range entries {
		filter, _ := entry["filter"].(map[string]any)
		if filter["failed_open"] != false {
			t.Errorf("entry %d: %v", i, entry)
		}
	}
	if entries[2]["trimtab"] != nil {
		t.Errorf("a request that is not ours has metadata: %v", entries[2])
	}
}

func number(v any) float64 { n, _ := v.(float64); return n }

func TestProviderBehindTLS(t *testing.T) {
	rig := envoytest.Start(t, envoytest.Options{Root: root, Secure: true, Environ: slow, Provider: provider.Config{Gzip: true}})
	for _, stream := range []bool{false, true} {
		const path = "/v1/messages"
		sent := body(t, path, fmt.Sprint("tls", stream), 100<<10, stream)
		r, err := envoytest.Post(t.Context(), envoytest.Client(t, true), rig.URL()+"/anthropic"+path, sent, true, "accept-encoding", "gzip")
		if err != nil {
			t.Fatal(err)
		}
		plain := r
		if r.Header.Get("content-encoding") == "gzip" {
			zr, err := gzip.NewReader(bytes.NewReader(r.Body))
			if err != nil {
				t.Fatal(err)
			}
			if plain.Body, err = io.ReadAll(zr); err != nil {
				t.Fatal(err)
			}
		} else {
			t.Error("the answer is not encoded")
		}
		complete(t, path, stream, plain)
		all := rig.Provider.Received()
		if got := all[len(all)-1]; !bytes.Equal(got.Body, want(t, path, sent)) || got.Path != path {
			t.Errorf("%s: %d bytes", got.Path, len(got.Body))
		}
	}
	for _, entry := range rig.Access(t, 2) {
		if tt, _ := entry["trimtab"].(map[string]any); number(tt["usage_output"]) == 0 {
			t.Errorf("the bill of an encoded answer is not read: %v", entry)
		}
	}
}

// A body that is over the limit, or can't be read, arrives as it was sent.
func TestWhatIsNotOursArrivesAsItCame(t *testing.T) {
	var seen atomic.Pointer[[]byte]
	var encoding atomic.Value
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		seen.Store(&data)
		encoding.Store(r.Header.Get("content-encoding"))
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, "{}")
	}))
	defer upstream.Close()
	const limit = 200 << 10
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: upstream.URL, Environ: append(slow, fmt.Sprint("TRIMTAB_MAX_BODY_BYTES=", limit))})
	const path = "/v1/messages"
	pad := func(n int) []byte {
		b := body(t, path, "x", 60<<10, false)
		return append(b, bytes.Repeat([]byte(" "), n-len(b))...)
	}
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	zw.Write(body(t, path, "zip", 60<<10, false))
	zw.Close()
	for _, c := range []struct {
		name   string
		body   []byte
		header []string
		same   bool
	}{
		{"at the limit", pad(limit), nil, false},
		{"over the limit", pad(limit + 1), nil, true},
		{"far over the limit", pad(3 << 20), nil, true},
		{"no JSON", []byte("not JSON"), nil, true},
		{"empty", nil, nil, true},
		{"unknown encoding", []byte("xyz"), []string{"content-encoding", "lzma"}, true},
		{"broken gzip", []byte("xyz"), []string{"content-encoding", "gzip"}, true},
		{"gzip", zipped.Bytes(), []string{"content-encoding", "gzip"}, false},
	} {
		for _, length := range []bool{true, false} {
			r, err := envoytest.Post(t.Context(), envoytest.Client(t, false), rig.URL()+path, c.body, length, c.header...)
			if err != nil || r.Status != 200 {
				t.Fatalf("%s, length %v: %d %v", c.name, length, r.Status, err)
			}
			got := *seen.Load()
			same := bytes.Equal(got, c.body)
			if !length && c.name == "gzip" {
				c.same = true // the headers are gone before the body is seen
			}
			if same != c.same {
				t.Errorf("%s, length %v: %d bytes arrived of %d", c.name, length, len(got), len(c.body))
			}
			if enc := encoding.Load().(string); !c.same && enc != "" || c.same && len(c.header) > 0 && enc != c.header[1] {
				t.Errorf("%s, length %v: content-encoding %q", c.name, length, enc)
			}
		}
	}
}

// The server dies under traffic and nobody notices: every body arrives, either
// rewritten or as it was sent, and every answer is whole.
func TestServerDiesUnderTraffic(t *testing.T) {
	const path, workers, each = "/v1/messages", 6, 12
	sent := make([][]byte, workers)
	expected := map[string]bool{}
	for i := range sent {
		sent[i] = body(t, path, fmt.Sprint("dies", i), (40<<10)<<(i%4), i%2 == 0)
		expected[string(sent[i])] = true
		expected[string(want(t, path, sent[i]))] = true
	}
	rig := envoytest.Start(t, envoytest.Options{Root: root, Environ: slow, Provider: provider.Config{Keep: workers * each}})
	var done atomic.Int64
	var wg sync.WaitGroup
	for i := range workers {
		client := envoytest.Client(t, i%2 == 1)
		wg.Go(func() {
			for range each {
				r, err := envoytest.Post(context.Background(), client, rig.URL()+path, sent[i], i%3 != 0)
				if err != nil {
					t.Error(err)
					return
				}
				complete(t, path, i%2 == 0, r)
				if done.Add(1) == workers*each/3 {
					if err := rig.Service().Kill(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	rewritten := 0
	all := rig.Provider.Received()
	if len(all) != workers*each {
		t.Errorf("%d requests arrived, %d were sent", len(all), workers*each)
	}
	for _, got := range all {
		if !expected[string(got.Body)] {
			t.Errorf("a body of %d bytes is neither as it was sent nor as it was rewritten", len(got.Body))
		}
		for i := range sent {
			if bytes.Equal(got.Body, sent[i]) {
				rewritten--
			}
		}
		rewritten++
	}
	if rewritten < workers || rewritten == len(all) {
		t.Errorf("%d of %d were rewritten", rewritten, len(all))
	}
}

// A stream that is under way goes on to its end when the server dies.
func TestServerDiesUnderAStream(t *testing.T) {
	proceed := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("content-type", "text/event-stream")
		for i := range 20 {
			if i == 10 {
				<-proceed
			}
			fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
			w.(http.Flusher).Flush()
		}
		io.WriteString(w, "data: [DONE]\n\n")
	}))
	defer upstream.Close()
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: upstream.URL, Environ: slow})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, rig.URL()+"/v1/messages", bytes.NewReader(body(t, "/v1/messages", "s", 30<<10, true)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := envoytest.Client(t, false).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	head := make([]byte, 40)
	if _, err := io.ReadFull(resp.Body, head); err != nil {
		t.Fatal(err)
	}
	if err := rig.Service().Kill(); err != nil {
		t.Fatal(err)
	}
	close(proceed)
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.HasSuffix(rest, []byte("[DONE]\n\n")) || strings.Count(string(head)+string(rest), "data:") != 21 {
		t.Errorf("%v: %s%s", err, head, rest)
	}
}

// A conversation of several turns: what was forwarded stays as it was.
func TestWarmPrefixStaysAsItWas(t *testing.T) {
	rig := envoytest.Start(t, envoytest.Options{Root: root, Environ: slow})
	client := envoytest.Client(t, false)
	var before []byte
	for turn := 1; turn <= 6; turn++ {
		var results []string
		for i := range turn {
			results = append(results, file(fmt.Sprint("part", i/2), 8<<10))
		}
		o := anthropic("warm", results)
		data, err := json.Marshal(o["messages"])
		if err != nil {
			t.Fatal(err)
		}
		head := `{"model":"claude-sonnet-4-5","max_tokens":9,"metadata":{"user_id":"{\"session_id\":\"warm\"}"},"messages":`
		r, err := envoytest.Post(t.Context(), client, rig.URL()+"/v1/messages", []byte(head+string(data)+"}"), true)
		if err != nil || r.Status != 200 {
			t.Fatalf("%d %v %s", r.Status, err, r.Body)
		}
		all := rig.Provider.Received()
		got := bytes.TrimSuffix(all[len(all)-1].Body, []byte("]}"))
		if !bytes.HasPrefix(got, before) {
			t.Fatalf("turn %d changed what was forwarded before", turn)
		}
		before = got
	}
	stats := rig.Access(t, 6)
	for _, entry := range stats {
		if tt, _ := entry["trimtab"].(map[string]any); number(tt["prefix_violations"]) != 0 || tt["reason"] != nil && number(tt["saved_tokens"]) != 0 {
			t.Errorf("%v", tt)
		}
	}
}
