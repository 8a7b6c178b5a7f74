package linecap_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/linecap"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func TestGolden(t *testing.T) {
	componenttest.Golden(t, verify.New(), componenttest.FromJSON(linecap.New))
}

// rewrite runs the component over the output of a command.
func rewrite(t componenttest.TB, s *trimtabv1.Linecap, command, text string, failed bool) (string, pipeline.Gate) {
	t.Helper()
	c, err := linecap.New(trimtabv1.Fill(s))
	if err != nil {
		t.Fatalf("%v", err)
	}
	call := componenttest.Command(command)
	b, gate := componenttest.Rewrite(c, call, text, failed)
	if gate != "" {
		return text, gate
	}
	if err := verify.Cuts(text, b); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return b, ""
}

// log are n lines that all differ, with repeated among them.
func log(n int, repeated string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d.%03d started job %d\n%s\n", i/10, i*7%1000, i, repeated)
	}
	return b.String()
}

func TestGates(t *testing.T) {
	repeats := log(30, "waiting for the lock of the package database")
	var code strings.Builder
	for i := range 12 {
		fmt.Fprintf(&code, "def f%d(x):\n    return do_something(x)\n        return False\n", i)
	}
	patch := "diff --git a/f b/f\n@@ -1,3 +1,3 @@\n" + strings.Repeat("+ return nil, fmt.Errorf(one)\n", 12) + repeats
	for _, tt := range []struct {
		name, command, text string
		failed              bool
		gate                pipeline.Gate
	}{
		{name: "a log", command: "npm run start", text: repeats},
		{name: "a file", command: "cat app.log", text: repeats, gate: linecap.GateKind},
		{name: "a file among commands", command: "make; cat app.log", text: repeats, gate: linecap.GateKind},
		{name: "a search", command: "make | grep x", text: repeats, gate: linecap.GateKind},
		{name: "data", command: "jq . x.json", text: repeats, gate: linecap.GateKind},
		{name: "a failure", command: "make", text: repeats, failed: true, gate: linecap.GateFailed},
		{name: "a stated failure", command: "make", text: "Exit code 2\n" + repeats, gate: linecap.GateFailed},
		{name: "source of an unknown program", command: "show-it f.py", text: code.String() + repeats[:400], gate: linecap.GateShape},
		{name: "a difference of an unknown program", command: "show-it", text: patch, gate: linecap.GateShape},
		{name: "a mark", command: "make", text: "[trimtab x]\n" + repeats, gate: linecap.GateMark},
		{name: "short", command: "make", text: "ok\n", gate: linecap.GateSmall},
		{name: "nothing", command: "make", text: log(30, "")[:600], gate: linecap.GateNothing},
		{name: "pieces of frames", command: "make", text: log(60, "};]"), gate: linecap.GateNothing},
		{name: "a rule of dashes in a log", command: "make", text: "---\n--- \n" + repeats},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, gate := rewrite(t, &trimtabv1.Linecap{}, tt.command, tt.text, tt.failed); gate != tt.gate {
				t.Errorf("gate %q, want %q", gate, tt.gate)
			}
		})
	}
}

func TestRepeats(t *testing.T) {
	const line = "waiting for the lock of the package database"
	got, _ := rewrite(t, &trimtabv1.Linecap{}, "make", log(30, line), false)
	if n := strings.Count(got, line); n != 4 { // one of the first lines, the first of the others, two of the last
		t.Errorf("%d times:\n%s", n, got)
	}
	if !strings.Contains(got, line+"\n[trimtab cut 26 lines from here on: same as the line above]\n") {
		t.Errorf("no mark:\n%s", got)
	}
	for i := range 30 {
		if want := fmt.Sprintf("started job %d\n", i); !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// Lines that report something have four times the room, and yet an end.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("word and ", 250) // 2,250 characters
	for _, tt := range []struct {
		name, line string
		cut        bool
	}{
		{"noise", long, true},
		{"an error", "error: " + long[:1900], false},
		{"a longer error", "error: " + long, true},
		{"a place", "src/a.go:12: " + long[:1900], false},
		{"a row of JSON", `{"a":1,"url":"https://x/` + long + `"}`, true},
		{"a frame", "    at f (/a/b.js:1:2) " + long[:1900], false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, gate := rewrite(t, &trimtabv1.Linecap{}, "make", "start\n"+tt.line+"\nend\n", false)
			if (gate == "") != tt.cut {
				t.Fatalf("gate %q:\n%s", gate, got)
			}
			if tt.cut && !strings.HasPrefix(got, "start\n[trimtab shortened 1 line from here on: in the middle, where it says so]\n") {
				t.Errorf("no mark:\n%s", got)
			}
		})
	}
	for _, tail := range []string{"Widget.tsx:42:11", "dist/index.mjs", `"line":214`, "src/main.rs:5:9", "server.go:2136", "/very/deep/path/of/a/project/src/internal/pkg/file_test.go:12"} {
		if got, _ := rewrite(t, &trimtabv1.Linecap{}, "make", "a\n"+long+tail+"\n", false); !strings.HasSuffix(got, tail+"\n") {
			t.Errorf("%q is missing: ...%s", tail, got[len(got)-80:])
		}
	}
	// No place is cut in two, whatever the phase.
	for n := range 60 {
		text := "a\n" + strings.Repeat("x", n) + strings.Repeat(" /home/dev/project/src/main.rs:52:9", 60) + "\n"
		got, _ := rewrite(t, &trimtabv1.Linecap{}, "make", text, false)
		for _, w := range strings.Fields(strings.NewReplacer("...[", " ", "]...", " ").Replace(got)) {
			if strings.Contains(w, "/") && w != "/home/dev/project/src/main.rs:52:9" {
				t.Fatalf("phase %d: %q", n, w)
			}
		}
	}
}

// However small the room: valid UTF-8, within the room, and marked.
func TestRoom(t *testing.T) {
	for _, most := range []uint32{1, 2, 5, 11, 12, 20, 100, 500} {
		for _, unit := range []string{"a b", "漢字 ", "é", "😀", "ab"} {
			got, gate := rewrite(t, &trimtabv1.Linecap{MaxLineChars: proto.Uint32(most)}, "make", "x\n"+strings.Repeat(unit, 900)+"\n", false)
			lines := strings.Split(got, "\n")
			if gate != "" || !utf8.ValidString(got) || utf8.RuneCountInString(lines[2]) > max(int(most), 27) {
				t.Errorf("%d, %s: gate %q, %q", most, unit, gate, lines[len(lines)-2])
			}
		}
	}
}

// Whatever the text: the marks account for what is missing (rewrite checks that),
// and a second run changes nothing.
func TestAnyText(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"", "waiting for the lock", "Downloading x", "error: no such file", "  indented line", "12.3 ready to go", "src/a.go:3: unused variable", "}", "größer als zuvor",
		strings.Repeat("word ", 60), strings.Repeat("/a/b/c.go:12 ", 30), strings.Repeat("漢", 200), "...[12 characters cut]..." + strings.Repeat("x", 300), "[trimtab", "end\r",
	})
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for range rapid.IntRange(0, 12).Draw(t, "runs") {
			l := piece.Draw(t, "line")
			for range rapid.SampledFrom([]int{1, 1, 3, 7}).Draw(t, "times") {
				lines = append(lines, l)
			}
		}
		text := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		s := &trimtabv1.Linecap{MinChars: proto.Uint32(0), MaxLineChars: proto.Uint32(rapid.SampledFrom([]uint32{0, 40, 100}).Draw(t, "most"))}
		got, gate := rewrite(t, s, "make", text, false)
		if gate != "" {
			return
		}
		if again, gate := rewrite(t, s, "make", got, false); gate == "" {
			t.Fatalf("%q changed again to %q", got, again)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	f.Add(log(20, "waiting for the lock"), uint32(100))
	f.Add("x\n"+strings.Repeat("word/path:1 ", 90)+"\n", uint32(50))
	f.Add("x\n"+strings.Repeat("漢\xff", 200), uint32(3))
	f.Fuzz(func(t *testing.T, text string, most uint32) {
		rewrite(t, &trimtabv1.Linecap{MinChars: proto.Uint32(0), MaxLineChars: proto.Uint32(most % 1000)}, "make", text, false)
	})
}

func BenchmarkRewrite(b *testing.B) {
	c, _ := linecap.New(trimtabv1.Fill(&trimtabv1.Linecap{}))
	text := log(12000, "waiting for the lock of the package database")
	call := componenttest.Command("make")
	block := pipeline.Block{Text: text, Received: text, Parts: 1, Class: classify.OfResult(call, text, false)}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Rewrite(block, pipeline.Prefix{})
	}
}
