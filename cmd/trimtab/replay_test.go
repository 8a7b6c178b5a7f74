package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const replayConversation = `{"id":"small","provider":"anthropic","agent":"tester 1","cache_style":"claude-code-1msg",
"head":{"model":"claude-opus-4-6","max_tokens":5},
"items":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a\nb"}]}],
"turns":[{"n":1,"ts":null},{"n":3,"ts":null}]}`

func replayArgs(t *testing.T) *replayCmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.json")
	if err := os.WriteFile(path, []byte(replayConversation), 0o600); err != nil {
		t.Fatal(err)
	}
	return &replayCmd{Paths: []string{path}}
}

func TestReplayJSON(t *testing.T) {
	c := replayArgs(t)
	c.JSON, c.Preset = true, "off"
	var out bytes.Buffer
	if err := c.Run(&app{ctx: t.Context(), stdout: &out, stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	for i, line := range lines {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		for _, key := range strings.Fields(`turns tokens_before tokens_after bytes_before bytes_after cost_before cost_after
			prefix_violations warm_rewrites invalid_bodies components gates engine_ms_p50 engine_ms_p99`) {
			if _, ok := r[key]; !ok {
				t.Errorf("line %d has no %s", i, key)
			}
		}
		if total, _ := r["total"].(bool); total != (i == 1) || r["turns"] != 2.0 {
			t.Errorf("line %d: %s", i, line)
		}
	}
	if !strings.HasPrefix(lines[0], `{"conversation":"small","provider":"anthropic","agent":"tester 1",`) {
		t.Errorf("first line %s", lines[0])
	}
}

func TestReplayTable(t *testing.T) {
	c := replayArgs(t)
	c.Preset = "off"
	var out bytes.Buffer
	if err := c.Run(&app{ctx: t.Context(), stdout: &out, stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"small", "total of 1", "tester", "engine:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not show %q:\n%s", want, out.String())
		}
	}
}

func TestReplayUsage(t *testing.T) {
	c := replayArgs(t)
	c.Preset = "reckless"
	err := c.Run(&app{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard})
	if u := (usageError{}); !errors.As(err, &u) || !strings.Contains(err.Error(), "conservative") {
		t.Errorf("error %v does not list the presets", err)
	}
	c = replayArgs(t)
	c.Paths = []string{filepath.Join(t.TempDir(), "none")}
	if err := c.Run(&app{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard}); err == nil {
		t.Error("a file that does not exist gave no error")
	}
}
