package cmdfilter

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

// The cheap tests of an expression never change its answer.
func TestPatternsAnswerAsRE2(t *testing.T) {
	sources := []string{
		`^\s*(Compiling|Checking) `, `^test .+ \.\.\. ok$`, `^a.*b.*c$`, `^a.+b.+c$`, `^.*c$`, `^\t\S+$`, `(?i)warning: x`,
		`^(a|bc)+d`, `\.\.\.+Passed$`, `^\s+\(use "git .+\)$`, `^ä.+$`, `[äö]x`, `^(?i)straße`, `^\d+%`, `^ab.*ab$`, `^a.+a$`, `x\b`, `^a.b$`, `^[^\t]+\t.{3}$`, `(?i)^task ok`, `^a[^a-c]+d$`, `d$`, `ab`, `^(ab|cd|ef)$`, `^\s*$`,
	}
	var ps []*pattern
	for _, s := range sources {
		p, err := newPattern(s)
		if err != nil {
			if !strings.Contains(err.Error(), "tried on every line") {
				t.Errorf("%s: %v", s, err)
			}
			continue
		}
		ps = append(ps, p)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(ps).Draw(t, "pattern")
		var s string
		if rapid.Bool().Draw(t, "like it") {
			s = rapid.StringMatching(p.source).Draw(t, "line")
			s = strings.ReplaceAll(s, "\n", "")
		}
		s += strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", " ", "\t", "ok", ".", "ä", "K", "\u212a", "s", "漢", "\xff", "test ", " ... ok", "Passed"}), 0, 6).Draw(t, "more"), "")
		if want := regexp.MustCompile(p.source).MatchString(s); p.match(s) != want {
			t.Fatalf("%q on %q: %v", p.source, s, !want)
		}
	})
}

// Whatever the stages and the text: the marks account for what is missing, lines
// with signals survive, the second run changes nothing, nothing grows.
func TestAnyFilterOnAnyText(t *testing.T) {
	vocabulary := []string{
		"", "ok 1", "ok 2", "ok 3", "PASS a.test.ts", "  indented", "error: boom", "src/a.go:3: unused x", "src/b.go:9: unused x",
		"src/c.go:12: unused x", "src/d.go:1: unused x", "src/e ü.go:1: unused x", "begin", "end", "2026-11-02 10:00:01 INFO ready", "2026-11-02 10:00:02 INFO ready",
		"job\tstep\tone", "job\tstep\ttwo", "\x1b[32mok 4\x1b[0m", " 1%\r 2%\rok 5", "0 errors", "ok 6\r", "[trimtab", "größe",
	}
	stages := []string{
		"drop: {re: '^ok \\d+$', what: rows}", "fold: {re: '^ok \\d+$', min: 2, what: rows}", "fold: {re: '^(ok|PASS) .+$', min: 1, head: 1, tail: 1, blank: true, what: rows}",
		"blocks: {start: '^begin', end: '^end', min: 1, what: block}", "blocks: {start: '^begin', until: '^end', head: 1, tail: 1, min: 1, what: block}",
		"blocks: {start: '^PASS', while: ['^\\s', '^\\s*$'], min: 1, what: block}", "dedupe: {min: 2}", "dedupe: {mask: [numbers, hex], min: 2, tail: 1}",
		"dedupe: {scope: all, mask: [numbers, paths], min: 2}", "dedupe: {scope: all, min: 2, head: 2}", "group: {re: '^(?P<at>\\S+:\\d+): .+', min: 2, what: findings}",
		"limit: {re: '^ok', max: 2, tail: 1, what: rows}", "limit: {re: '^ok', max: 1, tail: 1, over: 4, what: rows}", "limit: {re: '^(?P<k>\\S+) ', max: 1, per: k, reset: '^begin', what: rows}",
		"only: {re: '^begin', around: 1, what: the rest}", "headtail: {head: 2, tail: 2, what: the middle}", "trim: {re: '^\\d{4}-\\d\\d-\\d\\d \\S+ ', what: times}",
		"trim: {re: '^(?P<same>[^\\t]+\\t[^\\t]+\\t)', repeats: true, what: heads}", "fold: {from: '^begin', to: '^end', re: '^.*o.*$', min: 1, what: part}",
		"drop: {re: '^\\s*$', what: blank lines}", "fold: {re: '^error: .+$', min: 1, trusted: true, what: errors}",
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := "family: x\nfilters:\n- id: x.y\n  about: w\n  match: {prog: p}\n  gates: {min_tokens: 0, min_saving: 1, min_share: 0}\n  stages:\n"
		trusted := false
		for _, s := range rapid.SliceOfN(rapid.SampledFrom(stages), 1, 4).Draw(t, "stages") {
			doc += "  - " + s + "\n"
			trusted = trusted || strings.Contains(s, "trusted")
		}
		filters, errs := Load("x", []byte(doc))
		if len(errs) > 0 {
			t.Fatalf("%v", errs)
		}
		set := NewSet(filters)
		var lines []string
		for range rapid.IntRange(0, 12).Draw(t, "runs") {
			l := rapid.SampledFrom(vocabulary).Draw(t, "line")
			for range rapid.SampledFrom([]int{1, 1, 1, 2, 5, 9}).Draw(t, "times") {
				lines = append(lines, l)
			}
		}
		in := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		got := set.forward("p", in, false)
		if got.text == in {
			return
		}
		if err := verify.Cuts(in, got.text); err != nil {
			t.Fatalf("%v\n%s", err, got.text)
		}
		if tokens.Estimate(got.text) >= tokens.Estimate(in) {
			t.Fatalf("it grew:\n%s", got.text)
		}
		if again := set.forward("p", got.text, false); again.text != got.text {
			t.Fatalf("changed again:\n%s", again.text)
		}
		if !trusted && strings.Contains(in, "error: boom") && !strings.Contains(got.text, "error: boom") {
			t.Fatalf("the error is missing:\n%s", got.text)
		}
	})
}

// A text of which nothing would be left keeps its last line.
func TestAMarkIsNeverAlone(t *testing.T) {
	filters, errs := Load("x", []byte("family: x\nfilters:\n- id: x.y\n  about: w\n  match: {prog: p}\n  stages:\n  - fold: {re: '^ok .+$', what: passing tests}\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "ok number %d of the tests\n", i)
	}
	want := "[trimtab cut 49 lines: passing tests]\nok number 49 of the tests\n"
	if got := NewSet(filters).forward("p", b.String(), false); got.text != want {
		t.Errorf("got %q", got.text)
	}
}

// A failure of thousands of lines keeps its head, its tail and what reports it.
func TestLongFailures(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 3000 {
		if i == 1500 {
			b.WriteString("fatal: the one line that says why\n")
		}
		fmt.Fprintf(&b, "remote: some line of a hook, number %d\n", i)
	}
	got := set.forward("git push", b.String(), true)
	for _, want := range []string{"number 0\n", "number 1497\n", "fatal: the one line", "number 1502\n", "number 2999\n"} {
		if !strings.Contains(got.text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if err := verify.Cuts(b.String(), got.text); err != nil || len(got.text) > len(b.String())/5 {
		t.Errorf("%v, %d bytes of %d are left", err, len(got.text), b.Len())
	}
}

func FuzzBuiltin(f *testing.F) {
	set, err := Builtin()
	if err != nil {
		f.Fatal(err)
	}
	_, archives, err := FixtureFiles()
	if err != nil {
		f.Fatal(err)
	}
	for _, data := range archives {
		list, err := ReadFixtures(data)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range list {
			f.Add(x.Command, x.Input, x.Kind == FixtureFail)
		}
	}
	f.Fuzz(func(t *testing.T, command, in string, failed bool) {
		got := set.forward(command, in, failed)
		if got.text == in {
			return
		}
		if err := verify.Cuts(in, got.text); err != nil {
			t.Errorf("%v\n%s", err, got.text)
		}
	})
}
