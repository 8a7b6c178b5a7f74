package verify

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCuts(t *testing.T) {
	const in = "a\nb\nc\nd\n\ne\nf\n"
	for _, tt := range []struct {
		name, out string
		ok        bool
	}{
		{"nothing", in, true},
		{"a gap", "a\n[trimtab cut 2 lines: x]\nd\n\ne\nf\n", true},
		{"a gap at the end", "a\nb\nc\nd\n[trimtab cut 3 lines: x]\n", true},
		{"one line", "[trimtab cut 1 line: x]\nb\nc\nd\n\ne\nf\n", true},
		{"single lines", "a\n[trimtab cut 3 lines from here on: x]\nc\n\nf\n", true},
		{"both", "a\n[trimtab cut 2 lines from here on: x]\nc\n[trimtab cut 2 lines: y]\ne\n", true},
		{"places", "a\n[trimtab cut 2 lines from here on, same text at: b:1 c:2]\nd\n\ne\nf\n", true},
		{"too few", "a\n[trimtab cut 1 line: x]\nd\n\ne\nf\n", false},
		{"too many", "a\n[trimtab cut 3 lines: x]\nd\n\ne\nf\n", false},
		{"too many single lines", "a\n[trimtab cut 4 lines from here on: x]\nc\n\nf\n", false},
		{"no mark", "a\nd\n\ne\nf\n", false},
		{"another line", "a\nB\nc\nd\n\ne\nf\n", false},
		{"another order", "b\na\nc\nd\n\ne\nf\n", false},
		{"a line more", "a\nb\nc\nd\n\ne\nf\ng\n", false},
		{"before the mark", "a\nc\n[trimtab cut 1 line from here on: x]\nd\n\ne\nf\n", false},
		{"beyond the end", "a\n[trimtab cut 99 lines: x]\n", false},
		{"no number", "a\n[trimtab cut some lines: x]\n", false},
		{"no last newline", strings.TrimSuffix(in, "\n"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := Cuts(in, tt.out); (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := Cuts("x 1\nx 2\ny\n", "x 1\n[trimtab shortened 1 line from here on: x]\n2\ny\n"); err != nil {
		t.Error(err)
	}
	if err := Cuts("x 1\nx 2\ny\n", "x 1\n[trimtab shortened 1 line from here on: x]\nx 3\ny\n"); err == nil {
		t.Error("a line that is no end of the received one was taken for one")
	}
}

func TestCutsWithChecksOfTheirOwn(t *testing.T) {
	for _, tt := range []struct {
		name, in, out string
		ok            bool
	}{
		{"a middle", "abcdefgh\n", "[trimtab shortened 1 line from here on: x]\na...[6 characters cut]...h\n", false}, // longer than before
		{"a middle of a long line", "a" + strings.Repeat("é", 40) + "h\n", "[trimtab shortened 1 line from here on: x]\na...[40 characters cut]...h\n", true},
		{"a wrong number", "a" + strings.Repeat("é", 40) + "h\n", "[trimtab shortened 1 line from here on: x]\na...[41 characters cut]...h\n", false},
		{"another end", "a" + strings.Repeat("é", 40) + "h\n", "[trimtab shortened 1 line from here on: x]\na...[40 characters cut]...i\n", false},
		{"not said", "a" + strings.Repeat("é", 40) + "h\n", "a...[40 characters cut]...h\n", false},
		{"a middle that imitates one", "...[9 characters cut]..." + strings.Repeat("é", 40) + "h\n", "[trimtab shortened 1 line from here on: x]\n...[9 characters cut]......[40 characters cut]...h\n", true},
		{"above", "a\na\na\nb\n", "a\n[trimtab cut 2 lines: the line above, 2 more times]\nb\n", true},
		{"above, once", "a\nb\na\nb\nc\n", "a\nb\n[trimtab cut 2 lines: the 2 lines above, 1 more time]\nc\n", true},
		{"above, but not so", "a\na\nb\nb\n", "a\n[trimtab cut 2 lines: the line above, 2 more times]\nb\n", false},
		{"above, another product", "a\na\na\nb\n", "a\n[trimtab cut 2 lines: the line above, 3 more times]\nb\n", false},
		{"above, at the top", "a\na\na\nb\n", "[trimtab cut 2 lines: the line above, 2 more times]\na\nb\n", false},
		{"same", "a\nb\na\nc\na\n", "a\n[trimtab cut 2 lines from here on: same as the line above]\nb\nc\n", true},
		{"same, but not so", "a\nb\na\nc\nd\n", "a\n[trimtab cut 2 lines from here on: same as the line above]\nb\nc\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := Cuts(tt.in, tt.out); (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Whatever lines are cut, right marks are accepted and a wrong number is not.
func TestCutsOfAnyLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cut := rapid.SliceOfN(rapid.Bool(), 1, 20).Draw(t, "cut")
		n := 0
		for _, c := range cut {
			if c {
				n++
			}
		}
		if n == 0 {
			return
		}
		line := func(i int) string { return rapid.SampledFrom([]string{"a", "b", "", fmt.Sprint(i)}).Draw(t, "line") }
		for _, off := range []int{0, 1} {
			var in, out []string
			marked := false
			for i, c := range cut {
				l := line(i)
				in = append(in, l)
				if !c {
					out = append(out, l)
					continue
				}
				if !marked {
					unit := "lines"
					if n+off == 1 {
						unit = "line"
					}
					out = append(out, fmt.Sprintf("[trimtab cut %d %s from here on: x]", n+off, unit))
					marked = true
				}
			}
			if err := Cuts(strings.Join(in, "\n"), strings.Join(out, "\n")); (err == nil) != (off == 0) {
				t.Fatalf("off by %d: %v", off, err)
			}
		}
	})
}
