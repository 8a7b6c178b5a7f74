package gutter_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/gutter"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

var build = componenttest.FromJSON(gutter.New)

func TestGolden(t *testing.T) { componenttest.Golden(t, verify.New(), build) }

func TestBounds(t *testing.T) {
	for _, bad := range []string{`{"every":3}`, `{"every":0}`, `{"minLines":2}`, `{"minLines":10001}`} {
		if _, err := build([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

// read is a read of a file with numbers.
func read() classify.Class {
	call := classify.OfCall("Read", []transcript.Arg{{Name: "file_path", Path: "file_path", Text: "/a/b.go"}}, "")
	return classify.OfResult(call, "", false)
}

// rewrite returns the new text, or the gate.
func rewrite(t testing.TB, settings, text string) (string, pipeline.Gate) {
	t.Helper()
	c, err := build([]byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	b := pipeline.Block{Text: text, Received: text, Parts: 1, Class: read()}
	e, g := c.(pipeline.Pure).Rewrite(b, pipeline.Prefix{})
	if g != "" {
		return text, g
	}
	out := componenttest.Text(e, text)
	b.Text = out
	restored, err := verify.New().Verify(b, pipeline.Prefix{})
	if err != nil || restored != text {
		t.Fatalf("not restored: %v\n%q\n%q\n%q", err, text, out, restored)
	}
	return out, ""
}

func TestGates(t *testing.T) {
	lines := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form+"some text on the line\n", i+1)
		}
		return b.String()
	}
	for _, tc := range []struct {
		name, text string
		want       pipeline.Gate
	}{
		{"long enough", lines(30, "%6d→"), ""},
		{"too short", lines(5, "%6d→"), gutter.GateNoGutter},
		{"no gutter", strings.Repeat("text\n", 30), gutter.GateNoGutter},
		{"mark costs more", lines(6, "%d:"), gutter.GateNoWin},
		{"empty", "", gutter.GateNoGutter},
		{"mark behind a gutter", lines(30, "%6d→") + "    31→[trimtab x]\n", gutter.GateMark},
		{"mark in the middle of a line", lines(30, "%6d→") + "    31→a [trimtab x]\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, g := rewrite(t, `{}`, tc.text); g != tc.want {
				t.Errorf("gate %q, want %q", g, tc.want)
			}
		})
	}
}

// TestShows checks what is shown on a long run: the first, each tenth, the last,
// and nothing else.
func TestShows(t *testing.T) {
	var b strings.Builder
	for n := 995; n <= 1031; n++ {
		fmt.Fprintf(&b, "%6d\tline %c\r\n", n, 'a'+n%26)
	}
	got, g := rewrite(t, `{}`, b.String())
	if g != "" {
		t.Fatal(g)
	}
	lines := strings.Split(got, "\n")
	if lines[0] != "[trimtab lines 995-1031: every 10th number shown]" {
		t.Errorf("mark %q", lines[0])
	}
	for i, line := range lines[1:38] {
		n := 995 + i
		shown := strings.HasPrefix(strings.TrimLeft(line, " "), fmt.Sprint(n, "\t"))
		if want := n == 995 || n%10 == 0 || n == 1031; shown != want {
			t.Errorf("line %d: %q", n, line)
		}
		if padded := strings.HasPrefix(line, " "); padded != (n == 995) {
			t.Errorf("line %d: %q", n, line)
		}
	}
}

// text draws a text with gutters of every form, with lines that look numbered,
// blank lines, carriage returns, jumps and no final terminator.
func text(t *rapid.T) string {
	forms := []string{"%6d→%s", "%6d\t%s", "%d\t%s", "%05d| %s", "%d| %s", "%d. %s", "%d: %s", "%d:%s", "%3d→%s"}
	contents := []string{"", "x", " y", "  z", "12: q", "3→", "7. list", "\tfunc f() {", "8:9", "00012| s", "long text of a line that costs something", "é→"}
	ends := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
	var b strings.Builder
	for range rapid.IntRange(1, 4).Draw(t, "runs") {
		form := rapid.SampledFrom(forms).Draw(t, "form")
		first := rapid.SampledFrom([]int{0, 1, 5, 95, 997, 99995, 123456}).Draw(t, "first")
		for i := range rapid.IntRange(1, 40).Draw(t, "lines") {
			line := fmt.Sprintf(form, first+i, rapid.SampledFrom(contents).Draw(t, "content"))
			if rapid.IntRange(0, 60).Draw(t, "trim") == 0 {
				line = strings.TrimRight(line, " ")
			}
			b.WriteString(line + ends)
		}
		if rapid.Bool().Draw(t, "between") {
			b.WriteString("something between" + ends)
		}
	}
	s := b.String()
	if rapid.Bool().Draw(t, "unterminated") {
		s = strings.TrimSuffix(s, ends)
	}
	return s
}

func TestInverseIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := rapid.SampledFrom([]string{"2", "5", "10", "20"}).Draw(t, "every")
		s := text(t)
		c, err := build([]byte(`{"minLines":3,"every":` + every + `}`))
		if err != nil {
			t.Fatal(err)
		}
		b := pipeline.Block{Text: s, Received: s, Parts: 1, Class: read()}
		e, g := c.(pipeline.Pure).Rewrite(b, pipeline.Prefix{})
		if g != "" {
			return
		}
		var out strings.Builder
		for _, p := range e.Pieces {
			if p.Kind == pipeline.Literal {
				out.WriteString(p.Text)
			} else {
				out.WriteString(s[p.From:p.To])
			}
		}
		b.Text = out.String()
		restored, err := verify.New().Verify(b, pipeline.Prefix{})
		if err != nil || restored != s {
			t.Fatalf("%v\n%q\n%q\n%q", err, s, b.Text, restored)
		}
		if tokens.Estimate(b.Text) >= tokens.Estimate(s) {
			t.Fatalf("no fewer tokens: %q to %q", s, b.Text)
		}
	})
}
