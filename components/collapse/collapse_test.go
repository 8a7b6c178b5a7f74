package collapse_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/collapse"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func TestGolden(t *testing.T) {
	componenttest.Golden(t, verify.New(), componenttest.FromJSON(collapse.New))
}

// rewrite runs the component over the output of a command.
func rewrite(t componenttest.TB, s *trimtabv1.Collapse, command, text string, failed bool) (string, pipeline.Gate) {
	t.Helper()
	c, err := collapse.New(trimtabv1.Fill(s))
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

// log is a log of n lines; line at is extra.
func log(n, at int, extra string) string {
	var b strings.Builder
	for i := range n {
		if i == at {
			b.WriteString(extra + "\n")
			continue
		}
		fmt.Fprintf(&b, "%d.%03d inserted row %d\n", i/10, i*7%1000, i)
	}
	return b.String()
}

func settings(most, head, tail uint32) *trimtabv1.Collapse {
	return &trimtabv1.Collapse{MaxTokens: proto.Uint32(most), HeadLines: proto.Uint32(head), TailLines: proto.Uint32(tail)}
}

func TestLines(t *testing.T) {
	got, gate := rewrite(t, settings(2000, 20, 20), "make seed", log(2000, -1, ""), false)
	lines := strings.Split(got, "\n")
	if gate != "" || len(lines) != 42 || lines[20] != "[trimtab cut 1960 lines: the middle of a long output]" || !strings.HasSuffix(lines[19], " row 19") || !strings.HasSuffix(lines[21], " row 1980") {
		t.Errorf("gate %q:\n%s", gate, got)
	}
	got, gate = rewrite(t, settings(2000, 20, 20), "make seed", log(2000, 1000, "warning: the pool is almost full"), false)
	if gate != "" || !strings.Contains(got, " row 999\nwarning: the pool is almost full\n") || !strings.Contains(got, "[trimtab cut 978 lines: the middle of a long output]\n") {
		t.Errorf("gate %q:\n%s", gate, got)
	}
	got, gate = rewrite(t, settings(2000, 0, 0), "make seed", log(2000, -1, ""), false)
	if gate != "" || !strings.Contains(got, " row 1999\n") {
		t.Errorf("a mark alone: gate %q:\n%s", gate, got)
	}
}

func TestLongLines(t *testing.T) {
	one := `{"rows":[` + strings.Repeat(`{"id":1,"name":"größer 漢字"},`, 2500) + `1]}`
	for name, text := range map[string]string{
		"one line":           one,
		"a line in the head": "start\n" + one + "\n" + log(39, -1, ""),
		"several":            one + "\n" + one + "\n" + one + "\n",
		"without spaces":     strings.Repeat("漢", 40000),
	} {
		for _, s := range []*trimtabv1.Collapse{settings(2000, 20, 20), settings(2000, 0, 0), settings(200, 3, 1)} {
			got, gate := rewrite(t, s, "curl -s x", text, false)
			if name == "a line in the head" && s.GetHeadLines() == 0 && strings.HasPrefix(got, "[trimtab cut 40 lines") {
				continue // it is none of the lines that stay
			}
			if gate != "" || !utf8.ValidString(got) || !strings.Contains(got, "[trimtab shortened ") || !strings.Contains(got, " characters cut]...") {
				t.Errorf("%s: gate %q: %.300s", name, gate, got)
			}
		}
	}
}

func TestGates(t *testing.T) {
	for _, tt := range []struct {
		name, command, text string
		failed              bool
		gate                pipeline.Gate
	}{
		{name: "a log", command: "make seed", text: log(2000, -1, "")},
		{name: "facts", command: "ps aux", text: log(2000, -1, "")},
		{name: "small", command: "make seed", text: log(20, -1, ""), gate: collapse.GateSmall},
		{name: "a file", command: "cat f", text: log(2000, -1, ""), gate: collapse.GateKind},
		{name: "a file among commands", command: "make; cat f", text: log(2000, -1, ""), gate: collapse.GateKind},
		{name: "a search", command: "grep -r x .", text: log(2000, -1, ""), gate: collapse.GateKind},
		{name: "data", command: "jq . f", text: log(2000, -1, ""), gate: collapse.GateKind},
		{name: "a list", command: "find .", text: log(2000, -1, ""), gate: collapse.GateKind},
		{name: "a failure", command: "make", text: log(2000, -1, ""), failed: true, gate: collapse.GateFailed},
		{name: "a stated failure", command: "make", text: "Exit code 1\n" + log(2000, -1, ""), gate: collapse.GateFailed},
		{name: "a failed test", command: "go test ./...", text: log(2000, 999, "--- FAIL: TestX (0.00s)"), gate: collapse.GateFailed},
		{name: "a failed build", command: "make", text: log(2000, 999, "main.c:3:1: error: expected ';'"), gate: collapse.GateFailed},
		{name: "a difference", command: "some-tool", text: log(2000, 999, "@@ -1 +1 @@"), gate: collapse.GateShape},
		{name: "source", command: "some-tool", text: strings.Repeat("def f(x):\n    return g(x)\n", 1000), gate: collapse.GateShape},
		{name: "a mark", command: "make", text: log(2000, 999, "[trimtab x]"), gate: collapse.GateMark},
		{name: "everything reports", command: "make", text: strings.Repeat("warning: x is unused\nsee above\n", 1000), gate: collapse.GateLittle},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, gate := rewrite(t, &trimtabv1.Collapse{}, tt.command, tt.text, tt.failed); gate != tt.gate {
				t.Errorf("gate %q, want %q", gate, tt.gate)
			}
		})
	}
}

// A mark of an earlier component stays where it is.
func TestMarksOfOthersStay(t *testing.T) {
	received := log(2000, 1000, "Downloading x")
	text := strings.Replace(received, "Downloading x\n", "[trimtab cut 1 line: progress]\n", 1)
	c, err := collapse.New(trimtabv1.Fill(&trimtabv1.Collapse{}))
	if err != nil {
		t.Fatal(err)
	}
	call := componenttest.Command("make")
	e, gate := c.Rewrite(pipeline.Block{Text: text, Received: received, Parts: 1, Class: classify.OfResult(call, received, false)}, pipeline.Prefix{})
	b := componenttest.Text(e, text)
	if err := verify.Cuts(received, b); err != nil || gate != "" || strings.Count(b, "[trimtab ") != 3 {
		t.Errorf("gate %q, %v:\n%s", gate, err, b)
	}
}

// Whatever the text: the marks account for what is missing (rewrite checks that),
// what reports something stays, and a second run changes nothing.
func TestAnyText(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"", "inserted a row", "warning: almost full", "  indented", strings.Repeat("long ", 500), strings.Repeat("漢", 900), "...[9 characters cut]..." + strings.Repeat("x", 1500), "[trimtab", "end\r",
	})
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for range rapid.IntRange(0, 12).Draw(t, "runs") {
			l := piece.Draw(t, "line")
			for range rapid.SampledFrom([]int{1, 1, 3, 40}).Draw(t, "times") {
				lines = append(lines, l)
			}
		}
		text := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		s := settings(200, uint32(rapid.IntRange(0, 5).Draw(t, "head")), uint32(rapid.IntRange(0, 5).Draw(t, "tail")))
		got, gate := rewrite(t, s, "make", text, false)
		if gate != "" {
			return
		}
		if strings.Count(got, "warning: almost full") != strings.Count(text, "warning: almost full") {
			t.Fatalf("a warning is missing:\n%s", got)
		}
		if again, gate := rewrite(t, s, "make", got, false); gate == "" {
			t.Fatalf("%q changed again to %q", got, again)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	f.Add(log(200, 100, "warning: x"), uint32(5), uint32(5))
	f.Add(strings.Repeat("漢 \xff", 3000), uint32(0), uint32(0))
	f.Add("\n\nx\n"+strings.Repeat("word/path:1 ", 900), uint32(1), uint32(0))
	f.Fuzz(func(t *testing.T, text string, head, tail uint32) {
		rewrite(t, settings(200, head%100, tail%100), "make", text, false)
	})
}

func BenchmarkRewrite(b *testing.B) {
	c, _ := collapse.New(trimtabv1.Fill(&trimtabv1.Collapse{}))
	text := log(40000, -1, "")
	call := componenttest.Command("make")
	block := pipeline.Block{Text: text, Received: text, Parts: 1, Class: classify.OfResult(call, text, false)}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Rewrite(block, pipeline.Prefix{})
	}
}
