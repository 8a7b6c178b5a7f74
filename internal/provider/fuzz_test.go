package provider

import (
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// Any body is judged without a panic, and never against itself.
func FuzzValidate(f *testing.F) {
	f.Add([]byte(anthropic(use + both)))
	f.Add([]byte(`{"messages":[{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"tool","tool_call_id":"a","content":[{}]}]}`))
	f.Add([]byte(`{"previous_response_id":"r","input":[{"type":"function_call","call_id":"a"},{"type":"function_call_output","call_id":"a","output":[1]}],"tools":[{"type":1}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, w := range []promptcache.Wire{promptcache.WireAnthropic, promptcache.WireChat, promptcache.WireResponses} {
			if v := Added(w, body, body); v != nil {
				t.Fatalf("%s: added against itself: %v", w, v)
			}
			// A copy is not the same slice, but it is the same body.
			if v := Altered(w, body, append([]byte{' '}, body...)); v != nil {
				t.Fatalf("%s: altered against itself: %v", w, v)
			}
		}
	})
}
