package searchfold_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/searchfold"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

var build = componenttest.FromJSON(searchfold.New)

func TestGolden(t *testing.T) { componenttest.Golden(t, verify.New(), build) }

// failer is what rewrite needs of a test.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// block is the result of a search.
func block(text string) pipeline.Block {
	call := componenttest.Command("rg x")
	return pipeline.Block{Text: text, Received: text, Parts: 1, Class: classify.OfResult(call, text, false)}
}

// rewrite returns the new text or the gate, and checks the inverse.
func rewrite(t failer, text string) (string, pipeline.Gate) {
	t.Helper()
	c, err := build([]byte(`{}`))
	if err != nil {
		t.Fatalf("%v", err)
	}
	b := block(text)
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
	for _, tc := range []struct {
		name, text string
		want       pipeline.Gate
	}{
		{"no path", "hello\nworld\n", searchfold.GateShape},
		{"nothing repeats", "a/b.go:1:x\nc/d.go:2:y\n", searchfold.GateNothing},
		{"empty", "", searchfold.GateShape},
		{"head in use in a line", strings.Repeat("/home/dev/projects/nimbus/x is a file\n", 8) + "see \"./y\"\n", searchfold.GateHead},
		{"head in use, indented", strings.Repeat("/home/dev/projects/nimbus/x is a file\n", 8) + "    ./y\n", searchfold.GateHead},
		{"head in use", strings.Repeat("/home/dev/projects/nimbus/x is a file\n", 8) + "./y\n", searchfold.GateHead},
		{"mark", strings.Repeat("a/very/long/path/to/file.go:12:x\n", 8) + "[trimtab x]\n", searchfold.GateMark},
		{"rows", strings.Repeat("a/very/long/path/to/file.go:12:x\n", 8), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, g := rewrite(t, tc.text); g != tc.want {
				t.Errorf("gate %q, want %q", g, tc.want)
			}
		})
	}
}

// rows draws what search tools and lists print, and what looks like it.
func rows(t *rapid.T) string {
	paths := []string{
		"pkg/a.go", "pkg/sub/deep/b.go", "/home/dev/projects/nimbus/src/a.ts", "/home/dev/projects/nimbus/src/b.ts",
		"/home/dev/projects/nimbus/c", "12", "a b.go", "x-1-y.go", "C:\\a.go", "héllo/ü.go", "dir/", "./a", "12:3", "a:1:b", "src/pkg",
	}
	lines := []string{"", "--", "plain text", "12:row like", "7-row like", "\ttabbed", "dir/", "12", "pkg/a.go", "a/b/", "/", "//", ":1:", "-1-"}
	var b strings.Builder
	for range rapid.IntRange(0, 60).Draw(t, "rows") {
		p := rapid.SampledFrom(paths).Draw(t, "path")
		sep := rapid.SampledFrom([]string{":", "-"}).Draw(t, "sep")
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0, 1, 2:
			for range rapid.IntRange(1, 5).Draw(t, "run") {
				fmt.Fprintf(&b, "%s%s%d%s%s\n", p, sep, rapid.IntRange(0, 2000).Draw(t, "n"), sep, rapid.SampledFrom([]string{"", "text", "\tx", "a:1:b"}).Draw(t, "text"))
			}
		case 3, 4:
			fmt.Fprintf(&b, "%s\n", p)
		default:
			fmt.Fprintf(&b, "%s\n", rapid.SampledFrom(lines).Draw(t, "line"))
		}
	}
	s := b.String()
	if rapid.Bool().Draw(t, "unterminated") {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
}

func TestInverseIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rows(t)
		got, g := rewrite(t, s)
		if g == "" && tokens.Estimate(got) >= tokens.Estimate(s) {
			t.Fatalf("no fewer tokens: %q to %q", s, got)
		}
	})
}

// TestWhateverPrintedIt: the same rows fold the same way whatever printed them.
func TestWhateverPrintedIt(t *testing.T) {
	c, err := build([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a/very/long/path/to/file.go:12:x\n", 8)
	for _, line := range []string{"make", "pytest", "git grep x", "a; b", ""} {
		b := block(text)
		b.Class.Call = componenttest.Command(line)
		if _, g := c.(pipeline.Pure).Rewrite(b, pipeline.Prefix{}); g != "" {
			t.Errorf("%q: %s", line, g)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add("a/b.go:1:x\na/b.go:2:y\na/b.go-3-z\n--\n12:q\n")
	f.Add("/home/dev/projects/nimbus/a\n/home/dev/projects/nimbus/b/c\n/home/dev/projects/nimbus/b/d\n/home/dev/projects/nimbus/e\n")
	f.Add("x/a\nx/b\n\tx\ny/\n\tz\n")
	f.Fuzz(func(t *testing.T, text string) {
		rewrite(t, text)                      // which restores, or fails
		rewrite(t, strings.Repeat(text, 200)) // long enough to pay
	})
}

func BenchmarkRewrite(b *testing.B) {
	c, err := build([]byte(`{}`))
	if err != nil {
		b.Fatal(err)
	}
	var hits, prose strings.Builder
	for n := 0; hits.Len() < 1<<20; n++ {
		fmt.Fprintf(&hits, "packages/core/src/evaluation/file%d.ts:%d:  const value = compute(%d);\n", n/8, n%1000, n)
	}
	for prose.Len() < 1<<20 {
		prose.WriteString("a line of prose with a/slash and some 12:30 in it, of about the usual length\n")
	}
	for _, tc := range []struct{ name, text string }{{"hits", hits.String()}, {"prose", prose.String()}} {
		b.Run(tc.name, func(b *testing.B) {
			b.SetBytes(int64(len(tc.text)))
			b.ReportAllocs()
			for b.Loop() {
				c.(pipeline.Pure).Rewrite(block(tc.text), pipeline.Prefix{})
			}
		})
	}
}
