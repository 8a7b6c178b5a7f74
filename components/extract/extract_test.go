package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/extract"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func TestGolden(t *testing.T) {
	componenttest.Golden(t, verify.New(), componenttest.FromJSON(extract.New))
}

// rewrite runs the component over the output of a command.
func rewrite(t componenttest.TB, least uint32, command, text string) (string, pipeline.Gate) {
	t.Helper()
	c, err := extract.New(trimtabv1.Fill(&trimtabv1.Extract{MinTokens: proto.Uint32(least)}))
	if err != nil {
		t.Fatalf("%v", err)
	}
	call := componenttest.Command(command)
	b, gate := componenttest.Rewrite(c, call, text, false)
	if gate != "" {
		return text, gate
	}
	if err := verify.Cuts(text, b); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return b, ""
}

const traceback = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g(x)\nValueError: bad\n"

func TestNoise(t *testing.T) {
	bar := func(n int) string {
		return fmt.Sprintf(" %d%%|%s%s| %d/100 [00:%02d<00:20,  3.61it/s]\n", n, strings.Repeat("█", n/10), strings.Repeat(" ", 10-n/10), n, n/3)
	}
	var bars, coverage, bare, drawn strings.Builder
	for i := range 20 {
		bars.WriteString(bar(i * 5))
		fmt.Fprintf(&coverage, "  %d%%   %d%%   1,2%02d\n", 60+i, 70+i, i)
		fmt.Fprintf(&bare, "%d%%\n", i*5)
		fmt.Fprintf(&drawn, "%d%%\r%d%%\r%d%%\n", i, i+1, i+2)
	}
	for _, tt := range []struct{ name, in, want string }{
		{"a block four times", "start\n" + strings.Repeat(traceback, 4) + "end\n", "start\n" + traceback + "[trimtab cut 12 lines: the 4 lines above, 3 more times]\nend\n"},
		{"a block at the end", "start\n" + strings.Repeat(traceback, 4), "start\n" + traceback + "[trimtab cut 12 lines: the 4 lines above, 3 more times]\n"},
		{"a line", "start\n" + strings.Repeat("retrying the request in a moment\n", 9) + "end\n", "start\nretrying the request in a moment\n[trimtab cut 8 lines: the line above, 8 more times]\nend\n"},
		{"carriage returns", strings.Repeat("retrying the request in a moment\r\n", 9) + "x\r\n", "retrying the request in a moment\r\n[trimtab cut 8 lines: the line above, 8 more times]\nx\r\n"},
		{"bars", "loading\n" + bars.String() + "loaded\n", "loading\n[trimtab cut 19 lines: progress]\n" + bar(95) + "loaded\n"},
		{"drawn over", "loading\n" + drawn.String() + "loaded\n", "loading\n[trimtab cut 19 lines: progress]\n19%\r20%\r21%\nloaded\n"},
		{"blank lines", "a\n" + strings.Repeat("\n", 30) + "b\n\n\nc\n", "a\n\n[trimtab cut 30 lines from here on: blank lines]\nb\n\nc\n"},
		{"rows with percentages", "Name  Stmts\n" + coverage.String(), ""},
		{"percentages alone", "rates\n" + bare.String(), ""},
		{"a table between bars", "rates\n" + strings.Repeat("| 12% | 34% |\n| 13% | 35% |\n", 20), ""},
		{"a rule", "x\n" + strings.Repeat("━━━━━━━━\ny\n", 1) + "z\n", ""},
		{"CSV", "h\n" + strings.Repeat("1,2,3,4\n", 30), ""},
		{"few blank lines", "a\n\n\n\nb\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.in
			}
			if got, gate := rewrite(t, 1, "make", tt.in); got != tt.want {
				t.Errorf("gate %q:\n%s\nwant:\n%s", gate, got, tt.want)
			}
		})
	}
}

func TestGates(t *testing.T) {
	noise := strings.Repeat("retrying the request in a moment\n", 90)
	for _, tt := range []struct {
		command, text string
		gate          pipeline.Gate
	}{
		{"make", noise, ""},
		{"cat f", noise, extract.GateKind},
		{"make; cat f", noise, extract.GateKind},
		{"grep x f", noise, extract.GateKind},
		{"xxd f", noise, extract.GateKind},
		{"make", "Exit code 1\n" + noise, extract.GateFailed},
		{"make", "ok\n", extract.GateSmall},
		{"make", "@@ -1 +1 @@\n" + noise, extract.GateShape},
		{"make", "[trimtab x]\n" + noise, extract.GateMark},
		{"make", strings.Repeat("a\nb\na\nc\n", 1) + "and " + strings.Repeat("word ", 400), extract.GateNothing},
	} {
		if _, gate := rewrite(t, 300, tt.command, tt.text); gate != tt.gate {
			t.Errorf("%s, %.20q: gate %q, want %q", tt.command, tt.text, gate, tt.gate)
		}
	}
}

// Whatever the text: the marks account for what is missing (rewrite checks that),
// and a second run changes nothing.
func TestAnyText(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"", "", "   ", "retrying the request", "Downloading x", "error: no such file", "  indented line", " 45%|████▌     | 45/100 [00:12<00:15,  3.61it/s]", "10%\r20%\r30%", "}", "[trimtab", "end\r",
	})
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for range rapid.IntRange(0, 12).Draw(t, "runs") {
			block := rapid.SliceOfN(piece, 1, 4).Draw(t, "block")
			for range rapid.SampledFrom([]int{1, 1, 2, 9, 30}).Draw(t, "times") {
				lines = append(lines, block...)
			}
		}
		text := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		got, gate := rewrite(t, 1, "make", text)
		if gate != "" {
			return
		}
		if again, gate := rewrite(t, 1, "make", got); gate == "" {
			t.Fatalf("%q changed again to %q", got, again)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	f.Add("start\n" + strings.Repeat(traceback, 4))
	f.Add(strings.Repeat(" 45%|████▌     | 45/100\n", 9) + strings.Repeat("\n", 40) + "x")
	f.Add(strings.Repeat("10%\r20%\n", 9))
	f.Fuzz(func(t *testing.T, text string) { rewrite(t, 1, "make", text) })
}

func BenchmarkRewrite(b *testing.B) {
	c, _ := extract.New(trimtabv1.Fill(&trimtabv1.Extract{}))
	var text strings.Builder
	for i := range 12000 {
		fmt.Fprintf(&text, "%d.%03d started job %d of the long list of jobs\nwaiting for the lock of the package database\n", i/10, i*7%1000, i)
	}
	call := componenttest.Command("make")
	block := pipeline.Block{Text: text.String(), Received: text.String(), Parts: 1, Class: classify.OfResult(call, text.String(), false)}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		c.Rewrite(block, pipeline.Prefix{})
	}
}
