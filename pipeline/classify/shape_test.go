package classify

import (
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

func TestActs(t *testing.T) {
	for command, want := range map[string]bool{
		"make": true, "cd x && npm test": true, "go test ./... 2>&1 | tail -50": true, "some-tool --x": true, "echo a; make": true,
		"cat f": false, "make; cat f": false, "make | grep x": false, "git diff": false, "git log": false, "ls": false, "jq . f": false,
		"echo x": false, "for i in 1 2; do make; done": false, "env": false, "make && ls": false, "echo 'unclosed": false, "cat -n f; make": false,
	} {
		c := OfCall("Bash", []transcript.Arg{{Path: "command", Name: "command", Text: command}}, "")
		if c.Acts() != want {
			t.Errorf("%s: %v", command, !want)
		}
	}
	if c := OfCall("Read", []transcript.Arg{{Path: "path", Name: "path", Text: "f"}}, ""); c.Acts() || !c.ShowsFile() {
		t.Error("a read acts, or shows no file")
	}
}

func TestShapeOf(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       Shape
	}{
		{"a log", strings.Repeat("10:00:01 INFO started, all is well\nready to go\n", 5), Loose},
		{"code", strings.Repeat("func f() {\n\treturn\n}\n", 4), Source},
		{"python", strings.Repeat("def f(x):\n    return x\nprint(1)\n", 4), Source},
		{"a difference", "x\ny\n@@ -1,2 +1,2 @@\n-a\n+b\n", Patch},
		{"CSV", strings.Repeat("1,2,3,4\n", 8), Table},
		{"bars", strings.Repeat("| 12% | 34% | x |\n", 8), Table},
		{"hits", strings.Repeat("src/a.go:12:x\nsrc/b.go:3:y\n", 4), Listing},
		{"times", strings.Repeat("10:00:01 x\n", 8), Loose},
		{"short", "a,b,c\nd,e,f\n", Loose},
		{"empty", "", Loose},
	} {
		if got := ShapeOf(tt.text); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestReporter(t *testing.T) {
	r := NewReporter()
	for line, want := range map[string]bool{
		"error: x": true, "npm ERR! x": true, "0 errors": false, "10 errors": true, "no error found": false, "12 passed": true,
		"all is well": false, "": false, "Exit code 1": true, "Cannot find module": true,
	} {
		if r.In(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
