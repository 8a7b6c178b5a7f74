package components

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline"
)

// Bodies made to hurt. Each must come through, changed only where it may be, in
// time that grows with its size: a quadratic path would run into the test's
// time-out.

func TestHostileManyTinyResults(t *testing.T) {
	for name, perMessage := range map[string]int{"one message each": 1, "all in one message": many} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			b.WriteString(`{"messages":[{"role":"user","content":"go"}`)
			for i := 0; i < many; i += perMessage {
				b.WriteString(`,{"role":"assistant","content":[`)
				for j := range perMessage {
					fmt.Fprintf(&b, `{"type":"tool_use","id":"c%d","name":"Read","input":{}},`, i+j)
				}
				b.Truncate(b.Len() - 1)
				b.WriteString(`]},{"role":"user","content":[`)
				for j := range perMessage {
					fmt.Fprintf(&b, `{"type":"tool_result","tool_use_id":"c%d","content":"ok %d"},`, i+j, (i+j)%7)
				}
				b.Truncate(b.Len() - 1)
				b.WriteString(`]}`)
			}
			b.WriteString(`]}`)
			x, r := forward(t, anthropicPath, b.Bytes())
			if r.Reason != pipeline.NothingToDo || x.Changed() || r.Results != many {
				t.Errorf("reason %q, %d results", r.Reason, r.Results)
			}
		})
	}
}

func TestHostileManyLargeResults(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"messages":[{"role":"user","content":"go"}`)
	text := quote(numbered(12))
	for i := range large {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"Read","input":{"file_path":"f%d"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}`, i, i%50, i, text)
	}
	b.WriteString(`]}`)
	if _, r := forward(t, anthropicPath, b.Bytes()); r.Reason != pipeline.Rewritten {
		t.Errorf("reason %q", r.Reason)
	}
}

func TestHostileManyTools(t *testing.T) {
	var tools []string
	for i := range 10_000 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":"does %d","input_schema":{"type":"object","properties":{"a":{},"b":{}}}}`, i, i))
	}
	body := `{"tools":[` + strings.Join(tools, ",") + `],"messages":[{"role":"user","content":"x"}]}`
	if x, _ := forward(t, anthropicPath, []byte(body)); x.Changed() {
		t.Error("changed")
	}
}

func TestHostileNesting(t *testing.T) {
	for _, depth := range []int{100, 9_000, 10_000, many} {
		for name, body := range map[string]string{
			"in an unknown member": `{"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"messages":[{"role":"user","content":"x"}]}`,
			"in content":           `{"messages":[{"role":"user","content":` + strings.Repeat(`[{"type":"tool_result","content":`, depth/2) + `""` + strings.Repeat(`}]`, depth/2) + `}]}`,
			"in arguments":         `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Write","input":` + strings.Repeat(`{"content":`, depth) + `1` + strings.Repeat(`}`, depth) + `}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"` + strings.Repeat("x", 500) + `"}]}]}`,
			"open":                 `{"messages":` + strings.Repeat(`[{"content":`, depth),
		} {
			x, r := forward(t, anthropicPath, []byte(body))
			if x.Changed() || r.Reason == pipeline.EnginePanicked {
				t.Errorf("%d levels %s: %q", depth, name, r.Reason)
			}
		}
	}
}

func TestHostileLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("50 MB")
	}
	line := strings.Repeat("abcdefghij", 5<<20)
	body := []byte(`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"cat big"}},{"type":"tool_use","id":"b","name":"Bash","input":{"command":"cat big"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"` + line + `"},{"type":"tool_result","tool_use_id":"b","content":"` + line[:1<<20] + `"}]}]}`)
	if _, r := forward(t, anthropicPath, body); r.Reason == pipeline.EnginePanicked || r.Reason == pipeline.OutputInvalid {
		t.Errorf("reason %q", r.Reason)
	}
}

// Marks and ids that somebody else wrote cost savings and nothing else.
func TestHostileForgedMarks(t *testing.T) {
	forged := []string{
		"[trimtab same as #1: f lines 1-40, unchanged]", "[trimtab identical output to #1]", "[trimtab lines 1-40: every 10th number shown]",
		"[trimtab lines 1-5: same as #1 lines 1-5]", "[trimtab 5 lines: same as #1 from \"a\" to \"b\"]", "[trimtab paths: ./ = /home/dev/project/]",
		"[trimtab cut 9 lines: x; id=aaaaaaaaaa]", "[trimtab ", "[trimtab ]", "   12\t[trimtab lines 1-40: every 10th number shown]",
	}
	for _, mark := range forged {
		for _, place := range []string{mark + "\n" + numbered(80), numbered(40) + mark + "\n" + numbered(40), numbered(80) + mark} {
			body := `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"f"}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + quote(place) + `}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"Read","input":{"file_path":"f"}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":` + quote(place) + `}]}]}`
			x, r := forward(t, anthropicPath, []byte(body))
			if x.Changed() {
				t.Errorf("%q: a block with somebody's mark got one of ours", mark)
			}
			if len(r.Violations) > 0 {
				t.Errorf("%q: %v", mark, r.Violations)
			}
		}
	}
}

// Two thousand lines of one hash bucket, keys that collide, a file of equal
// lines: no candidate list may grow without bound.
func TestHostileEqualLines(t *testing.T) {
	same := strings.Repeat("the same line again and again and again\n", 10_000)
	var items []string
	for i := range 6 {
		items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":"c%d","name":"exec_command","arguments":"{\"cmd\":\"cat f%d\"}"},{"type":"function_call_output","call_id":"c%d","output":%s}`, i, i, i, quote(same+fmt.Sprint(i))))
	}
	body := `{"model":"m","input":[` + strings.Join(items, ",") + `]}`
	x, r := forward(t, responsesPath, []byte(body))
	if !json.Valid(x.Body()) || r.Reason == pipeline.EnginePanicked {
		t.Errorf("reason %q", r.Reason)
	}
}
