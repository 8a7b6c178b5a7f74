package envoytest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// bills are one answer of each dialect as a stream; all bill the same output.
var bills = map[string]string{
	"/v1/messages": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\"cache_creation_input_tokens\":30," +
		"\"cache_read_input_tokens\":400,\"cache_creation\":{\"ephemeral_5m_input_tokens\":10,\"ephemeral_1h_input_tokens\":20},\"output_tokens\":1}}}\n\n" +
		"event: ping\ndata: {\"type\": \"ping\"}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\\\"usage\\\": é\"}}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	"/v1/chat/completions": "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":null}\r\n\r\n: comment\r\n\r\n" +
		"data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":403,\"completion_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":400}}}\r\n\r\ndata: [DONE]\r\n\r\n",
	"/v1/responses": "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"object\":\"response\",\"usage\":null}}\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"usage\":{\"input_tokens\":403,\"input_tokens_details\":{\"cached_tokens\":400},\"output_tokens\":7}}}\n\n",
}

// scripted answers as the request's headers say: x-encoding, and x-chunk, the size of
// each write.
func scripted(t testing.TB) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		wire := encoded(t, r.Header.Get("x-encoding"), []byte(bills[r.URL.Path]))
		size, err := strconv.Atoi(r.Header.Get("x-chunk"))
		if err != nil {
			t.Error(err)
			return
		}
		if e := r.Header.Get("x-encoding"); e != "" {
			w.Header().Set("content-encoding", e)
		}
		w.Header().Set("content-type", "text/event-stream")
		for len(wire) > 0 {
			n := min(size, len(wire))
			w.Write(wire[:n])
			w.(http.Flusher).Flush()
			wire = wire[n:]
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestAnswersAreReadAndNeverChanged: in every dialect and encoding, in chunks of any
// size, the client gets the bytes that the provider sent, and the bill adds up.
func TestAnswersAreReadAndNeverChanged(t *testing.T) {
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: scripted(t), Environ: slow})
	n := 0.0
	for path, text := range bills {
		for _, encoding := range []string{"", "gzip", "br", "zstd"} {
			wire := encoded(t, encoding, []byte(text))
			for i, size := range []int{1, 2, 3, 7, 64, 1 << 20} {
				r, err := envoytest.Post(t.Context(), envoytest.Client(t, i%2 == 1), rig.URL()+path, body(t, path, "r", 2<<10, true), true,
					"x-encoding", encoding, "x-chunk", fmt.Sprint(size), "accept-encoding", "gzip, br, zstd")
				if err != nil || r.Status != 200 || !bytes.Equal(r.Body, wire) || r.Header.Get("content-encoding") != encoding {
					t.Fatalf("%s in %q, chunks of %d: %d %v, %d bytes of %d", path, encoding, size, r.Status, err, len(r.Body), len(wire))
				}
				n++
			}
		}
	}
	awaitStat(t, rig, "the bill", func(s map[string]any) bool {
		return part(s, "usage_outcomes", "read") == n && number(s["billed_answers"]) == n && number(s["billed_output"]) == 7*n &&
			number(s["billed_cache_read"]) == 400*n && number(s["billed_fresh"]) == 3*n &&
			number(s["billed_cache_write_5m"]) == 10*n/3 && number(s["billed_cache_write_1h"]) == 20*n/3
	})
}

// TestNoEventIsHeld: each event reaches the client before the provider writes the
// next. Whoever held one back would wait for ever.
func TestNoEventIsHeld(t *testing.T) {
	const events = 300
	proceed := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("content-type", "text/event-stream")
		w.(http.Flusher).Flush()
		for i := range events {
			select {
			case <-proceed:
			case <-r.Context().Done():
				return
			}
			fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
			w.(http.Flusher).Flush()
		}
	}))
	defer s.Close()
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: s.URL, Environ: slow})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, http2 := range []bool{false, true} {
		resp := stream(ctx, t, rig, http2, "held")
		for i := range events {
			select {
			case proceed <- struct{}{}:
			case <-ctx.Done():
				t.Fatalf("event %d did not come", i-1)
			}
			want := fmt.Sprintf("data: {\"n\":%d}\n\n", i)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
				t.Fatalf("event %d: %q %v", i, got, err)
			}
		}
		if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
			t.Errorf("%q %v", rest, err)
		}
		resp.Body.Close()
	}
}

// stream asks for an answer and returns once its headers are there.
func stream(ctx context.Context, t testing.TB, rig *envoytest.Rig, http2 bool, session string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, rig.URL()+"/v1/chat/completions", bytes.NewReader(body(t, "/v1/chat/completions", session, 2<<10, true)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := envoytest.Client(t, http2).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// chunk is an event of a chat stream.
func chunk(i int) string {
	return fmt.Sprintf("data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"content\":\"word %d\"}}],\"usage\":null}\n\n", i)
}

const lastChunk = "data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":10000}}\n\ndata: [DONE]\n\n"

// TestLongStreamsAndEarlyLeavers: ten thousand events come through as they were
// written; clients that leave in the middle leave nothing behind, and are told apart
// from answers without a bill.
func TestLongStreamsAndEarlyLeavers(t *testing.T) {
	const events, leavers = 10000, 12
	left := make(chan struct{}, leavers)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.Header().Set("content-type", "text/event-stream")
		for i := range events {
			io.WriteString(w, chunk(i))
			w.(http.Flusher).Flush()
			if i == 20 && bytes.Contains(sent, []byte("leaver")) {
				<-r.Context().Done()
				left <- struct{}{}
				return
			}
		}
		io.WriteString(w, lastChunk)
	}))
	defer s.Close()
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: s.URL, Environ: slow})
	for i := range leavers {
		ctx, cancel := context.WithCancel(t.Context())
		resp := stream(ctx, t, rig, i%2 == 1, fmt.Sprint("leaver", i))
		got := make([]byte, len(chunk(0)))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != chunk(0) {
			t.Fatalf("%q %v", got, err)
		}
		cancel()
		resp.Body.Close()
	}
	for range leavers {
		select {
		case <-left:
		case <-time.After(30 * time.Second):
			t.Fatal("the provider did not hear that a client left")
		}
	}
	for _, http2 := range []bool{false, true} {
		resp := stream(t.Context(), t, rig, http2, "stays")
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		var want strings.Builder
		for i := range events {
			want.WriteString(chunk(i))
		}
		want.WriteString(lastChunk)
		if err != nil || string(got) != want.String() {
			t.Errorf("%d bytes of %d, %v", len(got), want.Len(), err)
		}
	}
	awaitStat(t, rig, "the end of all", func(s map[string]any) bool {
		return part(s, "usage_outcomes", "cut") == leavers && part(s, "usage_outcomes", "read") == 2 && number(s["billed_output"]) == 2*events &&
			number(s["exchanges_open"]) == 0 && number(s["bytes_in_flight"]) == 0
	})
}

// TestAnswersThatAreNoBill: what is no success, or has no bill, or one that is not
// understood, comes through as it is and is counted by what it was.
func TestAnswersThatAreNoBill(t *testing.T) {
	type reply struct {
		name, kind, encoding, text, outcome string
		status                              int
		breaks                              bool
	}
	replies := []reply{
		{"rate limit", "application/json", "", `{"type":"error","error":{"type":"rate_limit_error"}}`, "status", 429, false},
		{"overload", "application/json", "", `{"type":"error"}`, "status", 529, false},
		{"a page of a proxy", "text/html", "", "<html>bad gateway</html>", "status", 502, false},
		{"a page that says it went well", "text/html", "", "<html>sign in</html>", "content_type", 200, false},
		{"nothing", "", "", "", "no_answer", 204, false},
		{"an empty body", "application/json", "", "", "no_answer", 200, false},
		{"no bill", "application/json", "", `{"type":"message","content":[]}`, "absent", 200, false},
		{"a bill of another shape", "application/json", "", `{"usage":{"credits":4}}`, "unknown_shape", 200, false},
		{"a bill of nonsense", "application/json", "", `{"usage":{"input_tokens":-1}}`, "unknown_shape", 200, false},
		{"no JSON", "application/json", "", `nothing of the kind`, "syntax", 200, false},
		{"an encoding that nobody knows", "application/json", "snappy", `xyz`, "encoding", 200, false},
		{"no gzip", "application/json", "gzip", `{"usage":{"input_tokens":1}}`, "encoding", 200, false},
		{"broken off", "text/event-stream", "", chunk(1), "cut", 200, true},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		i, _ := strconv.Atoi(r.Header.Get("x-reply"))
		c := replies[i]
		if c.kind != "" {
			w.Header().Set("content-type", c.kind)
		}
		if c.encoding != "" {
			w.Header().Set("content-encoding", c.encoding)
		}
		w.Header().Set("retry-after", "7")
		w.WriteHeader(c.status)
		io.WriteString(w, c.text)
		if c.breaks {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	defer s.Close()
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: s.URL, Environ: slow})
	counts := map[string]float64{}
	for i, c := range replies {
		for _, http2 := range []bool{false, true} {
			r, err := envoytest.Post(t.Context(), envoytest.Client(t, http2), rig.URL()+"/v1/messages", body(t, "/v1/messages", "no bill", 2<<10, false), true,
				"x-reply", fmt.Sprint(i), "accept-encoding", "gzip")
			if c.breaks {
				// While its headers are on their way through the filter Envoy can still
				// tell the client; later it breaks off too. It never looks whole.
				if err == nil && r.Status != http.StatusBadGateway {
					t.Errorf("%s: %d %q", c.name, r.Status, r.Body)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if r.Status != c.status || string(r.Body) != c.text || r.Header.Get("retry-after") != "7" || r.Header.Get("content-type") != c.kind {
				t.Errorf("%s: %d %q %v", c.name, r.Status, r.Body, r.Header)
			}
			if cl := r.Header.Get("content-length"); c.text != "" && cl != fmt.Sprint(len(c.text)) {
				t.Errorf("%s: content-length %q of %d", c.name, cl, len(c.text))
			}
			counts[c.outcome]++
		}
	}
	awaitStat(t, rig, "the outcomes", func(s map[string]any) bool {
		for outcome, n := range counts {
			if part(s, "usage_outcomes", outcome) != n {
				return false
			}
		}
		return number(s["billed_answers"]) == 0
	})
}
