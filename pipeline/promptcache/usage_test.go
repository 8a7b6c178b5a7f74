package promptcache

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const anthropicStream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-6","content":[],"stop_reason":null,"usage":{"input_tokens":7,"cache_creation_input_tokens":30,"cache_read_input_tokens":40,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":1,"service_tier":"standard"}}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"the \"usage\":{\"input_tokens\":9}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":55}}

event: message_stop
data: {"type":"message_stop"}

`

const chatStream = `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"}}],"usage":null}

: a comment

data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}

data: [DONE]

`

func responsesStream(last string) string {
	return `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","usage":null}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"x"}

event: ` + last + `
data: {"type":"` + last + `","response":{"id":"r","object":"response","output":[{"type":"message","usage":5}],"usage":{"input_tokens":5000,
data:  "input_tokens_details":{"cached_tokens":4096},"output_tokens":12,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":5012}}}

`
}

var answers = []struct {
	name    string
	answer  string
	want    Usage
	outcome UsageOutcome
}{
	{"anthropic stream", anthropicStream, Usage{Fresh: 7, Read: 40, Write5m: 10, Write1h: 20, Output: 55, Known: true}, UsageRead},
	{
		"anthropic stream, counts again in the last delta",
		strings.Replace(anthropicStream, `"usage":{"output_tokens":55}`, `"usage":{"input_tokens":8,"cache_read_input_tokens":41,"output_tokens":55}`, 1),
		Usage{Fresh: 8, Read: 41, Write5m: 10, Write1h: 20, Output: 55, Known: true},
		UsageRead,
	},
	{
		"anthropic json", `{"id":"m","type":"message","content":[{"type":"text","text":"usage"}],"usage":{"input_tokens":3,"cache_creation_input_tokens":11377,"cache_read_input_tokens":22248,"output_tokens":109}}`,
		Usage{Fresh: 3, Read: 22248, Write5m: 11377, Output: 109, Known: true},
		UsageRead,
	},
	{
		"anthropic json with nulls", `{"type":"message","usage":{"input_tokens":3,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"cache_creation":null,"output_tokens":9}}`,
		Usage{Fresh: 3, Output: 9, Known: true},
		UsageRead,
	},
	{"chat stream", chatStream, Usage{Fresh: 86, Read: 1920, Output: 300, Known: true}, UsageRead},
	{
		"chat json", `{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`,
		Usage{Fresh: 10, Output: 2, Known: true},
		UsageRead,
	},
	{
		"chat json with writes", `{"object":"chat.completion","usage":{"prompt_tokens":100,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":50,"cache_write_tokens":30}}}`,
		Usage{Fresh: 20, Read: 50, Write5m: 30, Output: 2, Known: true},
		UsageRead,
	},
	{"responses completed", responsesStream("response.completed"), Usage{Fresh: 904, Read: 4096, Output: 12, Known: true}, UsageRead},
	{"responses incomplete", responsesStream("response.incomplete"), Usage{Fresh: 904, Read: 4096, Output: 12, Known: true}, UsageRead},
	{"responses failed", responsesStream("response.failed"), Usage{Fresh: 904, Read: 4096, Output: 12, Known: true}, UsageRead},
	{"responses json without details", `{"object":"response","usage":{"input_tokens":5,"output_tokens":1}}`, Usage{Fresh: 5, Output: 1, Known: true}, UsageRead},
	{"trailing newline in json", "\n {\"object\":\"response\",\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}\n\n", Usage{Fresh: 5, Output: 1, Known: true}, UsageRead},
	{"lines of json", "{\"usage\":null}\n{\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}\n", Usage{Fresh: 5, Output: 1, Known: true}, UsageRead},

	{"empty", "", Usage{}, UsageAbsent},
	{"error body", `{"type":"error","error":{"type":"overloaded_error","message":"usage"}}`, Usage{}, UsageAbsent},
	{"count_tokens", `{"input_tokens":5}`, Usage{}, UsageAbsent},
	{"chat stream without usage", "data: {\"object\":\"chat.completion.chunk\"}\n\ndata: [DONE]\n\n", Usage{}, UsageAbsent},
	{"unknown usage", `{"usage":{"tokens_in":4}}`, Usage{}, UsageUnknownShape},
	{"usage is a number", `{"usage":4}`, Usage{}, UsageUnknownShape},
	{"negative", `{"usage":{"input_tokens":-4}}`, Usage{}, UsageUnknownShape},
	{"fraction", `{"usage":{"input_tokens":4.5}}`, Usage{}, UsageUnknownShape},
	{"count as text", `{"usage":{"input_tokens":"4"}}`, Usage{}, UsageUnknownShape},
	{"more cached than sent", `{"usage":{"prompt_tokens":4,"prompt_tokens_details":{"cached_tokens":5}}}`, Usage{}, UsageUnknownShape},
	{"only the end of a stream", "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":4}}\n\n", Usage{}, UsageUnknownShape},
	{"cut inside usage", `{"type":"message","usage":{"input_tokens":4,"cache_read_in`, Usage{}, UsageSyntax},
	{"html", "<html>\n<body>usage</body></html>", Usage{}, UsageSyntax},
	{"not json", `{"usage":`, Usage{}, UsageSyntax},
}

// Every answer gives the same bill however its bytes are cut, and however its
// lines end.
func TestUsageReader(t *testing.T) {
	for _, tc := range answers {
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			t.Run(fmt.Sprintf("%s/%q", tc.name, eol), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					answer := strings.ReplaceAll(tc.answer, "\n", eol)
					r := NewUsageReader(0)
					for len(answer) > 0 {
						n := rapid.IntRange(1, min(len(answer), 40)).Draw(t, "chunk")
						if m, err := r.Write([]byte(answer[:n])); m != n || err != nil {
							t.Fatalf("Write = %d, %v", m, err)
						}
						answer = answer[n:]
						if rapid.IntRange(0, 20).Draw(t, "look") == 0 {
							r.Usage()
						}
					}
					got, outcome := r.Usage()
					if d := cmp.Diff(tc.want, got); d != "" || outcome != tc.outcome {
						t.Fatalf("outcome %q, want %q; %s", outcome, tc.outcome, d)
					}
				})
			})
		}
	}
}

func TestUsageReaderUnfinishedEvent(t *testing.T) {
	r := NewUsageReader(0)
	r.Write([]byte(strings.TrimRight(chatStream[:strings.Index(chatStream, "data: [DONE]")], "\n")))
	if got, outcome := r.Usage(); got.Read != 1920 || outcome != UsageRead {
		t.Fatalf("got %+v, %q", got, outcome)
	}
}

func TestUsageReaderLimit(t *testing.T) {
	big := strings.Repeat("x", 5000)
	for _, tc := range []struct {
		name, answer string
		outcome      UsageOutcome
	}{
		{"a long delta between", strings.Replace(anthropicStream, "the ", big, 1), UsageRead},
		{"a long json body", `{"text":"` + big + `","usage":{"input_tokens":1}}`, UsageTooLarge},
		{"the bill in a long event", `data: {"text":"` + big + `","usage":{"input_tokens":1}}` + "\n\n", UsageTooLarge},
		{"a long line that is no data", "x: " + big + "\n" + chatStream, UsageRead},
		{"a long comment", ":" + big + "\n" + chatStream, UsageRead},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := NewUsageReader(1000)
			for i := 0; i < len(tc.answer); i += 7 {
				r.Write([]byte(tc.answer[i:min(i+7, len(tc.answer))]))
				if len(r.buf)+len(r.field) > 1000+5 {
					t.Fatalf("holds %d bytes", len(r.buf))
				}
			}
			if _, outcome := r.Usage(); outcome != tc.outcome {
				t.Fatalf("outcome %q, want %q", outcome, tc.outcome)
			}
		})
	}
}

func FuzzUsageReader(f *testing.F) {
	for _, tc := range answers {
		f.Add([]byte(tc.answer), 3)
	}
	f.Fuzz(func(t *testing.T, answer []byte, cut int) {
		whole := NewUsageReader(1 << 16)
		whole.Write(answer)
		u, o := whole.Usage()
		if (o == UsageRead) != u.Known {
			t.Fatalf("outcome %q with %+v", o, u)
		}
		if u.Fresh < 0 || u.Read < 0 || u.Write5m < 0 || u.Write1h < 0 || u.Output < 0 {
			t.Fatalf("negative: %+v", u)
		}
		if len(answer) > 1<<15 {
			return
		}
		cutUp := NewUsageReader(1 << 16)
		cut = max(1, cut&0xff)
		for p := answer; len(p) > 0; p = p[min(cut, len(p)):] {
			cutUp.Write(p[:min(cut, len(p))])
		}
		if u2, o2 := cutUp.Usage(); u2 != u || o2 != o {
			t.Fatalf("in pieces of %d: %+v %q; whole: %+v %q", cut, u2, o2, u, o)
		}
	})
}
