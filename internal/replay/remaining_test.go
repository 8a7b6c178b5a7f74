package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Each different text counts once in Once, and in Sent as often as it is sent;
// results are named by what their call does.
func TestRemaining(t *testing.T) {
	const head = `{"model":"m","max_tokens":5,"tools":[{"name":"Bash","input_schema":{}}],"system":"be good","messages":[{"role":"user","content":"go on"}`
	const call = `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"cd x && git log | head"}},{"type":"tool_use","id":"b","name":"look","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one two three"},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"four"},{"type":"text","text":"five six"}]}]}`
	w := newWeigher(words)
	w.turn(transcript.Anthropic, []byte(head+`]}`))
	w.turn(transcript.Anthropic, []byte(head+call+`]}`))
	w.turn(transcript.Anthropic, []byte(head+call+`]}`))
	w.turn(transcript.Anthropic, []byte(`not understood`))
	got := w.sum
	want := map[string]Share{
		"declarations of tools": {1, 1, 3}, "system prompt": {1, 2, 6}, "user: text": {1, 2, 6},
		"assistant: tool_use":     {2, got["assistant: tool_use"].Once, 2 * got["assistant: tool_use"].Once},
		"result: shell, vcs, git": {1, 3, 6}, "result: other, look": {2, 3, 6},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if names := Largest(got); got[names[0]].Sent < got[names[1]].Sent || len(names) != len(want) {
		t.Error(names)
	}
}
