package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// seeds are bodies with what is hard: duplicate keys, lone surrogates, huge
// numbers, invalid UTF-8, nested results, breakpoints everywhere.
var seeds = []string{
	`{"model":"m","messages":[{"role":"user","content":"a"}]}`,
	`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],"cache_control":{"ttl":"1h"}}]}]}`,
	`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{"a":{"b":[1e999,-0,"\ud800"]}}}]}],"system":[{"type":"text","text":"s"}],"tools":[{"name":"t","input_schema":{"properties":{"x":{}}}}]}`,
	`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"n","arguments":"{\"x\":\"\\u00e9\"}"}}]},{"role":"tool","tool_call_id":"a","content":"y"}]}`,
	`{"input":[{"type":"function_call","call_id":"a","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"z"},{"type":"x"}],"instructions":"i","truncation":"auto"}`,
	`{"input":"text","metadata":{"user_id":"u_session_1"}}`,
	`{"messages":[],"messages":[]}`,
	"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]} ",
	`{"messages":[{"content":"x","role":"user","content":"y"}]}`,
	`[`, `{"messages":{}}`, `{"a":` + strings.Repeat("[", 50),
}

// FuzzParse holds every span that the parser returns against encoding/json: a
// text leaf is a JSON string that decodes to the same text, and every block,
// message and call lies where it says.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		for i := range 3 {
			f.Add([]byte(s), uint8(i))
		}
	}
	dialects := []transcript.Dialect{transcript.Anthropic, transcript.OpenAIChat, transcript.OpenAIResponses}
	f.Fuzz(func(t *testing.T, body []byte, d uint8) {
		tr, err := transcript.Parse(dialects[int(d)%3], body)
		if err != nil {
			return
		}
		if !json.Valid(body) {
			// encoding/json is the judge of syntax; it accepts invalid UTF-8 as well.
			t.Fatalf("accepted what is no JSON: %q", body)
		}
		span := func(s transcript.Span, what string) json.RawMessage {
			if s.Start < 0 || s.End > len(body) || s.Start > s.End || !json.Valid(body[s.Start:s.End]) {
				t.Fatalf("%s at %v is no JSON value in %q", what, s, body)
			}
			return body[s.Start:s.End]
		}
		text := func(s transcript.Span, what string) {
			var want string
			if err := json.Unmarshal(span(s, what), &want); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			got, lossy := transcript.Decode(body[s.Start:s.End])
			if got != want && !lossy {
				t.Fatalf("%s decodes to %q, want %q", what, got, want)
			}
		}
		for _, m := range tr.Messages {
			span(m.Span, "message")
			for _, b := range m.Blocks {
				span(b.Span, "block")
				if b.Text.Len() > 0 {
					text(b.Text, "text")
				}
			}
		}
		for i, c := range tr.Calls {
			if c.Ordinal != i+1 || c.Result >= len(tr.Results) {
				t.Fatalf("call %d: %+v", i, c)
			}
			tr.Arguments(i)
		}
		for _, r := range tr.Results {
			for _, l := range r.Texts {
				text(l.Span, "result")
			}
			if r.Call >= 0 && tr.Calls[r.Call].Message >= r.Message {
				t.Fatalf("a result is paired with a later call")
			}
		}
		tr.Digest(hasher)
	})
}

// FuzzDecode holds decoding and the offset cursor against encoding/json.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`"a\n\u00e9\ud83d\ude00"`, `"\ud800x"`, "\"\xc3\"", `"\/\b"`, `""`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want string
		if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &want) != nil || raw[len(raw)-1] != '"' {
			return
		}
		got, lossy := transcript.Decode(raw)
		if !lossy && got != want {
			t.Fatalf("%q decodes to %q, want %q", raw, got, want)
		}
		c := transcript.NewCursor(raw)
		at := 0
		for i := range got {
			r, ok := c.Seek(i)
			if !ok || r < at {
				t.Fatalf("%q: text offset %d is raw offset %d, %v", raw, i, r, ok)
			}
			at = r
		}
		if end, ok := c.Seek(len(got)); !ok || end != len(raw)-2 {
			t.Fatalf("%q: the end is at %d, %v", raw, end, ok)
		}
	})
}
