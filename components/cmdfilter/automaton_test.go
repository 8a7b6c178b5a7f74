package cmdfilter

import (
	"testing"

	"pgregory.net/rapid"
)

// patternsOf are all expressions of the built-in filters.
func patternsOf(t testing.TB) (list []*pattern) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	add := func(more ...[]*pattern) {
		for _, ps := range more {
			list = append(list, ps...)
		}
	}
	for _, f := range set.filters {
		add(f.delegate, f.verbatimIf, f.needs, f.fails, f.keeps)
		for i := range f.stages {
			s := &f.stages[i]
			add(s.from, s.to, s.re, s.unless, s.start, s.end, s.until, s.while, s.has, s.reset)
		}
		for i := range f.match {
			add(f.match[i].output)
		}
	}
	return list
}

// A table finds what package regexp finds, in lines of fixtures and in pieces of
// them put together, with characters outside ASCII and broken ones.
func TestTablesMatchLikeRegexp(t *testing.T) {
	patterns := patternsOf(t)
	var lines []string
	_, archives, err := FixtureFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range archives {
		fixtures, err := ReadFixtures(data)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, f := range fixtures {
			for _, l := range split(f.Input) {
				if key := string(maskNumbers.masked(nil, l.view)); !seen[key] {
					seen[key] = true
					lines = append(lines, l.view)
				}
			}
		}
	}
	for _, p := range patterns {
		a := p.table()
		for _, l := range lines {
			if a != nil && p.may(l) && a.match(l) != p.re.MatchString(l) {
				t.Fatalf("%q on %q: the table says %v", p.source, l, a.match(l))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(patterns).Draw(t, "pattern")
		a := p.table()
		if a == nil {
			t.Skip("no table")
		}
		one, two := rapid.SampledFrom(lines).Draw(t, "one"), rapid.SampledFrom(lines).Draw(t, "two")
		odd := rapid.SampledFrom([]string{"", "K", "ß", "✓", "\xff", "\xe2\x9c", "\u00a0", "漢", "\U0010ffff", "\ufffd", " "}).Draw(t, "odd")
		i, j := rapid.IntRange(0, len(one)).Draw(t, "i"), rapid.IntRange(0, len(two)).Draw(t, "j")
		for _, s := range []string{one, one[:i] + odd + two[j:], odd + one, one + odd} {
			if got, want := a.match(s), p.re.MatchString(s); got != want {
				t.Fatalf("%q on %q: table says %v, regexp %v", p.source, s, got, want)
			}
		}
	})
	n := 0
	for _, p := range patterns {
		if p.table() == nil {
			n++
		}
	}
	t.Logf("%d of %d expressions have no table", n, len(patterns))
}
