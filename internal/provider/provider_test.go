package provider

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := New(cfg).Start("", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func post(t *testing.T, url, body string, header ...string) (int, []byte, http.Header) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b, resp.Header
}

// agent drives a tool loop over one wire and returns what each turn was billed,
// as the provider's answers say it.
type agent struct {
	t      *testing.T
	url    string
	stream bool
}

func (a *agent) send(body object, path string) ([]byte, promptcache.Usage) {
	a.t.Helper()
	body = append(body, pair{"stream", a.stream})
	status, answer, _ := post(a.t, a.url+path, string(encode(body)))
	if status != 200 {
		a.t.Fatalf("%s: %d %s", path, status, answer)
	}
	r := promptcache.NewUsageReader(0)
	r.Write(answer)
	u, outcome := r.Usage()
	if outcome != promptcache.UsageRead {
		a.t.Fatalf("usage %q of %s", outcome, answer)
	}
	return answer, u
}

// result is a tool's output, large enough to be cached.
func result(k int) string { return strings.Repeat(fmt.Sprintf("line of output %d\n", k), 120) }

type message struct {
	Content []map[string]jsontext.Value `json:"content"`
}

func TestMessagesLoop(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := start(t, Config{Now: func() time.Time { now = now.Add(20 * time.Second); return now }})
	a := &agent{t: t, url: s.URL}
	tools := jsontext.Value(`[{"name":"read","input_schema":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path","limit"]}},{"name":"bash","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]`)
	messages := []any{object{{"role", "user"}, {"content", "Fix the test."}}}
	read, rounds := 0, 0
	for {
		body := object{{"model", "claude-opus-4-6"}, {"max_tokens", 100}, {"tools", tools}, {"thinking", object{{"type", "adaptive"}}}, {"messages", messages}}
		answer, u := a.send(body, "/v1/messages")
		if last := s.Received()[rounds].Usage; last != u {
			t.Fatalf("billed %+v, recorded %+v", u, last)
		}
		read += u.Read
		rounds++
		var m message
		if err := json.Unmarshal(answer, &m); err != nil {
			t.Fatal(err)
		}
		messages = append(messages, object{{"role", "assistant"}, {"content", m.Content}})
		var results []object
		for _, b := range m.Content {
			if string(b["type"]) == `"tool_use"` {
				results = append(results, object{{"type", "tool_result"}, {"tool_use_id", b["id"]}, {"content", result(rounds)}})
			}
		}
		if len(results) == 0 {
			break
		}
		results[len(results)-1] = append(results[len(results)-1], pair{"cache_control", object{{"type", "ephemeral"}}})
		messages = append(messages, object{{"role", "user"}, {"content", results}})
		// One breakpoint in the messages, as a client keeps it.
		if n := len(messages); n > 3 {
			old := messages[n-3].(object)[1].value.([]object)
			old[len(old)-1] = old[len(old)-1][:3]
		}
	}
	if rounds != 13 || read == 0 {
		t.Errorf("%d rounds, %d tokens read", rounds, read)
	}
}

func TestThinkingMustNotChange(t *testing.T) {
	s := start(t, Config{})
	thinking := encode(object{{"type", "thinking"}, {"thinking", "hm"}, {"signature", s.signature("hm")}})
	body := func(block string, more string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` + block + `]},{"role":"user","content":"b"}` + more + `]}`
	}
	later := `,{"role":"assistant","content":"c"},{"role":"user","content":"d"}`
	for _, tc := range []struct{ name, body, want string }{
		{"as it was", body(string(thinking), ""), ""},
		{"changed", body(strings.Replace(string(thinking), "hm", "mh", 1), ""), "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"},
		{"changed earlier", body(strings.Replace(string(thinking), "hm", "mh", 1), later), "messages.1.content.0: Invalid `signature` in `thinking` block"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, answer, _ := post(t, s.URL+"/v1/messages", tc.body)
			if tc.want == "" {
				if status != 200 {
					t.Fatalf("%d %s", status, answer)
				}
				return
			}
			var e struct {
				Error struct {
					Type    string `json:"type"`
					Message string `json:"message"`
				} `json:"error"`
			}
			if err := json.Unmarshal(answer, &e); err != nil {
				t.Fatal(err)
			}
			if status != 400 || e.Error.Type != "invalid_request_error" || !strings.Contains(e.Error.Message, tc.want) {
				t.Errorf("%d %s", status, answer)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	s := start(t, Config{})
	ok := anthropic(`{"role":"user","content":"hi"}`)
	for _, tc := range []struct {
		name, path, body string
		fail             int
		status           int
		want             string
	}{
		{"broken rule", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":null}]}`, 0, 400, `{"error":{"message":"Invalid value for 'content': expected a string, got null.","type":"invalid_request_error","param":"messages.[0].content","code":null}}`},
		{"encrypted content", "/v1/responses", `{"model":"m","input":[{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[]}]}`, 0, 400, `"code":"invalid_encrypted_content"`},
		{"previous response", "/v1/responses", `{"model":"m","input":"x","previous_response_id":"resp_1"}`, 0, 400, `"code":"previous_response_not_found"`},
		{"overloaded", "/v1/messages", ok, 529, 529, `"type":"overloaded_error"`},
		{"rate limit", "/v1/responses", `{"model":"m","input":"x"}`, 429, 429, `"type":"rate_limit_exceeded"`},
		{"no max_tokens", "/v1/messages", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, 0, 400, `max_tokens: Field required`},
		{"path", "/v1/elsewhere", ok, 0, 404, `"type":"not_found_error"`},
		{"too large", "/v1/messages", strings.Repeat(" ", maxBody+1), 0, 413, `"type":"request_too_large"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.fail != 0 {
				s.Fail(tc.fail)
			}
			status, answer, _ := post(t, s.URL+tc.path, tc.body)
			if status != tc.status || !strings.Contains(string(answer), tc.want) {
				t.Errorf("%d %s", status, answer)
			}
		})
	}
	if status, _, _ := post(t, s.URL+"/v1/messages", ok); status != 200 {
		t.Errorf("after the failures: %d", status)
	}
	if status, _, _ := post(t, s.URL+"/v1/messages", ok, "Anthropic-Version", ""); status != 400 {
		t.Errorf("without anthropic-version: %d", status)
	}
}

func TestCountTokens(t *testing.T) {
	s := start(t, Config{Count: func(s string) int { return len(strings.Fields(s)) }})
	status, answer, _ := post(t, s.URL+"/v1/messages/count_tokens?beta=true", `{"model":"m","messages":[{"role":"user","content":"one two three"}]}`)
	if status != 200 || string(answer) != `{"input_tokens":3}` {
		t.Errorf("%d %s", status, answer)
	}
}

func TestScriptAndRecords(t *testing.T) {
	s := start(t, Config{Script: []Answer{{Text: "first"}, {Text: "second"}}, Keep: 2})
	messages := `{"role":"user","content":"a"}`
	for _, want := range []string{"first", "second", "Done after 2 rounds."} {
		_, answer, _ := post(t, s.URL+"/v1/messages", anthropic(messages), "X-Check", want)
		if !strings.Contains(string(answer), `"text":"`+want+`"`) {
			t.Errorf("want %q, got %s", want, answer)
		}
		messages += `,{"role":"assistant","content":"x"},{"role":"user","content":"y"}`
	}
	got := s.Received()
	if len(got) != 2 || got[1].Header.Get("X-Check") != "Done after 2 rounds." || got[1].Status != 200 {
		t.Errorf("remembered %d requests, the last %+v", len(got), got[len(got)-1])
	}
	if want := anthropic(strings.TrimSuffix(messages, `,{"role":"assistant","content":"x"},{"role":"user","content":"y"}`)); string(got[1].Body) != want {
		t.Errorf("body %s", got[1].Body)
	}
}

// A request that does not declare what the script calls gets a text.
func TestScriptCallsDeclaredToolsAlone(t *testing.T) {
	s := start(t, Config{Script: []Answer{{Calls: []Call{{Name: "run", Input: "{}"}}}}})
	with := func(name string) string {
		return `{"model":"m","tools":[{"type":"function","function":{"name":"` + name + `","parameters":{}}}],"messages":[{"role":"user","content":"a"}]}`
	}
	for name, want := range map[string]string{"run": `"finish_reason":"tool_calls"`, "walk": `"finish_reason":"stop"`} {
		if _, answer, _ := post(t, s.URL+"/v1/chat/completions?a=b", with(name)); !strings.Contains(string(answer), want) {
			t.Errorf("with the tool %s: %s", name, answer)
		}
	}
	if got := s.Received(); got[0].Query != "a=b" {
		t.Errorf("the query is %q", got[0].Query)
	}
}

func TestModels(t *testing.T) {
	s := start(t, Config{})
	for _, c := range []struct{ query, version, want string }{
		{"", "", `{"object":"list","data":[{"id":"`},
		{"", "2023-06-01", `"has_more":false`},
		{"?client_version=1", "", `{"models":[]}`},
	} {
		req, err := http.NewRequest(http.MethodGet, s.URL+"/v1/models"+c.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.version != "" {
			req.Header.Set("anthropic-version", c.version)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(answer), c.want) {
			t.Errorf("%q %q: %d %s, %v", c.query, c.version, resp.StatusCode, answer, err)
		}
	}
}

// The same request gets the same answer, from any provider.
func TestDeterministic(t *testing.T) {
	clock := func() time.Time { return time.Unix(5, 0) }
	body := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"n","parameters":{}}}],"messages":[{"role":"user","content":"a"}]}`
	var answers []string
	for range 2 {
		s := start(t, Config{Now: clock})
		_, answer, _ := post(t, s.URL+"/v1/chat/completions", body)
		answers = append(answers, string(answer))
	}
	if d := cmp.Diff(answers[0], answers[1]); d != "" {
		t.Error(d)
	}
}

func TestEncodedBodies(t *testing.T) {
	s := start(t, Config{Gzip: true})
	body := anthropic(`{"role":"user","content":"hi"}`)
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	g.Write([]byte(body))
	g.Close()
	z, _ := zstd.NewWriter(&zs)
	z.Write([]byte(body))
	z.Close()
	for _, tc := range []struct {
		encoding, body string
		status         int
	}{{"gzip", gz.String(), 200}, {"zstd", zs.String(), 200}, {"gzip", "no", 400}, {"zstd", "no", 400}, {"br", "no", 400}} {
		status, answer, header := post(t, s.URL+"/v1/messages", tc.body, "Content-Encoding", tc.encoding, "Accept-Encoding", "gzip")
		if status != tc.status || header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %d %q", tc.encoding, status, answer)
		}
		r, err := gzip.NewReader(bytes.NewReader(answer))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || !bytes.Contains(b, []byte(`"type"`)) {
			t.Errorf("%s: %q, %v", tc.encoding, b, err)
		}
	}
}

func TestTLS(t *testing.T) {
	s, err := New(Config{}).Start("", true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(s.CA) {
		t.Fatal("no certificate")
	}
	for _, h2 := range []bool{false, true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2}
		req, _ := http.NewRequest(http.MethodPost, s.URL+"/v1/responses", strings.NewReader(`{"model":"m","input":"x"}`))
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || (resp.ProtoMajor == 2) != h2 {
			t.Errorf("status %d over HTTP/%d", resp.StatusCode, resp.ProtoMajor)
		}
		transport.CloseIdleConnections()
	}
}

func TestPreviousResponse(t *testing.T) {
	s := start(t, Config{})
	_, answer, _ := post(t, s.URL+"/v1/responses", `{"model":"m","tools":[{"type":"function","name":"n"}],"input":"x"}`)
	var first struct {
		ID     string `json:"id"`
		Output []struct {
			CallID string `json:"call_id"`
		} `json:"output"`
	}
	if err := json.Unmarshal(answer, &first); err != nil {
		t.Fatal(err)
	}
	call := first.Output[len(first.Output)-1].CallID
	next := fmt.Sprintf(`{"model":"m","previous_response_id":%q,"input":[{"type":"function_call_output","call_id":%q,"output":"done"}]}`, first.ID, call)
	status, answer, _ := post(t, s.URL+"/v1/responses", next)
	if status != 200 || !bytes.Contains(answer, []byte("Done after 1 rounds.")) {
		t.Errorf("%d %s", status, answer)
	}
	status, answer, _ = post(t, s.URL+"/v1/responses", strings.Replace(next, call, "call_x", 1))
	if status != 400 || !bytes.Contains(answer, []byte("No tool call found")) {
		t.Errorf("%d %s", status, answer)
	}
}
