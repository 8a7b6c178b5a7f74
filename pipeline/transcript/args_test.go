package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// argumentsOf are the arguments of the one call of a body, given as JSON.
func argumentsOf(t interface {
	Helper()
	Fatalf(string, ...any)
}, nested bool, args string,
) []transcript.Arg {
	t.Helper()
	path, body := transcript.Anthropic, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Write","input":`+args+`}]}]}`
	if nested {
		inner, err := json.Marshal(args)
		if err != nil {
			t.Fatalf("%v", err)
		}
		path, body = transcript.OpenAIResponses, `{"input":[{"type":"function_call","call_id":"a","name":"Write","arguments":`+string(inner)+`}]}`
	}
	tr, err := transcript.Parse(path, []byte(body))
	if err != nil || len(tr.Calls) != 1 {
		t.Fatalf("%s: %v", body, err)
	}
	out, freeform := tr.Arguments(0)
	if freeform != "" {
		t.Fatalf("freeform %q", freeform)
	}
	return out
}

// TestKeysThatStandTwice: readers differ in which of two equal keys counts, so
// such arguments are not read, wherever the two stand and however they are
// spelled.
func TestKeysThatStandTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "keys")
		twice := rapid.Bool().Draw(t, "twice")
		var members []string
		for i := range n {
			members = append(members, fmt.Sprintf(`"key%d":"text %d"`, i, i))
		}
		if twice {
			i := rapid.IntRange(0, n-1).Draw(t, "which")
			k := fmt.Sprintf("key%d", i)
			spelled := rapid.SampledFrom([]string{k, `\u006b` + k[1:], `\u006B` + k[1:]}).Draw(t, "spelled")
			members = append(members, `"`+spelled+`":`+rapid.SampledFrom([]string{`"other"`, `1`, `null`, `{}`, `"text"`}).Draw(t, "value"))
			members = rapid.Permutation(members).Draw(t, "order")
		}
		args := "{" + strings.Join(members, ",") + "}"
		want := n
		switch rapid.IntRange(0, 2).Draw(t, "depth") {
		case 1:
			args, want = `{"path":"a","edits":[{"x":"y"},`+args+`]}`, n+2
		case 2:
			args, want = `{"a":`+args+`,"key0":"z"}`, n+1
		}
		if twice {
			want = 0
		}
		if got := argumentsOf(t, rapid.Bool().Draw(t, "nested"), args); len(got) != want {
			t.Fatalf("%s: %d arguments, want %d", args, len(got), want)
		}
	})
}
