package classify_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/pipeline/classify"
)

func numbered(form string, first int, contents ...string) []string {
	out := make([]string, len(contents))
	for i, c := range contents {
		out[i] = fmt.Sprintf(form, first+i, c)
	}
	return out
}

func TestNumberedRuns(t *testing.T) {
	abc := []string{"a", "", "b", "c", "d", "e", "f"}
	run := func(from, to, first int, sep string, pad byte, width int, regular bool) classify.Numbered {
		return classify.Numbered{From: from, To: to, First: first, Gutter: classify.Gutter{Sep: sep, Pad: pad, Width: width}, Regular: regular}
	}
	join := func(parts ...[]string) (out []string) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	plain := []string{"x", "y", "z"}
	many := make([]string, 20)
	for _, tc := range []struct {
		name  string
		lines []string
		want  []classify.Numbered
	}{
		{"arrows", numbered("%6d→%s", 1, abc...), []classify.Numbered{run(0, 7, 1, "→", ' ', 6, true)}},
		{"tabs without padding", numbered("%d\t%s", 97, abc...), []classify.Numbered{run(0, 7, 97, "\t", 0, 0, true)}},
		{"padding runs out", numbered("%2d\t%s", 97, abc...), []classify.Numbered{run(0, 7, 97, "\t", 0, 0, true)}},
		{"zeros", numbered("%05d| %s", 97, abc...), []classify.Numbered{run(0, 7, 97, "| ", '0', 5, true)}},
		{"dots", numbered("%d. %s", 1, abc...), []classify.Numbered{run(0, 7, 1, ". ", 0, 0, true)}},
		{"colons with a space", numbered("%d: %s", 1, abc...), []classify.Numbered{run(0, 7, 1, ": ", 0, 0, true)}},
		{"a blank line lacks the space", append(numbered("%d: %s", 1, abc...), "8:", "9: x"), []classify.Numbered{run(0, 9, 1, ": ", 0, 0, true)}},
		{"colons alone", numbered("%d:%s", 1, abc...), []classify.Numbered{run(0, 7, 1, ":", 0, 0, true)}},
		{"between other lines", join(plain, numbered("%6d\t%s", 5, abc...), plain), []classify.Numbered{run(3, 10, 5, "\t", ' ', 6, true)}},
		{
			"a jump", join(numbered("%6d\t%s", 5, abc...), numbered("%6d\t%s", 50, abc...)),
			[]classify.Numbered{run(0, 7, 5, "\t", ' ', 6, true), run(7, 14, 50, "\t", ' ', 6, true)},
		},
		{
			"another separator", join(numbered("%d\t%s", 1, abc...), numbered("%d| %s", 8, abc...)),
			[]classify.Numbered{run(0, 7, 1, "\t", 0, 0, true), run(7, 14, 8, "| ", 0, 0, true)},
		},
		{"too short", numbered("%d\t%s", 1, abc[:5]...), nil},
		{"a list in prose", join(numbered("%d. %s", 1, abc...), many), nil},
		{"rows of one file", []string{"3:a", "9:b", "12:c", "13:d", "20:e", "21:f"}, nil},
		{"padding goes wild", join(numbered("%6d\t%s", 1, abc[:4]...), numbered("%d\t%s", 5, abc...)), []classify.Numbered{run(0, 11, 1, "\t", ' ', 6, false)}},
		{"leading zeros", numbered("%03d: %s", 1, abc...), nil},
		{"nothing", nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, classify.NumberedRuns(tc.lines, classify.MinNumbered), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestGutterOfWhatWasWritten: a regular run is what Append writes, and GutterOf
// finds the content again.
func TestGutterOfWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := classify.Gutter{Sep: rapid.SampledFrom([]string{"\t", "→", "| ", ". ", ": "}).Draw(t, "sep")}
		if rapid.Bool().Draw(t, "padded") {
			g.Pad, g.Width = ' ', rapid.IntRange(2, 8).Draw(t, "width")
		}
		first := rapid.IntRange(0, 100000).Draw(t, "first")
		contents := rapid.SliceOfN(rapid.SampledFrom([]string{"", " x", "y", "7: z", "→"}), 6, 30).Draw(t, "contents")
		lines := make([]string, len(contents))
		for i, c := range contents {
			lines[i] = string(g.Append(nil, first+i)) + c
		}
		runs := classify.NumberedRuns(lines, classify.MinNumbered)
		if len(runs) != 1 || runs[0].From != 0 || runs[0].To != len(lines) || !runs[0].Regular || runs[0].Last() != first+len(lines)-1 {
			t.Fatalf("%q: %+v", lines, runs)
		}
		for i, line := range lines {
			start, content := classify.GutterOf(line, runs[0].Gutter, first+i)
			if line[content:] != contents[i] || line[start:content] != fmt.Sprint(first+i)+g.Sep {
				t.Fatalf("%q: %d, %d", line, start, content)
			}
			if !classify.LooksNumbered(line) || !classify.IsGutter(line[:content]) {
				t.Fatalf("%q does not look numbered", line)
			}
			if n, ok := classify.NumberOf(line); !ok || n != first+i {
				t.Fatalf("%q is number %d", line, n)
			}
		}
	})
}

func TestPlaceOfThePath(t *testing.T) {
	c := shell(`cd /r && sed -n '1,5p' src/a.go`)
	if c.Named != "src/a.go" || c.Place.Part != 0 || c.Place.From != 23 || c.Place.To != 31 {
		t.Errorf("%q at %+v", c.Named, c.Place)
	}
	if c := shell(`cat "src/a"'.go'`); c.Named != "src/a.go" || !c.Place.None() {
		t.Errorf("%q at %+v", c.Named, c.Place)
	}
}
