package backref_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const counted = "; #n counts tool calls from the start]"

// TestMarks holds the wording of each mark, and which lines it stands for.
func TestMarks(t *testing.T) {
	lines := file(60)
	other := append(append(slices.Clone(lines[:20]), "\tinserted()"), lines[20:]...)
	long := strings.Repeat("one very long line, ", 20)
	for _, tc := range []struct {
		name  string
		steps []step
		want  []string // marks of the last result
	}{
		{
			"read again",
			[]step{read("/r/a.go", cat(1, lines)), read("/r/a.go", cat(1, lines))},
			[]string{"[trimtab same as #1: /r/a.go lines 1-60, unchanged" + counted},
		},
		{
			"read again without numbers",
			[]step{read("/r/a.go", bare(lines)), read("/r/a.go", bare(lines))},
			[]string{"[trimtab same as #1: /r/a.go, unchanged" + counted},
		},
		{
			"path that can't be printed",
			[]step{read("/r/ä.go", cat(1, lines)), read("/r/ä.go", cat(1, lines))},
			[]string{"[trimtab same as #1: lines 1-60, unchanged" + counted},
		},
		{
			"nothing that can be printed",
			[]step{read("/r/ä.go", bare(lines)), read("/r/ä.go", bare(lines))},
			[]string{"[trimtab same as #1, unchanged" + counted},
		},
		{
			"final terminator missing",
			[]step{read("/r/a.go", cat(1, lines)), read("/r/a.go", strings.TrimSuffix(cat(1, lines), "\n"))},
			[]string{"[trimtab same as #1: /r/a.go lines 1-60, unchanged" + counted},
		},
		{
			"a command run again",
			[]step{bash("make", bare(lines)), bash("make", bare(lines))},
			[]string{"[trimtab identical output to #1" + counted},
		},
		{
			"a window inside",
			[]step{read("/r/a.go", cat(1, lines)), bash("nl -ba /r/a.go | sed -n 11,40p", cat(11, lines[10:40]))},
			[]string{"[trimtab lines 11-40: same as #1 lines 11-40" + counted},
		},
		{
			"lines moved down",
			[]step{read("/r/a.go", cat(1, lines)), read("/r/a.go", cat(1, other))},
			[]string{"[trimtab lines 1-20: same as #1 lines 1-20" + counted, "[trimtab lines 22-61: same as #1 lines 21-60]"},
		},
		{
			"numbered target, bare anchor",
			[]step{bash("cat /r/a.go", bare(lines)), read("/r/a.go", cat(1, lines))},
			[]string{`[trimtab lines 2-60: same as #1 from "value1 := compute" to "value59 := compute"` + counted},
		},
		{
			"bare target, numbered anchor",
			[]step{read("/r/a.go", cat(1, lines)), bash("cat /r/a.go", bare(lines))},
			[]string{"[trimtab 60 lines: same as #1 lines 1-60" + counted},
		},
		{
			"other form of numbers",
			[]step{read("/r/a.go", form("%d: %s\n", 1, lines)), read("/r/a.go", cat(1, lines))},
			[]string{"[trimtab lines 2-60: same as #1 lines 2-60" + counted},
		},
		{
			"what a write put there",
			[]step{write("/r/a.go", bare(lines)), read("/r/a.go", cat(1, lines))},
			[]string{`[trimtab lines 2-60: same as argument content of call #1 from "value1 := compute" to "value59 := compute"` + counted},
		},
		{
			"bare both",
			[]step{bash("a", "head\n"+bare(lines)), bash("b", bare(lines)+"tail\n")},
			[]string{`[trimtab 60 lines: same as #1 from "value0 := compute" to "value59 := compute"` + counted},
		},
		{
			"a single long line",
			[]step{bash("a", "head\n"+long+"\ntail a\n"), bash("b", "other\n"+long+"\ntail b\n")},
			[]string{`[trimtab 1 line: same as #1 from "one very" to "long line"` + counted},
		},
		{
			"one reference explains for all",
			[]step{bash("a", bare(lines)), bash("a", bare(lines)), bash("b", bare(lines)+"x\n")},
			[]string{`[trimtab 60 lines: same as #1 from "value0 := compute" to "value59 := compute"]`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := play(t, `{}`, tc.steps)
			if d := cmp.Diff(tc.want, marks(got[len(got)-1])); d != "" {
				t.Errorf("marks (-want +got):\n%s\n%s", d, got[len(got)-1])
			}
		})
	}
}

// TestNotReferred holds what is never a target or never an anchor.
func TestNotReferred(t *testing.T) {
	lines := file(60)
	same := func(tool string) step {
		return step{tool: tool, args: map[string]any{"pattern": "x"}, text: bare(lines)}
	}
	failedRun := "Exit code 1\n" + bare(lines)
	for _, tc := range []struct {
		name     string
		settings string
		steps    []step
		paths    []string // which dialects can express it
	}{
		{"an error", `{}`, []step{bash("a", bare(lines)), {tool: "Bash", args: map[string]any{"command": "b"}, text: bare(lines), failed: true}}, dialects[:1]},
		{"a stated exit code", `{}`, []step{bash("a", bare(lines)), bash("b", failedRun)}, nil},
		{"another file", `{}`, []step{read("/r/a.go", cat(1, lines)), read("/r/b.go", cat(1, lines))}, nil},
		{"another file by sed", `{}`, []step{bash("sed -n 1,60p a.go", bare(lines)), bash("cat b.go | head -60", bare(lines))}, nil},
		{"too short", `{}`, []step{bash("a", bare(lines[:8])), bash("b", bare(lines[:8]))}, nil},
		{"too far", `{"maxDistanceTokens":1000}`, []step{bash("a", bare(lines)), bash("x", bare(file(200)[60:])), bash("b", bare(lines))}, nil},
		{"a mark in the text", `{}`, []step{bash("a", bare(lines)), bash("b", bare(lines)+"[trimtab x]\n")}, nil},
		{"a mark behind a gutter", `{}`, []step{read("/a", cat(1, lines)), read("/a", cat(1, append(slices.Clone(lines), "[trimtab x]")))}, nil},
		{"old text of an edit", `{}`, []step{edit("/r/a.go", bare(lines), "x"), bash("b", bare(lines))}, nil},
		{"too few lines", `{}`, []step{bash("a", bare(lines[:3])+bare(lines[50:])), bash("b", bare(lines[:3])+bare(file(90)[60:]))}, nil},
		{"too little saved", `{"minSavedTokens":1000}`, []step{same("Grep"), same("Glob")}, nil},
		{"no line that can be quoted", `{}`, []step{bash("a", strings.Repeat("}\n", 300)), bash("b", strings.Repeat("}\n", 299))}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			paths := tc.paths
			if paths == nil {
				paths = dialects
			}
			for _, path := range paths {
				got := forward(t, engine(t, tc.settings), path, body(path, tc.steps, nil))
				for _, m := range marks(got[len(got)-1]) {
					if strings.Contains(m, "#1") {
						t.Errorf("%s: %s", path, m)
					}
				}
			}
		})
	}
}

func TestErrorsMayBeAnchors(t *testing.T) {
	lines := file(40)
	steps := []step{bash("a", "Exit code 1\n"+bare(lines)), bash("b", bare(lines))}
	got := play(t, `{}`, steps)
	if want := []string{`[trimtab 40 lines: same as #1 from "value0 := compute" to "value39 := compute"` + counted}; !slices.Equal(marks(got[1]), want) {
		t.Errorf("got %q", got[1])
	}
}

func TestCrossPath(t *testing.T) {
	lines := file(60)
	steps := []step{read("/r/a.go", cat(1, lines)), read("/r/b.go", cat(1, lines))}
	if got := play(t, `{"crossPath":true}`, steps); len(marks(got[1])) != 1 || !strings.Contains(got[1], "same as #1: /r/b.go lines 1-60") {
		t.Errorf("got %q", got[1])
	}
	// A relative path may be the same file.
	steps = []step{read("/r/src/a.go", cat(1, lines)), read("src/a.go", cat(1, lines))}
	if got := play(t, `{}`, steps); len(marks(got[1])) != 1 {
		t.Errorf("got %q", got[1])
	}
}

// TestAskedAgain: after two whole references the third read goes out in full,
// and the fourth refers to a full text again or goes out in full.
func TestAskedAgain(t *testing.T) {
	lines := file(60)
	one := read("/r/a.go", cat(1, lines))
	got := play(t, `{}`, []step{one, one, one, one, one})
	for i, want := range []bool{false, true, true, false, true} {
		if has := strings.Contains(got[i], "unchanged"); has != want {
			t.Errorf("read %d refers: %v", i+1, has)
		}
	}
}

// TestChangedTooMuch compares with the latest result of the same call.
func TestChangedTooMuch(t *testing.T) {
	lines := file(60)
	fresh := slices.Clone(lines)
	for i := 10; i < 50; i++ {
		fresh[i] = "\tnew" + lines[i]
	}
	got := play(t, `{}`, []step{read("/r/a.go", cat(1, lines)), read("/r/a.go", cat(1, fresh))})
	if strings.Contains(got[1], "same as") {
		t.Errorf("two thirds changed: %q", got[1])
	}
	got = play(t, `{"maxChangedRatio":0.7}`, []step{read("/r/a.go", cat(1, lines)), read("/r/a.go", cat(1, fresh))})
	if !strings.Contains(got[1], "same as") {
		t.Errorf("got %q", got[1])
	}
	// What was written since is no news: the model wrote it.
	got = play(t, `{}`, []step{read("/r/a.go", cat(1, lines)), write("/r/a.go", strings.Join(fresh, "\n")), read("/r/a.go", cat(1, fresh))})
	if !strings.Contains(got[2], "same as argument content of call #2") {
		t.Errorf("got %q", got[2])
	}
	// A command that names no file is run again for what is new.
	got = play(t, `{}`, []step{bash("make report", strings.Join(lines, "\n")), bash("make report", strings.Join(fresh, "\n"))})
	if !strings.Contains(got[1], "10 lines: same as #1") {
		t.Errorf("got %q", got[1])
	}
	// Lines that moved did not change, though all their numbers did.
	moved := append([]string{"a", "b", "c"}, lines...)
	got = play(t, `{}`, []step{read("/r/a.go", cat(1, lines)), read("/r/a.go", cat(1, moved))})
	if want := "[trimtab lines 4-63: same as #1 lines 1-60" + counted; !slices.Contains(marks(got[1]), want) {
		t.Errorf("got %q", got[1])
	}
}

// TestWordsAroundFiles refers to what a client says around a file, whatever the
// file; the file's own lines are of that file alone.
func TestWordsAroundFiles(t *testing.T) {
	words := "\n<system-reminder>\n" + strings.Repeat("Whenever you read a file, consider what it is for. ", 8) + "\n</system-reminder>\n"
	tall := strings.Repeat("a long line of the file itself ", 8)
	one, two := append(file(20), tall), append([]string{"other"}, append(file(30)[20:], tall)...)
	got := play(t, `{}`, []step{read("/r/a.go", cat(1, one)+words), read("/r/b.go", cat(1, two)+words)})
	if want := "same as #1 from "; !strings.Contains(got[1], want) || !strings.Contains(got[1], tall) {
		t.Errorf("got %q", got[1])
	}
	// Where there are no numbers, nothing tells the file's lines from others.
	got = play(t, `{}`, []step{read("/r/a.go", bare(one)+words), read("/r/b.go", bare(two)+words)})
	if strings.Contains(got[1], "same as") {
		t.Errorf("got %q", got[1])
	}
}

// TestEditedFile keeps two lines on each side of a change literal, and only
// there.
func TestEditedFile(t *testing.T) {
	lines := file(60)
	changed := slices.Clone(lines)
	changed[30] = "\tchanged()"
	deleted := append(slices.Clone(lines[:30]), lines[31:]...)
	for _, tc := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{
			"changed line",
			[]step{read("/r/a.go", cat(1, lines)), edit("/r/a.go", lines[30], changed[30]), read("/r/a.go", cat(1, changed))},
			[]string{"[trimtab lines 1-28: same as #1 lines 1-28" + counted, "[trimtab lines 34-60: same as #1 lines 34-60]"},
		},
		{
			"deleted line",
			[]step{read("/r/a.go", cat(1, lines)), edit("/r/a.go", lines[30], ""), read("/r/a.go", cat(1, deleted))},
			[]string{"[trimtab lines 1-28: same as #1 lines 1-28" + counted, "[trimtab lines 33-59: same as #1 lines 34-60]"},
		},
		{
			"changed by somebody else",
			[]step{read("/r/a.go", cat(1, lines)), edit("/r/b.go", "x", "y"), read("/r/a.go", cat(1, changed))},
			[]string{"[trimtab lines 1-30: same as #1 lines 1-30" + counted, "[trimtab lines 32-60: same as #1 lines 32-60]"},
		},
		{
			"a window of it",
			[]step{read("/r/a.go", cat(1, lines)), edit("/r/a.go", "x", "y"), bash("nl -ba /r/a.go | sed -n 11,40p", cat(11, lines[10:40]))},
			[]string{"[trimtab lines 11-40: same as #1 lines 11-40" + counted},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := play(t, `{}`, tc.steps)
			if d := cmp.Diff(tc.want, marks(got[len(got)-1])); d != "" {
				t.Errorf("marks (-want +got):\n%s\n%s", d, got[len(got)-1])
			}
		})
	}
	t.Run("an edit that failed", func(t *testing.T) {
		e := edit("/r/a.go", "x", "y")
		e.failed = true
		steps := []step{read("/r/a.go", cat(1, lines)), e, read("/r/a.go", cat(1, changed))}
		got := forward(t, engine(t, `{}`), dialects[0], body(dialects[0], steps, nil))
		if !strings.Contains(got[2], "lines 1-30: same as #1 lines 1-30") {
			t.Errorf("got %q", got[2])
		}
	})
}

// TestProviderEdits: nothing may point at what the provider may drop.
func TestProviderEdits(t *testing.T) {
	lines := file(60)
	steps := []step{read("/r/a.go", cat(1, lines)), read("/r/a.go", cat(1, lines))}
	for _, tc := range []struct {
		path  string
		extra map[string]any
	}{
		{"/v1/messages", map[string]any{"context_management": map[string]any{"edits": []any{map[string]any{"type": "clear_tool_uses_20250919"}}}}},
		{"/v1/responses", map[string]any{"truncation": "auto"}},
		{"/v1/responses", map[string]any{"previous_response_id": "resp_1"}},
	} {
		got := forward(t, engine(t, `{}`), tc.path, body(tc.path, steps, tc.extra))
		if strings.Contains(got[1], "same as") {
			t.Errorf("%v: %q", tc.extra, got[1])
		}
	}
}

// TestSituations plays the situations that the page lists. The reader judges
// each; here it only matters that they are played, and that they save.
func TestSituations(t *testing.T) {
	lines := file(120)
	mixed := []string{"tab\tin\tline", "ünïcödé → arrow", "emoji 🙂 here", "", "  ", "12: looks numbered", "\r", "a \"quoted\" \\ back]slash"}
	crlf := strings.ReplaceAll(cat(1, lines), "\n", "\r\n")
	header := append([]string{"// Copyright", "// Licence line one of a long licence text", "// Licence line two of a long licence text", "// Licence line three of a long text", ""}, lines[:20]...)
	diff := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,40 +1,40 @@\n " + strings.Join(lines[:40], "\n ") + "\n"
	rows := func(path string) string {
		var b strings.Builder
		for _, l := range lines[:30] {
			b.WriteString("12:" + l + "\n")
		}
		return path + "\n" + b.String()
	}
	for _, tc := range []struct {
		name  string
		steps []step
		saves bool
	}{
		{"lines moved", []step{read("/a", cat(1, lines)), read("/a", cat(1, append(slices.Clone(lines[60:]), lines[:60]...)))}, true},
		{"renamed file", []step{read("/a", cat(1, lines)), bash("git mv a b", ""), read("/b", cat(1, lines))}, false},
		{"carriage returns", []step{read("/a", crlf), read("/a", crlf), bash("nl -ba /a | head -50", strings.ReplaceAll(cat(1, lines[:50]), "\n", "\r\n"))}, true},
		{"no final terminator", []step{read("/a", strings.TrimSuffix(cat(1, lines), "\n")), read("/a", cat(1, lines)), bash("x", strings.TrimSuffix(bare(lines), "\n"))}, true},
		{"tabs and unicode", []step{read("/a", cat(1, append(mixed, lines...))), bash("cat /a", bare(append(mixed, lines...))), read("/a", cat(1, append(lines, mixed...)))}, true},
		{"ten thousand equal lines", []step{read("/a", cat(1, slices.Repeat([]string{"same"}, 10000))), read("/a", cat(1, slices.Repeat([]string{"same"}, 9999)))}, true},
		{"ten thousand equal bare lines", []step{bash("a", bare(slices.Repeat([]string{"same"}, 10000))), bash("b", bare(slices.Repeat([]string{"same"}, 9999)))}, false},
		{"gutters that jump", []step{bash("nl -ba a | sed -n '1,40p;80,120p'", cat(1, lines[:40])+cat(80, lines[79:])), read("a", cat(1, lines))}, true},
		{"two windows in one result", []step{read("/a", cat(1, lines)), bash("nl -ba /a | sed -n 10,50p; nl -ba /a | sed -n 30,90p", cat(10, lines[9:50])+cat(30, lines[29:90]))}, true},
		{"an anchor with equal numbers twice", []step{bash("nl -ba a | head -60; nl -ba b | head -60", cat(1, lines[:60])+cat(1, lines[60:])), read("b", cat(1, lines[60:]))}, false},
		{"an anchor with some equal numbers", []step{bash("nl -ba a | head -60; nl -ba b | sed -n 50,90p", cat(1, lines[:60])+cat(50, lines[60:100])), bash("nl -ba a | head -40", cat(1, lines[:40]))}, true},
		{"two files with one header", []step{read("/a", cat(1, header)), read("/b", cat(1, header)), bash("cat /a /b", bare(header)+bare(header))}, true},
		{"rows under two headings", []step{bash("rg x", rows("a.go")+rows("b.go")), bash("rg y", rows("b.go")+rows("c.go"))}, true},
		{"parallel reads", []step{read("/a", cat(1, lines)), {tool: "Read", args: map[string]any{"file_path": "/a"}, text: cat(1, lines), joined: true}, read("/a", cat(1, lines[:80]))}, true},
		{"overlapping windows", []step{bash("sed -n 1,60p /a", bare(lines[:60])), bash("sed -n 40,100p /a", bare(lines[39:100])), bash("sed -n 20,110p /a", bare(lines[19:110]))}, true},
		{"a diff five times", []step{bash("git diff", diff), bash("git diff", diff), bash("git diff", diff), bash("git diff", diff), bash("git diff", diff)}, true},
		{"marks quoted in a file", []step{read("/a", cat(1, lines)), read("/notes", cat(1, append([]string{"[trimtab lines 1-9: same as #1 lines 1-9]"}, lines...))), read("/notes", cat(1, append([]string{"[trimtab lines 1-9: same as #1 lines 1-9]"}, lines...)))}, false},
		{"arguments that are escaped", []step{write("/a", "x := \"y\\n\"\n"+bare(lines)+"é \"z\"\n"), read("/a", cat(1, append(append([]string{`x := "y\n"`}, lines...), `é "z"`)))}, true},
		{"edits of one call", []step{{tool: "MultiEdit", args: map[string]any{"file_path": "/a", "edits": []any{
			map[string]any{"old_string": "q", "new_string": bare(lines[:50])}, map[string]any{"old_string": "r", "new_string": bare(lines[40:90])},
		}}, text: "ok"}, read("/a", cat(1, lines))}, true},
		{"mixed separators and paddings", []step{read("/a", form("%d: %s\n", 1, lines)), read("/a", form("%6d→%s\n", 1, lines)), read("/a", form("%05d| %s\n", 1, lines)), read("/a", form("%d. %s\n", 1, lines)), read("/a", form("%d:%s\n", 1, append([]string{"x"}, lines...)))}, true},
		{"grouped rows are no anchors", []step{bash("rg a", form("src/a.go:%d:%s\n", 1, lines)), bash("rg b", form("src/a.go:%d:%s\n", 1, lines[:60]))}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := play(t, `{}`, tc.steps)
			if has := slices.ContainsFunc(got, refers); has != tc.saves {
				t.Errorf("refers: %v\n%s", has, strings.Join(got, "\n----\n"))
			}
		})
	}
}

// refers says that a text has a reference.
func refers(text string) bool {
	return slices.ContainsFunc(marks(text), func(m string) bool {
		return strings.Contains(m, "same as ") || strings.Contains(m, "identical output")
	})
}

// TestCompaction: when the client drops the anchor, what referred to it is sent
// in full; and a subagent's body does not know the main one.
func TestCompaction(t *testing.T) {
	lines := file(60)
	steps := []step{read("/r/a.go", cat(1, lines)), bash("true", "ok"), read("/r/a.go", cat(1, lines))}
	for _, path := range dialects {
		e := engine(t, `{}`)
		if got := forward(t, e, path, body(path, steps, nil)); !strings.Contains(got[2], "unchanged") {
			t.Fatalf("%s: %q", path, got[2])
		}
		if got := forward(t, e, path, body(path, steps[2:], nil)); strings.Contains(got[0], "same as") {
			t.Errorf("%s: the anchor is gone: %q", path, got[0])
		}
	}
}

// TestEscapes: a client may escape more than it must. The forwarded texts are
// the same.
func TestEscapes(t *testing.T) {
	var lines []string
	for _, l := range file(40) {
		lines = append(lines, "<b>"+l+"</b> & more")
	}
	steps := []step{
		read("/r/<a>.html", cat(1, lines)), read("/r/<a>.html", cat(1, lines)), bash("cat x", bare(lines)),
		bash("cat x | head -30", bare(lines[:30])), write("/w", bare(lines[5:])+"new\n"), bash("tail /w", bare(lines[20:])+"new\nnewer\n"),
	}
	escaped := strings.NewReplacer("<", `\u003c`, ">", `\u003E`, "&", `\u0026`, "/", `\/`)
	for _, path := range dialects {
		plain := body(path, steps, nil)
		want := forward(t, engine(t, `{}`), path, plain)
		got := forward(t, engine(t, `{}`), path, []byte(escaped.Replace(string(plain))))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-plain +escaped):\n%s", path, d)
		}
		if len(marks(got[1])) != 1 || !refers(got[3]) {
			t.Errorf("%s: %q", path, got[1])
		}
	}
}

// TestArgumentsThatStandTwice: a model sees one of two arguments of one name, and
// nobody knows which, so nothing points at either; nor does such a call name a
// file, of which two could be meant.
func TestArgumentsThatStandTwice(t *testing.T) {
	text := bare(file(40))
	for _, tc := range []struct{ name, from, to string }{
		{"the text", `"content":`, `"content":"other","content":`},
		{"the text, first", `"file_path":`, `"content":"other","file_path":`},
		{"the path", `"file_path":`, `"file_path":"/r/other.go","file_path":`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := string(body("/v1/messages", []step{write("/r/a.go", text), bash("cat /r/a.go", text)}, nil))
			if got := forward(t, engine(t, `{}`), "/v1/messages", []byte(in)); len(marks(got[1])) != 1 {
				t.Fatalf("without a second: %q", got[1])
			}
			in = strings.Replace(in, tc.from, tc.to, 1)
			if got := forward(t, engine(t, `{}`), "/v1/messages", []byte(in)); got[1] != text {
				t.Errorf("got %q", got[1])
			}
		})
	}
}

// TestFormOfWhatIsLeft: the lines of a result that are left show the form of its
// numbers, or no reference counts on it.
func TestFormOfWhatIsLeft(t *testing.T) {
	lines := make([]string, 24)
	for i := range lines {
		lines[i] = fmt.Sprintf("    body of a function, statement %d, which is long enough to be worth it %d", i, i*17)
	}
	lines[3] = "def unindented(): some more words in here to be long enough"
	for _, format := range []string{"%d:%s\n", "%1d| %s\n", "%2d| %s\n"} {
		got := play(t, `{}`, []step{
			bash("sed -n 1,14p f", bare(lines[:14])),
			{tool: "view", args: map[string]any{"path": "/p/f"}, text: form(format, 1, lines)},
			bash("tail f", "zz\n"+bare(lines[14:])+"xx\n"),
			{tool: "view", args: map[string]any{"path": "/p/f"}, text: "head\n" + form(format, 5, lines[4:])},
		})
		if len(marks(got[1])) == 0 {
			t.Errorf("%q: nothing is hidden: %s", format, got[1])
		}
	}
}

// TestNumbersOfOthers: a number that two lines of a result show names neither,
// however short the other's gutter is.
func TestNumbersOfOthers(t *testing.T) {
	a, b := file(12), file(30)[12:]
	for _, tc := range []struct {
		name  string
		steps []step
		want  []string // marks of the last result that point by number
	}{
		{
			"two windows, the second of five lines",
			[]step{
				bash("cat -n a | sed -n 10,19p; cat -n b | sed -n 12,16p", cat(10, a[:10])+cat(12, b[:5])),
				bash("cat a", "head\n"+bare(a[2:7])+"zzz"+strings.Repeat("y", 300)+"\n"),
			},
			nil,
		},
		{
			"numbers of a list",
			[]step{
				bash("cat -n a; cat list", cat(10, a)+"12. twelve\n"),
				bash("cat a", "head\n"+bare(a)+"zzz"+strings.Repeat("y", 300)+"\n"),
			},
			[]string{"[trimtab 9 lines: same as #1 lines 13-21" + counted},
		},
		{
			"numbers of a list in the target",
			[]step{
				bash("cat -n a", cat(10, a)),
				bash("cat -n a; cat list", cat(10, a)+"12. twelve\n"+strings.Repeat("y", 300)+"\n"),
			},
			[]string{"[trimtab lines 13-21: same as #1 lines 13-21" + counted},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := play(t, `{"minSavedTokens":0,"minChars":0}`, tc.steps)
			var byNumber []string
			for _, m := range marks(got[len(got)-1]) {
				if strings.Contains(m, "same as #1 lines") {
					byNumber = append(byNumber, m)
				}
			}
			if d := cmp.Diff(tc.want, byNumber); d != "" {
				t.Errorf("marks (-want +got):\n%s\n%s", d, got[len(got)-1])
			}
		})
	}
}
