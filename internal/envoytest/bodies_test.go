package envoytest_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/envoytest"
	"github.com/trimtab-io/trimtab/internal/service"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// file is a numbered file of about n bytes, as a read tool prints it.
func file(name string, n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%6d\tfunc %s%d(ctx context.Context) error { return handle(ctx, %q, %d) }\n", i, name, i, name, i*i)
	}
	return b.String()
}

type object = map[string]any

// body is a request of about size bytes in which each file is read twice.
func body(t testing.TB, path, session string, size int, stream bool) []byte {
	t.Helper()
	reads := max(1, size/60_000)
	var results []string
	for i := range reads {
		text := file(fmt.Sprintf("part%d", i), size/reads/2)
		results = append(results, text, text)
	}
	var o object
	switch path {
	case "/v1/messages":
		o = anthropic(session, results)
	case "/v1/chat/completions":
		o = chat(session, results)
	case "/v1/responses":
		o = responses(session, results)
	}
	o["stream"] = stream
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func anthropic(session string, results []string) object {
	messages := []object{{"role": "user", "content": "Read the files, please."}}
	for i, text := range results {
		id := fmt.Sprintf("toolu_%03d", i)
		messages = append(
			messages,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": "Read", "input": object{"file_path": fmt.Sprintf("/src/part%d.go", i/2)}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": text}}},
		)
	}
	return object{
		"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages,
		"metadata": object{"user_id": `{"session_id":"` + session + `"}`},
		"tools":    []object{{"name": "Read", "input_schema": object{"type": "object", "properties": object{"file_path": object{"type": "string"}}}}},
	}
}

func chat(session string, results []string) object {
	messages := []object{{"role": "user", "content": "Read the files, please."}}
	for i, text := range results {
		id := fmt.Sprintf("call_%03d", i)
		args := fmt.Sprintf(`{"file_path":"/src/part%d.go"}`, i/2)
		messages = append(
			messages,
			object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": "Read", "arguments": args}}}},
			object{"role": "tool", "tool_call_id": id, "content": text},
		)
	}
	return object{
		"model": "gpt-5", "messages": messages, "prompt_cache_key": session, "stream_options": object{"include_usage": true},
		"tools": []object{{"type": "function", "function": object{"name": "Read", "parameters": object{"type": "object"}}}},
	}
}

func responses(session string, results []string) object {
	input := []object{{"type": "message", "role": "user", "content": "Read the files, please."}}
	for i, text := range results {
		id := fmt.Sprintf("call_%03d", i)
		args := fmt.Sprintf(`{"file_path":"/src/part%d.go"}`, i/2)
		input = append(
			input,
			object{"type": "function_call", "call_id": id, "name": "Read", "arguments": args},
			object{"type": "function_call_output", "call_id": id, "output": text},
		)
	}
	return object{
		"model": "gpt-5", "input": input, "prompt_cache_key": session,
		"tools": []object{{"type": "function", "name": "Read", "parameters": object{"type": "object"}}},
	}
}

// want is what the engine makes of a body that it has never seen.
func want(t testing.TB, path string, body []byte) []byte {
	t.Helper()
	e, err := config.Load(config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	profiles, _, err := service.Profiles(e)
	if err != nil {
		t.Fatal(err)
	}
	engine := pipeline.New(pipeline.Options{
		Secret:   []byte("any secret will do"),
		Store:    store.Store{Level: store.Metadata, Facts: memory.NewFacts(memory.FactsOptions{})},
		Verifier: verify.New(),
	})
	for i := range profiles {
		profiles[i].Limits.Deadline = 0
	}
	engine.Apply(profiles, e.DefaultProfile)
	x := engine.Rewrite(context.Background(), pipeline.Request{Path: path, AnthropicVersion: path == "/v1/messages", Body: body, Now: time.Now()})
	defer x.Close()
	if r := x.Report(); len(r.Violations) > 0 {
		t.Fatalf("violations: %v", r.Violations)
	}
	return x.Body()
}

// strict is a provider that takes no body without a length, as some do, unless it
// is told to, and keeps what came last.
type strict struct {
	URL string

	mu      sync.Mutex
	lenient bool
	body    []byte
	header  http.Header
	method  string
	length  int64
}

func startStrict(t testing.TB) *strict {
	s := &strict{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || r.ContentLength < 0 && !s.lenient {
		w.WriteHeader(http.StatusLengthRequired)
		return
	}
	s.body, s.header, s.method, s.length = body, r.Header.Clone(), r.Method, r.ContentLength
	w.Header().Set("content-type", "application/json")
	io.WriteString(w, `{"type":"message","usage":{"input_tokens":1,"output_tokens":1}}`)
}

// last is what came last; afterwards nothing did.
func (s *strict) last() (body []byte, header http.Header, length int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, header, length = s.body, s.header, s.length
	s.body, s.header, s.length = nil, nil, -2
	return body, header, length
}

func (s *strict) take(lenient bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lenient = lenient
}

// statistics are the server's /stats.
func statistics(t testing.TB, rig *envoytest.Rig) map[string]any {
	t.Helper()
	resp, err := http.Get("http://" + rig.Admin() + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// awaitStat waits until a number of /stats is as it has to be.
func awaitStat(t testing.TB, rig *envoytest.Rig, name string, ok func(map[string]any) bool) {
	t.Helper()
	var stats map[string]any
	for range 500 {
		if stats = statistics(t, rig); ok(stats) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%s never came to be: %v", name, stats)
}

// part is a number in one of the breakdowns of /stats.
func part(stats map[string]any, group, key string) float64 {
	m, _ := stats[group].(map[string]any)
	return number(m[key])
}

func encoded(t testing.TB, encoding string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return text
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb is a zstd frame of 64 KB that says 2 GiB of blanks, 128 KiB a block.
func bomb() []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3}
	for i := range 16384 {
		head := binary.LittleEndian.AppendUint32(nil, uint32(128<<10)<<3|1<<1)
		if i == 16383 {
			head[0] |= 1
		}
		b = append(b, head[0], head[1], head[2], ' ')
	}
	return b
}

// TestEncodedBodies: what can be decoded within its limit is rewritten and sent
// plain; anything else arrives as it was sent, header and all, and is counted.
func TestEncodedBodies(t *testing.T) {
	const path = "/v1/messages"
	upstream := startStrict(t)
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: upstream.URL, Environ: slow})
	text := body(t, path, "encoded", 60<<10, false)
	expected := want(t, path, text)
	if len(expected) >= len(text) {
		t.Fatal("nothing to shorten")
	}
	zipped, framed := encoded(t, "gzip", text), encoded(t, "zstd", text)
	passed := 0
	for _, c := range []struct {
		name, encoding string
		wire           []byte
		raw            bool
	}{
		{"gzip", "gzip", zipped, false},
		{"deflate", "deflate", encoded(t, "deflate", text), false},
		{"br", "br", encoded(t, "br", text), false},
		{"zstd", "zstd", framed, false},
		{"a zstd bomb", "zstd", bomb(), true},
		{"a gzip bomb", "gzip", encoded(t, "gzip", bytes.Repeat([]byte(" "), 40<<20)), true},
		{"a cut zstd frame", "zstd", framed[:len(framed)/2], true},
		{"a cut gzip", "gzip", zipped[:len(zipped)-4], true},
		{"zstd that says it is gzip", "gzip", framed, true},
		{"gzip that says it is br", "br", zipped, true},
		{"plain that says it is zstd", "zstd", text, true},
		{"an encoding that nobody knows", "lzma", zipped, true},
		{"two encodings", "gzip, gzip", encoded(t, "gzip", zipped), true},
	} {
		for _, http2 := range []bool{false, true} {
			r, err := envoytest.Post(t.Context(), envoytest.Client(t, http2), rig.URL()+path, c.wire, true, "content-encoding", c.encoding)
			got, header, length := upstream.last()
			if err != nil || r.Status != 200 {
				t.Fatalf("%s: %d %v", c.name, r.Status, err)
			}
			if length != int64(len(got)) {
				t.Errorf("%s: %d bytes arrived under a length of %d", c.name, len(got), length)
			}
			if c.raw {
				passed++
				if !bytes.Equal(got, c.wire) || header.Get("content-encoding") != c.encoding {
					t.Errorf("%s: %d bytes of %d arrived, encoding %q", c.name, len(got), len(c.wire), header.Get("content-encoding"))
				}
			} else if !bytes.Equal(got, expected) || header.Get("content-encoding") != "" {
				t.Errorf("%s: %d bytes arrived, want %d, encoding %q", c.name, len(got), len(expected), header.Get("content-encoding"))
			}
		}
	}
	// A body that says nothing of its encoding is no JSON.
	if _, err := envoytest.Post(t.Context(), envoytest.Client(t, false), rig.URL()+path, framed, true); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := upstream.last(); !bytes.Equal(got, framed) {
		t.Error("zstd without a header was changed")
	}
	awaitStat(t, rig, "the count of encodings", func(stats map[string]any) bool {
		return part(stats, "passthrough", "encoding") == float64(passed) && part(stats, "passthrough", "parse") == 1
	})
}

// large is a request of exactly n bytes, most of it a picture, as those of this size are.
func large(t testing.TB, session string, n int) []byte {
	t.Helper()
	text := body(t, "/v1/messages", session, 60<<10, false)
	const head, tail = `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`, `"}}]},`
	const at = `"messages":[`
	i := bytes.Index(text, []byte(at)) + len(at)
	picture := make([]byte, n-len(text)-len(head)-len(tail))
	for k := range picture {
		picture[k] = byte(k * 7)
	}
	picture = []byte(base64.StdEncoding.EncodeToString(picture))[:len(picture)]
	return bytes.Join([][]byte{text[:i], []byte(head), picture, []byte(tail), text[i:]}, nil)
}

// TestBodiesUpToTheLimitAndOver: up to 32 MiB a body is rewritten, above it arrives
// as it was sent. A length that the client gave is never taken away: the provider
// here takes no body without one.
func TestBodiesUpToTheLimitAndOver(t *testing.T) {
	const path = "/v1/messages"
	upstream := startStrict(t)
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: upstream.URL, Environ: slow})
	for i, size := range []int{33 << 10, 1 << 20, 5 << 20, 31 << 20, 33 << 20, 40 << 20} {
		var sent []byte
		if size < 100<<10 {
			sent = body(t, path, "small", size, false)
		} else {
			sent = large(t, fmt.Sprint(i), size)
		}
		expected := sent
		if size <= 32<<20 {
			if expected = want(t, path, sent); len(expected) >= len(sent) {
				t.Fatal("nothing to shorten")
			}
		}
		for k := range 4 {
			http2, length := k&1 == 1, k&2 == 0
			upstream.take(!length)
			r, err := envoytest.Post(t.Context(), envoytest.Client(t, http2), rig.URL()+path, sent, length)
			got, _, told := upstream.last()
			name := fmt.Sprintf("%d bytes, http2 %v, length %v", size, http2, length)
			if err != nil || r.Status != 200 {
				t.Fatalf("%s: %d %v", name, r.Status, err)
			}
			if !bytes.Equal(got, expected) {
				t.Errorf("%s: %d bytes arrived, want %d of %d", name, len(got), len(expected), len(sent))
			}
			if length && told != int64(len(got)) {
				t.Errorf("%s: the provider was told %d bytes and got %d", name, told, len(got))
			}
		}
	}
	awaitStat(t, rig, "the count of large bodies", func(stats map[string]any) bool {
		return part(stats, "passthrough", "too_large") == 4 && part(stats, "passthrough", "partial_body") == 4
	})
}
