package classify_test

import (
	"os"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// names reads testdata/names.txt: a name and its kind on each line.
func names(t *testing.T) [][2]string {
	t.Helper()
	b, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out [][2]string
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] != "#" {
			out = append(out, [2]string{f[0], f[1]})
		}
	}
	return out
}

// usual gives the arguments that support a tool whose bare name is a verb.
func usual(name string) []transcript.Arg {
	switch name {
	case "create", "replace", "patch":
		return []transcript.Arg{{Name: "path", Path: "path", Text: "a.go"}, {Name: "content", Path: "content", Text: "x"}}
	case "insert", "write", "Write", "edit", "Edit", "forge_write", "fs_write", "fsWrite", "fsAppend":
		return []transcript.Arg{{Name: "content", Path: "content", Text: "x"}}
	}
	return nil
}

func TestKindOfRealToolNames(t *testing.T) {
	table := names(t)
	if len(table) < 150 {
		t.Fatalf("only %d names", len(table))
	}
	for _, row := range table {
		if got := classify.OfCall(row[0], usual(row[0]), "").Kind.String(); got != row[1] {
			t.Errorf("%s: %s, want %s (segments %q)", row[0], got, row[1], classify.Segments(row[0]))
		}
	}
}

func TestKindIgnoresCaseAndVendor(t *testing.T) {
	for _, row := range names(t) {
		args := usual(row[0])
		want := classify.OfCall(row[0], args, "").Kind
		variants := []string{strings.ToLower(row[0]), strings.ToUpper(row[0])}
		if !strings.Contains(row[0], "__") && !strings.HasPrefix(row[0], "_") {
			variants = append(variants, "mcp__some_server__"+row[0], "functions."+row[0])
		}
		for _, v := range variants {
			if got := classify.OfCall(v, args, "").Kind; got != want {
				t.Errorf("%s: %s, but %s: %s", row[0], want, v, got)
			}
		}
	}
}

func TestKindByArguments(t *testing.T) {
	arg := func(name, text string) transcript.Arg { return transcript.Arg{Name: name, Path: name, Text: text} }
	for _, tc := range []struct {
		name string
		tool string
		args []transcript.Arg
		want classify.Kind
	}{
		{"command", "frobnicate", []transcript.Arg{arg("command", "ls")}, classify.Shell},
		{"command beside a prompt", "task", []transcript.Arg{arg("command", "ls"), arg("prompt", "do")}, classify.Other},
		{"path", "frobnicate", []transcript.Arg{arg("file_path", "a")}, classify.Read},
		{"path and text", "frobnicate", []transcript.Arg{arg("file_path", "a"), arg("content", "b")}, classify.Edit},
		{"pattern", "frobnicate", []transcript.Arg{arg("pattern", "a"), arg("path", ".")}, classify.Search},
		{"nothing", "frobnicate", nil, classify.Other},
		{"editor views", "str_replace_editor", []transcript.Arg{arg("command", "view"), arg("path", "a")}, classify.Read},
		{"editor creates", "str_replace_editor", []transcript.Arg{arg("command", "create"), arg("path", "a")}, classify.Edit},
		{"adding numbers", "add", []transcript.Arg{{Name: "a", Path: "a", Text: "1", Literal: true}}, classify.Other},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := classify.OfCall(tc.tool, tc.args, "").Kind; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
