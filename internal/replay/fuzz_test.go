package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Whatever is read as a conversation expands to bodies that are JSON.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id":"c","provider":"anthropic","cache_style":"claude-code-2msg","head":{"model":"m","x":[1.0,"\u00e9"]},"items":[{"role":"user","content":"z"},{"content":[{"type":"thinking"},{"type":"text","text":"a","cache_control":null}]}],"turns":[{"n":2,"ts":1e9,"usage":{"input_tokens":3}}]}`))
	f.Add([]byte(`{"id":"c","provider":"openai-responses","head":{"instructions":"","model":""},"items":[1],"turns":[{"n":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for k := range c.Turns {
			if body := c.Body(k); !json.Valid(body) {
				t.Fatalf("turn %d: %q", k, body)
			}
		}
	})
}

// How many conversations run at once changes nothing but times.
func TestRunDeterministic(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		conversation(t, dir, id, "anthropic", "claude-opus-4-6", 3)
	}
	files, err := Files([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	run := func(workers int) []*Result {
		opt := options(t)
		opt.Workers = workers
		var all []*Result
		total, err := Run(context.Background(), opt, files, func(r *Result) error {
			all = append(all, r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return append(all, total)
	}
	times := cmp.Options{
		cmpopts.IgnoreFields(Result{}, "EngineP50", "EngineP99", "EngineCPUP50", "EngineCPUP99", "EngineMBs"),
		cmpopts.IgnoreUnexported(Result{}),
	}
	if d := cmp.Diff(run(1), run(4), times); d != "" {
		t.Error(d)
	}
}
