package replay

import (
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

type warmStep struct {
	at                  float64
	received, forwarded string
	rewritten           int
	cold                bool
}

func TestWarmRewrites(t *testing.T) {
	const (
		one   = `{"system":"s","messages":[{"role":"user","content":"long"}]}`
		mark  = `,"cache_control":{"type":"ephemeral"}`
		long  = `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"long"},{"type":"text","text":"x"}]},{"role":"assistant","content":"y"}]}`
		cut   = `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"cut"},{"type":"text","text":"x"}]},{"role":"assistant","content":"y"}]}`
		hours = `{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":"long"}]}`
	)
	for _, tc := range []struct {
		name  string
		wire  promptcache.Wire
		steps []warmStep
	}{
		{"the same again", promptcache.WireAnthropic, []warmStep{{0, long, cut, 0, false}, {1, long, cut, 0, false}}},
		{"back to the original", promptcache.WireAnthropic, []warmStep{{0, long, cut, 0, false}, {359, long, long, 1, false}}},
		{"on a cold turn", promptcache.WireAnthropic, []warmStep{{0, long, long, 0, false}, {360, long, cut, 0, true}, {361, long, long, 1, false}}},
		{"an hour was asked for", promptcache.WireAnthropic, []warmStep{{0, hours, hours, 0, false}, {3659, hours, one, 0, false}, {3659 + 3660, hours, hours, 0, true}}},
		{"openai promises five minutes", promptcache.WireChat, []warmStep{{0, long, long, 0, false}, {359, long, cut, 1, false}, {719, long, long, 0, true}}},
		{"breakpoints may move, strings may be blocks", promptcache.WireAnthropic, []warmStep{
			{0, one, one, 0, false},
			{1, one, `{"system":[{"type":"text","text":"s"` + mark + `}],"messages":[{"role":"user","content":[{"type":"text","text":"long"` + mark + `}]}]}`, 0, false},
		}},
		{"the client changed it", promptcache.WireAnthropic, []warmStep{{0, long, cut, 0, false}, {1, cut, long, 0, false}}},
		{"a block more", promptcache.WireAnthropic, []warmStep{
			{0, one, one, 0, false},
			{1, one, `{"system":[{"type":"text","text":"s"},{"type":"text","text":"t"}],"messages":[{"role":"user","content":"long"}]}`, 1, false},
		}},
		{"responses", promptcache.WireResponses, []warmStep{
			{0, `{"input":[{"type":"function_call_output","call_id":"a","output":"long"}]}`, `{"input":[{"type":"function_call_output","call_id":"a","output":"cut"}]}`, 0, false},
			{1, `{"input":[{"type":"function_call_output","call_id":"a","output":"long"},{"role":"user","content":"x"}]}`, `{"input":[{"type":"function_call_output","call_id":"a","output":"long"},{"role":"user","content":"x"}]}`, 1, false},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := Warmth{Wire: tc.wire}
			for i, s := range tc.steps {
				n, cold := w.Turn([]byte(s.received), []byte(s.forwarded), s.at)
				if n != s.rewritten || cold != s.cold {
					t.Errorf("turn %d: %d rewritten, cold %v; want %d, %v", i, n, cold, s.rewritten, s.cold)
				}
			}
		})
	}
}
