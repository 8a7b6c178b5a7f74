package provider

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

func anthropic(messages string) string {
	return `{"model":"m","max_tokens":9,"messages":[` + messages + `]}`
}

const (
	use    = `{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","id":"b","name":"n","input":{}}]},`
	both   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"},{"type":"tool_result","tool_use_id":"a","is_error":true}]}`
	markC  = `"cache_control":{"type":"ephemeral"}`
	mark1h = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name string
		wire promptcache.Wire
		body string
		want []string // rule at where
	}{
		{"a string", promptcache.WireAnthropic, anthropic(`{"role":"user","content":"hi"}`), nil},
		{"a tool loop, answers in another order", promptcache.WireAnthropic, anthropic(use + both), nil},
		{"results over two messages", promptcache.WireAnthropic, anthropic(use + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`), nil},
		{"a system message between", promptcache.WireAnthropic, anthropic(use + `{"role":"system","content":"note"},` + both), nil},
		{"unknown blocks", promptcache.WireAnthropic, anthropic(`{"role":"user","content":[{"type":"container_upload","file_id":"f"}]}`), nil},
		{"no json", promptcache.WireAnthropic, `{"model"`, []string{"json at "}},
		{"no messages", promptcache.WireAnthropic, `{"model":"m"}`, []string{"messages at messages"}},
		{"role", promptcache.WireAnthropic, anthropic(`{"role":"tool","content":"x"}`), []string{"role at messages.0"}},
		{"one answer is missing", promptcache.WireAnthropic, anthropic(use + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}]}`), []string{"tool_use_unanswered at messages.1"}},
		{"no answer at all", promptcache.WireAnthropic, anthropic(use[:len(use)-1]), []string{"tool_use_unanswered at messages.1"}},
		{"an answer too many", promptcache.WireAnthropic, anthropic(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}]}`), []string{"tool_result_unasked at messages.0.content.0"}},
		{"an answer twice", promptcache.WireAnthropic, anthropic(use + strings.Replace(both, `]}`, `,{"type":"tool_result","tool_use_id":"a"}]}`, 1)), []string{"tool_result_twice at messages.2.content.2"}},
		{"text before an answer", promptcache.WireAnthropic, anthropic(use + strings.Replace(both, `[{`, `[{"type":"text","text":"t"},{`, 1)), []string{"tool_result_order at messages.2.content.1", "tool_result_order at messages.2.content.2"}},
		{"an id twice", promptcache.WireAnthropic, anthropic(use + both + `,` + use[strings.Index(use, `{"role":"assistant`):] + both), []string{"tool_use_ids at messages.3.content.0", "tool_use_ids at messages.3.content.1"}},
		{"empty text", promptcache.WireAnthropic, anthropic(`{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":" \n"}]}`), []string{"empty_text at messages.0.content.0", "empty_text at messages.0.content.1"}},
		{"empty string", promptcache.WireAnthropic, anthropic(`{"role":"user","content":""}`), []string{"empty_message at messages.0"}},
		{"empty last assistant message", promptcache.WireAnthropic, anthropic(`{"role":"user","content":"a"},{"role":"assistant","content":[]}`), nil},
		{"empty nested text", promptcache.WireAnthropic, anthropic(use + strings.Replace(both, `"x"`, `[{"type":"text","text":""}]`, 1)), []string{"empty_text at messages.2.content.0.content.0"}},
		{"breakpoint on empty text", promptcache.WireAnthropic, anthropic(`{"role":"user","content":[{"type":"text","text":"",` + markC + `}]}`), []string{"breakpoint_on_empty_text at messages.0.content.0"}},
		{"breakpoint on thinking", promptcache.WireAnthropic, anthropic(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s",` + markC + `}]}`), []string{"breakpoint_on_thinking at messages.1.content.0"}},
		{"five breakpoints", promptcache.WireAnthropic, `{"tools":[{"name":"a",` + mark1h + `}],"system":[{"type":"text","text":"s",` + markC + `}],` + markC + `,"messages":[{"role":"user","content":[{"type":"text","text":"a",` + markC + `},{"type":"text","text":"b",` + markC + `}]}]}`, []string{"breakpoint_budget at "}},
		{"an hour after five minutes", promptcache.WireAnthropic, `{"messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark1h + `}]}],"system":[{"type":"text","text":"s",` + markC + `}]}`, []string{"breakpoint_order at messages.0.content.0"}},
		{"breakpoint of a wrong shape", promptcache.WireAnthropic, anthropic(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"2h"}},{"type":"text","text":"a","cache_control":{"type":"persistent"}}]}`), []string{"breakpoint_shape at messages.0.content.0", "breakpoint_shape at messages.0.content.1"}},
		{"breakpoint on a deferred tool", promptcache.WireAnthropic, `{"tools":[{"name":"a","defer_loading":true,` + markC + `},{"name":"a"}],"messages":[{"role":"user","content":"x"}]}`, []string{"breakpoint_deferred_tool at tools.0", "tool_names at tools.1"}},
		{"thinking left out", promptcache.WireAnthropic, strings.Replace(anthropic(use+both), `{"model"`, `{"thinking":{"type":"enabled","budget_tokens":2000},"model"`, 1), []string{"thinking_missing at messages.1.content.0"}},

		{"chat", promptcache.WireChat, `{"messages":[{"role":"system","content":"s"},{"role":"assistant","content":null,"tool_calls":[{"id":"a"},{"id":"b"}]},{"role":"tool","tool_call_id":"b","content":""},{"role":"tool","tool_call_id":"a","content":[]}]}`, nil},
		{"chat, unanswered", promptcache.WireChat, `{"messages":[{"role":"assistant","tool_calls":[{"id":"a"},{"id":"b"}]},{"role":"tool","tool_call_id":"b","content":""},{"role":"user","content":"x"}]}`, []string{"tool_calls_unanswered at messages.[0].tool_calls"}},
		{"chat, unasked", promptcache.WireChat, `{"messages":[{"role":"tool","tool_call_id":"b","content":""}]}`, []string{"tool_message_unasked at messages.[0]"}},
		{"chat, wrong id", promptcache.WireChat, `{"messages":[{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"tool","tool_call_id":"b","content":""}]}`, []string{"tool_message_id at messages.[1]", "tool_calls_unanswered at messages.[0].tool_calls"}},
		{"chat, null content and role", promptcache.WireChat, `{"messages":[{"role":"user","content":null},{"role":"robot","content":"x"},{"role":"assistant"}]}`, []string{"content at messages.[0].content", "role at messages.[1].role", "content at messages.[2].content"}},

		{"responses", promptcache.WireResponses, `{"input":[{"role":"user","content":"x"},{"type":"reasoning"},{"type":"function_call","call_id":"a"},{"type":"custom_tool_call","call_id":"a"},{"type":"custom_tool_call_output","call_id":"a","output":"x"},{"type":"function_call_output","call_id":"a","output":[]}]}`, nil},
		{"responses, a string", promptcache.WireResponses, `{"input":"x"}`, nil},
		{"responses, unanswered", promptcache.WireResponses, `{"input":[{"type":"function_call","call_id":"a"},{"type":"custom_tool_call_output","call_id":"a","output":"x"}]}`, []string{"output_unasked at input[1]", "call_unanswered at input[0]"}},
		{"responses, output before its call", promptcache.WireResponses, `{"input":[{"type":"function_call_output","call_id":"a","output":"x"},{"type":"function_call","call_id":"a"}]}`, []string{"output_unasked at input[0]", "call_unanswered at input[1]"}},
		{"responses, the call is held by the provider", promptcache.WireResponses, `{"previous_response_id":"r","input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`, nil},
		{"responses, no output", promptcache.WireResponses, `{"input":[{"type":"function_call","call_id":"a"},{"type":"function_call_output","call_id":"a"}]}`, []string{"output at input[1].output"}},
		{"responses, no input", promptcache.WireResponses, `{}`, []string{"input at input"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, v := range Validate(tc.wire, []byte(tc.body)) {
				got = append(got, v.Rule+" at "+v.Where)
				if v.Message == "" {
					t.Errorf("%s says nothing", v.Rule)
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestAdded(t *testing.T) {
	broken := anthropic(use + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}]}`)
	if got := Added(promptcache.WireAnthropic, []byte(broken), []byte(broken)); got != nil {
		t.Errorf("what was broken before is not added: %v", got)
	}
	worse := strings.Replace(broken, `"go"`, `""`, 1)
	got := Added(promptcache.WireAnthropic, []byte(broken), []byte(worse))
	if len(got) != 1 || got[0].Rule != "empty_message" {
		t.Errorf("got %v", got)
	}
}

func TestAltered(t *testing.T) {
	body := anthropic(use + both + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"done"}]},{"role":"user","content":"more"}`)
	responses := `{"input":[{"role":"user","content":[{"type":"input_text","text":"x"}]},{"type":"reasoning","encrypted_content":"e"},{"type":"function_call_output","call_id":"a","output":"long"},{"type":"odd","v":1}]}`
	for _, tc := range []struct {
		name, body, old, new string
		wire                 promptcache.Wire
		want                 string
	}{
		{"nothing", body, "", "", promptcache.WireAnthropic, ""},
		{"a result's text", body, `"content":"x"`, `"content":"y"`, promptcache.WireAnthropic, ""},
		{"a breakpoint moved", body, `"text":"done"`, `"text":"done","cache_control":{"type":"ephemeral"}`, promptcache.WireAnthropic, ""},
		{"thinking", body, `"thinking":"t"`, `"thinking":"u"`, promptcache.WireAnthropic, "assistant_altered"},
		{"a call", body, `"input":{}`, `"input":{"a":1}`, promptcache.WireAnthropic, "assistant_altered"},
		{"an id", body, `"tool_use_id":"b"`, `"tool_use_id":"c"`, promptcache.WireAnthropic, "ids_altered"},
		{"an error flag", body, `"is_error":true`, `"is_error":false`, promptcache.WireAnthropic, "ids_altered"},
		{"a role", body, `{"role":"user","content":"more"}`, `{"role":"system","content":"more"}`, promptcache.WireAnthropic, "ids_altered"},
		{"a message gone", body, `,{"role":"user","content":"more"}`, ``, promptcache.WireAnthropic, "message_count"},
		{"a block gone", body, `,{"type":"tool_result","tool_use_id":"a","is_error":true}`, ``, promptcache.WireAnthropic, "block_count"},
		{"broken json", body, `]}`, `]`, promptcache.WireAnthropic, "json"},
		{"an output", responses, `"long"`, `"short"`, promptcache.WireResponses, ""},
		{"reasoning", responses, `"e"}`, `"f"}`, promptcache.WireResponses, "assistant_altered"},
		{"an unknown item", responses, `"v":1`, `"v":2`, promptcache.WireResponses, "assistant_altered"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			changed := strings.Replace(tc.body, tc.old, tc.new, 1)
			if tc.old != "" && changed == tc.body {
				t.Fatal("the case changes nothing")
			}
			got := Altered(tc.wire, []byte(tc.body), []byte(changed))
			if tc.want == "" && got != nil || tc.want != "" && !slices.ContainsFunc(got, func(v Violation) bool { return v.Rule == tc.want }) {
				t.Errorf("got %v, want %q", got, tc.want)
			}
		})
	}
}
