package backref_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/components/backref"
	"github.com/trimtab-io/trimtab/components/gutter"
	"github.com/trimtab-io/trimtab/components/searchfold"
	"github.com/trimtab-io/trimtab/internal/reader"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
	"github.com/trimtab-io/trimtab/store"
)

var build = componenttest.FromJSON(backref.New)

// step is one call with its result.
type step struct {
	tool   string
	args   map[string]any
	text   string
	failed bool
	joined bool // in one message with the step before
}

// failer is what a script needs of a test.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// engine runs backref and what runs after it.
func engine(t failer, settings string) *pipeline.Engine {
	t.Helper()
	return engineOf(after(t, settings))
}

// after is backref and what runs after it.
func after(t failer, settings string) []pipeline.Component {
	t.Helper()
	b, err := build([]byte(settings))
	if err != nil {
		t.Fatalf("%v", err)
	}
	g, err := gutter.New(trimtabv1.Fill(&trimtabv1.Gutter{}))
	if err != nil {
		t.Fatalf("%v", err)
	}
	s, err := searchfold.New(trimtabv1.Fill(&trimtabv1.Searchfold{}))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return []pipeline.Component{b, g, s}
}

func engineOf(components []pipeline.Component) *pipeline.Engine {
	e := pipeline.New(pipeline.Options{Secret: []byte("test secret"), Verifier: verify.New()})
	e.Apply([]pipeline.Profile{{Name: "default", Level: store.Off, Components: components}}, "default")
	return e
}

var dialects = []string{"/v1/messages", "/v1/chat/completions", "/v1/responses"}

// body is the request that carries the steps.
func body(path string, steps []step, extra map[string]any) []byte {
	var items []any
	add := func(role string, blocks ...any) {
		items = append(items, map[string]any{"role": role, "content": blocks})
	}
	items = append(items, map[string]any{"role": "user", "content": "go"})
	for i := 0; i < len(steps); {
		j := i + 1
		for j < len(steps) && steps[j].joined {
			j++
		}
		switch path {
		case "/v1/messages":
			var calls, results []any
			for k, s := range steps[i:j] {
				id := fmt.Sprint("t", i+k)
				calls = append(calls, map[string]any{"type": "tool_use", "id": id, "name": s.tool, "input": s.args})
				results = append(results, map[string]any{"type": "tool_result", "tool_use_id": id, "content": s.text, "is_error": s.failed})
			}
			add("assistant", calls...)
			add("user", results...)
		case "/v1/chat/completions":
			var calls []any
			for k, s := range steps[i:j] {
				calls = append(calls, map[string]any{
					"id": fmt.Sprint("t", i+k), "type": "function",
					"function": map[string]any{"name": s.tool, "arguments": encode(s.args)},
				})
			}
			items = append(items, map[string]any{"role": "assistant", "content": nil, "tool_calls": calls})
			for k, s := range steps[i:j] {
				items = append(items, map[string]any{"role": "tool", "tool_call_id": fmt.Sprint("t", i+k), "content": s.text})
			}
		default:
			for k, s := range steps[i:j] {
				items = append(items, map[string]any{"type": "function_call", "call_id": fmt.Sprint("t", i+k), "name": s.tool, "arguments": encode(s.args)})
			}
			for k, s := range steps[i:j] {
				items = append(items, map[string]any{"type": "function_call_output", "call_id": fmt.Sprint("t", i+k), "output": s.text})
			}
		}
		i = j
	}
	req := map[string]any{"model": "m", "messages": items}
	if path == "/v1/responses" {
		req = map[string]any{"model": "m", "input": items}
	}
	for k, v := range extra {
		req[k] = v
	}
	return []byte(encode(req))
}

func encode(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	return strings.TrimSpace(b.String())
}

// forward returns the results as they are forwarded, and checks that nothing was
// reverted and that a reader understands what it understands of the original.
func forward(t failer, e *pipeline.Engine, path string, in []byte) []string {
	t.Helper()
	out := send(t, e, path, in)
	if strings.Contains(string(in), pipeline.MarkStart) {
		return reader.Texts(out) // a reader can't tell a quoted mark from one of ours
	}
	readsAs(t, in, out)
	return reader.Texts(out)
}

// send returns the forwarded body, and checks that nothing was reverted.
func send(t failer, e *pipeline.Engine, path string, in []byte) []byte {
	t.Helper()
	x := e.Rewrite(context.Background(), pipeline.Request{Path: path, Body: in, Now: time.Unix(1_700_000_000, 0)})
	out := slices.Clone(x.Body())
	for _, c := range x.Report().Components {
		if n := c.Gates[pipeline.GateVerify] + c.Gates[pipeline.GateContract] + c.Gates[pipeline.GatePanic]; n > 0 {
			t.Fatalf("component %s: gates %v", c.Name, c.Gates)
		}
	}
	x.Close()
	return out
}

// readsAs checks that a reader understands of one body what it understands of
// another.
func readsAs(t failer, in, out []byte) {
	t.Helper()
	want, err := reader.Read(in)
	if err != nil {
		t.Fatalf("received body: %v", err)
	}
	got, err := reader.Read(out)
	if err != nil {
		t.Fatalf("forwarded body: %v\n%s", err, strings.Join(reader.Texts(out), "\n----\n"))
	}
	for i := range want {
		if !slices.Equal(want[i], got[i]) {
			t.Fatalf("result %d reads otherwise:\n%v\n%v\n%s", i+1, want[i], got[i], reader.Texts(out)[i])
		}
	}
}

// play forwards the steps and each prefix of them, in every dialect, and checks
// that every prefix comes out as a prefix of the whole. It returns the results.
func play(t failer, settings string, steps []step) (texts []string) {
	t.Helper()
	for _, path := range dialects {
		warm := engine(t, settings)
		var last []string
		for k := 1; k <= len(steps); k++ {
			if k < len(steps) && steps[k].joined {
				continue
			}
			got := forward(t, warm, path, body(path, steps[:k], nil))
			for i := range last {
				if got[i] != last[i] {
					t.Fatalf("%s: result %d changed with call %d:\n%s\n%s", path, i+1, k, last[i], got[i])
				}
			}
			last = got
		}
		if cold := forward(t, engine(t, settings), path, body(path, steps, nil)); !slices.Equal(cold, last) {
			t.Fatalf("%s: a fresh engine forwards otherwise", path)
		}
		if texts != nil && !slices.Equal(texts, last) {
			t.Fatalf("%s forwards otherwise than %s:\n%s\n%s", path, dialects[0], strings.Join(texts, "\n----\n"), strings.Join(last, "\n----\n"))
		}
		texts = last
	}
	return texts
}

// file makes n lines that differ.
func file(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("\tvalue%d := compute(%d, \"%c\")", i, i*7, 'a'+i%26)
	}
	return out
}

// cat writes lines with the gutter of cat -n, from a number on.
func cat(first int, lines []string) string { return form("%6d\t%s\n", first, lines) }

func form(f string, first int, lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, f, first+i, l)
	}
	return b.String()
}

func bare(lines []string) string { return strings.Join(lines, "\n") + "\n" }

func read(path, text string) step {
	return step{tool: "Read", args: map[string]any{"file_path": path}, text: text}
}

func bash(command, text string) step {
	return step{tool: "Bash", args: map[string]any{"command": command}, text: text}
}

func write(path, content string) step {
	return step{tool: "Write", args: map[string]any{"file_path": path, "content": content}, text: "File created successfully at: " + path}
}

func edit(path, old, new string) step {
	return step{tool: "Edit", args: map[string]any{"file_path": path, "old_string": old, "new_string": new}, text: "The file " + path + " has been updated."}
}

// marks are the lines of a text that are marks.
func marks(text string) (out []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, pipeline.MarkStart) {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

var _ failer = (*testing.T)(nil)
