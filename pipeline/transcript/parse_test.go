package transcript_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

var hasher = transcript.NewHasher()

func TestParseFindsCallsAndResults(t *testing.T) {
	cases := []struct {
		name    string
		dialect transcript.Dialect
		body    string
		calls   []string // ordinal:name
		results []string // call ordinal, texts
	}{
		{
			name: "anthropic string and block results", dialect: transcript.Anthropic,
			body: `{"model":"m","messages":[{"role":"user","content":"go"},
			{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"f"}},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"tool_use","id":"b","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one\ntwo"},{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"bad"},{"type":"image","source":{}}]}]}]}`,
			calls: []string{"1:Read", "2:Bash"}, results: []string{"1 one\ntwo", "2 error mixed bad"},
		},
		{
			name: "chat", dialect: transcript.OpenAIChat,
			body: `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"go"}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\":\"f\"}"}},{"id":"b","type":"function","function":{"name":"sh","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"b","content":"B"},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"A"}]}]}`,
			calls: []string{"1:read", "2:sh"}, results: []string{"2 B", "1 A"},
		},
		{
			name: "responses", dialect: transcript.OpenAIResponses,
			body: `{"model":"m","instructions":"i","input":[{"role":"user","content":[{"type":"input_text","text":"go"}]},{"type":"reasoning","summary":[],"encrypted_content":"zz"},
			{"type":"function_call","call_id":"a","name":"exec_command","arguments":"{\"cmd\":\"ls\"}"},{"type":"function_call_output","call_id":"a","output":"out"},
			{"type":"web_search_call","id":"w"},{"type":"custom_tool_call","call_id":"p","name":"apply_patch","input":"*** Begin"},{"type":"custom_tool_call_output","call_id":"p","output":[{"type":"input_text","text":"done"}]}]}`,
			calls: []string{"1:exec_command", "2:apply_patch"}, results: []string{"1 out", "2 done"},
		},
		{
			name: "a repeated id pairs with the latest unanswered call", dialect: transcript.OpenAIChat,
			body: `{"messages":[{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"one","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"1"},
			{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"two","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"2"},{"role":"tool","tool_call_id":"x","content":"3"}]}`,
			calls: []string{"1:one", "2:two"}, results: []string{"1 1", "2 2", "0 3"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tr, err := transcript.Parse(c.dialect, []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			var calls, results []string
			for _, k := range tr.Calls {
				calls = append(calls, string(rune('0'+k.Ordinal))+":"+k.Name)
			}
			for _, r := range tr.Results {
				s := string(rune('0' + r.Call + 1))
				if r.IsError {
					s += " error"
				}
				if r.Mixed {
					s += " mixed"
				}
				for _, l := range r.Texts {
					text, _ := transcript.Decode(tr.Body[l.Span.Start:l.Span.End])
					s += " " + text
				}
				results = append(results, s)
			}
			if d := cmp.Diff(c.calls, calls); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.results, results); d != "" {
				t.Errorf("results (-want +got):\n%s", d)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"trailing bytes":        {`{"messages":[]} x`, transcript.ErrSyntax},
		"cut":                   {`{"messages":[{"role":"user"`, transcript.ErrSyntax},
		"not an object":         {`[1]`, transcript.ErrShape},
		"no messages":           {`{"model":"m"}`, transcript.ErrShape},
		"messages twice":        {`{"messages":[],"messages":[]}`, transcript.ErrShape},
		"content twice":         {`{"messages":[{"role":"user","content":"a","content":"b"}]}`, transcript.ErrShape},
		"escaped key is itself": {`{"messages":[{"role":"user","content":"a","c\u006fntent":"b"}]}`, transcript.ErrShape},
		"empty":                 {``, transcript.ErrSyntax},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := transcript.Parse(transcript.Anthropic, []byte(c.body)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// A marked message and the same message without its breakpoint, as a string or
// as one block, are one element of the chain.
func TestDigestIgnoresBreakpoints(t *testing.T) {
	digest := func(content string) transcript.Sum {
		tr, err := transcript.Parse(transcript.Anthropic, []byte(`{"messages":[{"role":"user","content":`+content+`}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return tr.Digest(hasher).Messages[0].Sum
	}
	base := digest(`"hi"`)
	for _, same := range []string{
		`[{"type":"text","text":"hi"}]`,
		`[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]`,
		`[{"cache_control":{"type":"ephemeral"},"type":"text","text":"hi"}]`,
		`[{"type":"text","cache_control":{"type":"ephemeral","ttl":"1h"},"text":"hi"}]`,
		`[ {"type": "text", "text": "hi" , "cachePoint":{}} ]`,
	} {
		if digest(same) != base {
			t.Errorf("%s differs", same)
		}
	}
	for _, other := range []string{`"hi "`, `[{"type":"text","text":"hi"},{"type":"text","text":""}]`, `[{"type":"text","text":"hi","citations":[]}]`} {
		if digest(other) == base {
			t.Errorf("%s is the same", other)
		}
	}
	r := func(mark string) string {
		return `[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"` + mark + `}]` + mark + `}]`
	}
	if digest(r("")) != digest(r(`,"cache_control":{"type":"ephemeral"}`)) {
		t.Error("a nested breakpoint changes the digest")
	}
}

func TestDecodeAgreesWithAnotherReader(t *testing.T) {
	for _, raw := range []string{`""`, `"a\nb\t\"\\\/\b\f\r"`, `"\u00e9é\ud83d\ude00😀"`, `"\u0000"`} {
		var want string
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatal(err)
		}
		got, lossy := transcript.Decode([]byte(raw))
		if got != want || lossy {
			t.Errorf("%s: got %q lossy %v, want %q", raw, got, lossy, want)
		}
	}
	for _, raw := range []string{`"\ud800"`, "\"\xff\"", `"\udc00\ud800"`} {
		if _, lossy := transcript.Decode([]byte(raw)); !lossy {
			t.Errorf("%s is not reported as lossy", raw)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	body := bigBody(1 << 20)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := transcript.Parse(transcript.Anthropic, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	body := bigBody(1 << 20)
	tr, err := transcript.Parse(transcript.Anthropic, body)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		tr.Digest(hasher)
	}
}

// bigBody is an Anthropic body of about n bytes: results of 4 KB with lines.
func bigBody(n int) []byte {
	body := []byte(`{"model":"claude","messages":[{"role":"user","content":"go"}`)
	line := []byte(`    12\tfunc (p *parser) next() (token, error) { return p.read(\"x\") }\n`)
	for i := 0; len(body) < n; i++ {
		body = append(body, `,{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/a"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"`...)
		for j := 0; j < 60; j++ {
			body = append(body, line...)
		}
		body = append(body, `"}]}`...)
	}
	return append(body, "]}"...)
}

// Where the provider takes out more than thinking, nothing may point at what it
// may have taken out.
func TestProviderEdits(t *testing.T) {
	for _, c := range []struct {
		dialect transcript.Dialect
		member  string
		want    bool
	}{
		{transcript.Anthropic, `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`, false},
		{transcript.Anthropic, `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":1}}]}`, false},
		{transcript.Anthropic, `"context_management":{"edits":[]}`, false},
		{transcript.Anthropic, `"context_management":{}`, false},
		{transcript.Anthropic, `"context_management":null`, false},
		{transcript.Anthropic, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}`, true},
		{transcript.Anthropic, `"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"compact_20260112"}]}`, true},
		{transcript.Anthropic, `"context_management":{"edits":[{"type":"clear_thinking_20251015","type":"clear_tool_uses_20250919"}]}`, true},
		{transcript.Anthropic, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","type":"clear_thinking_20251015"}]}`, true},
		{transcript.Anthropic, `"context_management":{"edits":[{}]}`, true},
		{transcript.Anthropic, `"context_management":{"edits":["clear_thinking_20251015"]}`, true},
		{transcript.Anthropic, `"context_management":{"edits":{"type":"clear_thinking_20251015"}}`, true},
		{transcript.Anthropic, `"context_management":{"edits":[],"other":1}`, true},
		{transcript.Anthropic, `"context_management":"auto"`, true},
		{transcript.OpenAIResponses, `"context_management":[{"type":"compaction","compact_threshold":1000}]`, true},
		{transcript.OpenAIResponses, `"truncation":"disabled"`, false},
		{transcript.OpenAIResponses, `"truncation":"auto"`, true},
		{transcript.OpenAIResponses, `"previous_response_id":"resp_1"`, true},
	} {
		list := `"messages"`
		if c.dialect == transcript.OpenAIResponses {
			list = `"input"`
		}
		tr, err := transcript.Parse(c.dialect, []byte(`{"model":"m",`+c.member+`,`+list+`:[{"role":"user","content":"go"}]}`))
		if err != nil || tr.ProviderEdits != c.want {
			t.Errorf("%s: %v, want %v; %v", c.member, tr != nil && tr.ProviderEdits, c.want, err)
		}
	}
}
