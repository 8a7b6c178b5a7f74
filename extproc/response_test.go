package extproc_test

import (
	"fmt"
	"strings"
	"testing"

	filterpb "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"

	"github.com/trimtab-io/trimtab/extproc"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// answers are one answer in each form that a provider gives, with its bill.
var answers = []struct {
	name, path, kind, text string
	want                   promptcache.Usage
}{
	{
		"anthropic events", "/v1/messages", "text/event-stream",
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\"cache_creation_input_tokens\":30," +
			"\"cache_read_input_tokens\":400,\"cache_creation\":{\"ephemeral_5m_input_tokens\":10,\"ephemeral_1h_input_tokens\":20},\"output_tokens\":1}}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\\\"usage\\\":{\\\"input_tokens\\\":9}\"}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		promptcache.Usage{Fresh: 3, Read: 400, Write5m: 10, Write1h: 20, Output: 7, Known: true},
	},
	{
		"anthropic json", "/v1/messages", "application/json",
		`{"type":"message","content":[{"type":"text","text":"\"usage\":{}"}],"usage":{"input_tokens":3,"cache_creation_input_tokens":30,"cache_read_input_tokens":400,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":7}}`,
		promptcache.Usage{Fresh: 3, Read: 400, Write5m: 10, Write1h: 20, Output: 7, Known: true},
	},
	{
		"chat events", "/v1/chat/completions", "text/event-stream; charset=utf-8",
		"data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":null}\r\n\r\n" +
			"data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":500,\"completion_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":384}}}\r\n\r\ndata: [DONE]\r\n\r\n",
		promptcache.Usage{Fresh: 116, Read: 384, Output: 9, Known: true},
	},
	{
		"chat json", "/v1/chat/completions", "application/json",
		`{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":500,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":384}}}`,
		promptcache.Usage{Fresh: 116, Read: 384, Output: 9, Known: true},
	},
	{
		"responses events", "/v1/responses", "text/event-stream",
		"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"object\":\"response\",\"usage\":null}}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"usage\":{\"input_tokens\":500,\"input_tokens_details\":{\"cached_tokens\":384},\"output_tokens\":9}}}\n\n",
		promptcache.Usage{Fresh: 116, Read: 384, Output: 9, Known: true},
	},
	{
		"responses json", "/v1/responses", "application/json",
		`{"object":"response","usage":{"input_tokens":500,"input_tokens_details":{"cached_tokens":384},"output_tokens":9}}`,
		promptcache.Usage{Fresh: 116, Read: 384, Output: 9, Known: true},
	},
}

// asked opens an exchange up to the point where its answer comes.
func (f *fake) asked(path string) *stream {
	f.t.Helper()
	s := f.open("")
	req := post(11)
	req.GetRequestHeaders().GetHeaders().GetHeaders()[1].RawValue = []byte(path)
	s.ask(req)
	s.ask(requestBody(`{"a":"old"}`, true))
	return s
}

// TestBillAtEveryChunking: an answer in any dialect and encoding, cut at every
// place there is, gives the same bill, and no chunk is ever changed.
func TestBillAtEveryChunking(t *testing.T) {
	f := newFake(t, settings(), nil)
	for _, a := range answers {
		for _, encoding := range []string{"", "gzip", "br", "zstd"} {
			t.Run(a.name+" "+encoding, func(t *testing.T) {
				wire := encode(t, encoding, a.text)
				step := 1
				if encoding != "" || testing.Short() {
					step = 17
				}
				for cut := 0; cut <= len(wire); cut += step {
					s := f.asked(a.path)
					over := s.ask(responseHeaders("200", "content-type", a.kind, "content-encoding", encoding))
					if over.GetModeOverride().GetResponseBodyMode() != filterpb.ProcessingMode_STREAMED || over.GetResponseHeaders().GetResponse() != nil {
						t.Fatalf("headers: %v", over)
					}
					for i, chunk := range []string{wire[:cut], wire[cut:]} {
						if got := s.ask(responseBody(chunk, i == 1)).GetResponseBody(); got == nil || got.GetResponse() != nil {
							t.Fatalf("cut at %d: %v", cut, got)
						}
					}
					if sum := f.finish(s); sum.Usage != a.want || sum.UsageOutcome != "read" {
						t.Fatalf("cut at %d: %+v %s", cut, sum.Usage, sum.UsageOutcome)
					}
				}
			})
		}
	}
	f.settled()
}

// TestLongStreams: ten thousand events, one message each, every one answered at
// once and unchanged; and the bill of the last is read.
func TestLongStreams(t *testing.T) {
	for _, encoding := range []string{"", "zstd"} {
		f := newFake(t, settings(), nil)
		s := f.asked("/v1/chat/completions")
		s.ask(responseHeaders("200", "content-type", "text/event-stream", "content-encoding", encoding))
		const events = 10000
		var text strings.Builder
		for i := range events {
			fmt.Fprintf(&text, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"content\":\"word %d\"}}],\"usage\":null}\n\n", i)
		}
		text.WriteString("data: {\"object\":\"chat.completion.chunk\",\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":10000}}\n\ndata: [DONE]\n\n")
		wire := encode(t, encoding, text.String())
		for size := max(len(wire)/events, 1); len(wire) > 0; wire = wire[min(size, len(wire)):] {
			if got := s.ask(responseBody(wire[:min(size, len(wire))], false)).GetResponseBody(); got == nil || got.GetResponse() != nil {
				t.Fatalf("answer %v", got)
			}
		}
		s.ask(responseBody("", true))
		if sum := f.finish(s); sum.Usage.Output != 10000 || sum.Usage.Fresh != 50 {
			t.Errorf("%s: %+v %s", encoding, sum.Usage, sum.UsageOutcome)
		}
		f.settled()
	}
}

// TestEndsBeforeTheBill: a client that leaves, or a provider that breaks off, is told
// apart from an answer without a bill and from one that can't be read.
func TestEndsBeforeTheBill(t *testing.T) {
	chat, anthropic := answers[2], answers[0]
	afterStart := strings.Index(anthropic.text, "event: content_block_delta")
	for _, c := range []struct {
		name, path, kind, encoding, text string
		end                              bool
		outcome                          string
		fresh                            int
	}{
		{"before anything", chat.path, chat.kind, "", "", false, extproc.UsageCut, 0},
		{"before the bill", chat.path, chat.kind, "", chat.text[:60], false, extproc.UsageCut, 0},
		{"in the bill", chat.path, chat.kind, "", chat.text[:strings.Index(chat.text, `completion_tokens`)], false, extproc.UsageCut, 0},
		{"after the bill", chat.path, chat.kind, "", chat.text, false, "read", 116},
		{"after the bill's event, before its end", chat.path, chat.kind, "", chat.text[:strings.Index(chat.text, "\r\n\r\ndata: [DONE]")], false, "read", 116},
		{"after the input's bill", anthropic.path, anthropic.kind, "", anthropic.text[:afterStart], false, "read", 3},
		{"in a frame", chat.path, chat.kind, "gzip", encode(t, "gzip", chat.text)[:30], false, extproc.UsageCut, 0},
		{"in JSON", chat.path, "application/json", "", answers[3].text[:40], false, extproc.UsageCut, 0},

		{"whole, no bill", chat.path, chat.kind, "", "data: {}\n\ndata: [DONE]\n\n", true, "absent", 0},
		{"whole, a bill of no known shape", chat.path, chat.kind, "", "data: {\"usage\":{\"credits\":4}}\n\n", true, "unknown_shape", 0},
		{"whole, an error", chat.path, "application/json", "", `{"error":{"message":"usage"}}`, true, "absent", 0},
		{"whole, no JSON", chat.path, "application/json", "", `<html>`, true, "syntax", 0},
		{"whole, a broken frame", chat.path, chat.kind, "gzip", encode(t, "gzip", chat.text)[:30], true, extproc.UsageEncoding, 0},
		{"whole, another frame", chat.path, chat.kind, "zstd", encode(t, "gzip", chat.text), true, extproc.UsageEncoding, 0},
		{"whole, a bomb", chat.path, chat.kind, "gzip", encode(t, "gzip", strings.Repeat(" ", 65<<20)), true, "too_large", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, settings(), nil)
			s := f.asked(c.path)
			s.ask(responseHeaders("200", "content-type", c.kind, "content-encoding", c.encoding))
			if c.text != "" {
				s.ask(responseBody(c.text, c.end))
			}
			var sum extproc.Summary
			if c.end {
				sum = f.finish(s)
			} else {
				s.cancel()
				sum = <-f.seen.summaries
			}
			if sum.UsageOutcome != c.outcome || sum.Usage.Fresh != c.fresh {
				t.Errorf("%s %+v, want %s", sum.UsageOutcome, sum.Usage, c.outcome)
			}
			f.settled()
		})
	}
}

// TestTraceIsCarried: a request's trace goes with its summary, so that a number can
// be followed to a request.
func TestTraceIsCarried(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for parent, want := range map[string]string{"00-" + id + "-00f067aa0ba902b7-01": id, "00-" + id + "-00f067aa0ba902b7-00": "", "": ""} {
		f := newFake(t, settings(), nil)
		s := f.open("")
		s.ask(post(11, "traceparent", parent))
		if sum := f.finish(s); sum.Trace != want {
			t.Errorf("%q: %q", parent, sum.Trace)
		}
	}
}
