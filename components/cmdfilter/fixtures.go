package cmdfilter

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

//go:embed filters/*.txtar
var builtinFixtures embed.FS

// FixtureFiles returns the built-in fixtures, by family file, in order of names.
func FixtureFiles() (names []string, data [][]byte, err error) {
	names, err = fs.Glob(builtinFixtures, "filters/*.txtar")
	if err != nil {
		return nil, nil, err
	}
	for _, n := range names {
		b, err := fs.ReadFile(builtinFixtures, n)
		if err != nil {
			return nil, nil, err
		}
		data = append(data, b)
	}
	return names, data, nil
}

// Kinds of fixtures.
const (
	FixtureOK   = "ok"   // the command did what it should; the filter leaves lines out
	FixtureFail = "fail" // it failed: every line with a signal has to survive
	FixtureSame = "same" // its output has to stay as it is
)

// Fixture is one recorded or hand-made output of a command.
type Fixture struct {
	Filter  string
	Kind    string
	Command string
	Input   string
	Want    string // the wanted text; equal to Input if it is to stay as it is
	index   int    // of its section in the archive
}

// Name is the fixture's name in reports.
func (f Fixture) Name() string { return f.Filter + " " + f.Kind + ": " + f.Command }

// ReadFixtures reads a txtar archive: sections "FILTER KIND: COMMAND" with the
// output of the command, each followed by a section "want" if the output is to be
// changed. A line "~40~ text {n}" of an output stands for 40 lines, in which {n}
// is the number of the line.
func ReadFixtures(data []byte) (list []Fixture, err error) {
	a := txtar.Parse(data)
	for i, s := range a.Files {
		if s.Name == "want" {
			if len(list) == 0 || list[len(list)-1].index != i-1 {
				return nil, fmt.Errorf("section %d: a want without an output before it", i+1)
			}
			list[len(list)-1].Want = string(s.Data)
			continue
		}
		head, command, ok := strings.Cut(s.Name, ": ")
		id, kind, ok2 := strings.Cut(head, " ")
		if !ok || !ok2 || kind != FixtureOK && kind != FixtureFail && kind != FixtureSame {
			return nil, fmt.Errorf("section %q must be named FILTER KIND: COMMAND with one of ok, fail and same", s.Name)
		}
		in := expand(string(s.Data))
		list = append(list, Fixture{Filter: id, Kind: kind, Command: command, Input: in, Want: in, index: i})
	}
	return list, nil
}

// expand writes out the lines that stand for several.
func expand(text string) string {
	if !strings.Contains(text, "~") {
		return text
	}
	var b strings.Builder
	for l := range strings.Lines(text) {
		n, rest, ok := repeat(l)
		if !ok {
			b.WriteString(l)
			continue
		}
		for i := range n {
			b.WriteString(strings.ReplaceAll(rest, "{n}", strconv.Itoa(i+1)))
		}
	}
	return b.String()
}

func repeat(line string) (n int, rest string, ok bool) {
	if !strings.HasPrefix(line, "~") {
		return 0, "", false
	}
	digits, rest, ok := strings.Cut(line[1:], "~ ")
	n, err := strconv.Atoi(digits)
	return n, rest, ok && err == nil && n > 0 && n <= 100000
}

// UpdateFixtures writes the wanted texts of an archive, to be reviewed by eye.
func (s *Set) UpdateFixtures(data []byte) ([]byte, error) {
	list, err := ReadFixtures(data)
	if err != nil {
		return nil, err
	}
	a := txtar.Parse(data)
	out := &txtar.Archive{Comment: a.Comment}
	for _, f := range list {
		out.Files = append(out.Files, a.Files[f.index])
		if got := s.forward(f.Command, f.Input, f.Kind == FixtureFail); got.text != f.Input {
			out.Files = append(out.Files, txtar.File{Name: "want", Data: []byte(got.text)})
		}
	}
	return txtar.Format(out), nil
}

// forwarded is a text as it would go out.
type forwarded struct {
	result
	text string
}

// ClassOf is the class of a command's output.
func ClassOf(command, output string, failed bool) classify.Class {
	call := classify.OfCall("bash", []transcript.Arg{{Path: "command", Name: "command", Text: command}}, "")
	return classify.OfResult(call, output, failed)
}

func (s *Set) forward(command, output string, failed bool) forwarded {
	class := ClassOf(command, output, failed)
	if !filterable(pipeline.Block{Class: class}) {
		return forwarded{result{gate: GateKind}, output}
	}
	r := s.run(class, output, func() bool { return pipeline.HasMark(output) })
	if r.gate != "" {
		return forwarded{r, output}
	}
	return forwarded{r, r.pieces.Text(output)}
}

// CheckFixture says what is wrong with how the set treats a fixture and the
// variants of it: what is there of it below the gates, with the noise of a
// terminal, with odd paths, with lines of a failure in between, and with lines
// that look like a summary.
func (s *Set) CheckFixture(f Fixture) (wrong []string) {
	fail := func(format string, args ...any) { wrong = append(wrong, f.Name()+": "+fmt.Sprintf(format, args...)) }
	got := s.forward(f.Command, f.Input, f.Kind == FixtureFail)
	if got.text != f.Want {
		fail("it became\n%s\nwanted\n%s", got.text, f.Want)
	}
	if len(got.filters) > 0 && got.filters[0].ID != f.Filter {
		fail("filter %s took it", got.filters[0].ID)
	}
	switch f.Kind {
	case FixtureOK:
		if got.gate != "" {
			fail("nothing was left out: %s", got.gate)
		}
		for _, v := range s.variants(f) {
			s.checkVariant(f, v, got, fail)
		}
	case FixtureSame:
		if got.gate == "" {
			fail("it was changed")
		}
	case FixtureFail:
		s.checkFailure(f, got, fail)
	}
	s.checkText(f.Command, f.Input, got, f.Kind == FixtureFail, fail)
	return wrong
}

// checkText checks what holds for every text.
func (s *Set) checkText(command, in string, got forwarded, failed bool, fail func(string, ...any)) {
	if err := verify.Cuts(in, got.text); err != nil {
		fail("the marks don't account for what is missing: %v\n%s", err, got.text)
	}
	if again := s.forward(command, in, failed); again.text != got.text {
		fail("a second run gives another text")
	}
	if got.text == in {
		return
	}
	if len(got.text) >= len(in) || tokens.Estimate(got.text) >= tokens.Estimate(in) {
		fail("it grew")
	}
	if again := s.forward(command, got.text, failed); again.text != got.text {
		fail("what was forwarded is changed again:\n%s", again.text)
	}
	for _, l := range got.result.text.lines {
		for _, flt := range got.filters {
			if anyMatch(flt.keeps, l.view) && !hasLine(got.text, in[l.from:l.to]) {
				fail("a line that is always kept is missing: %s", l.view)
			}
		}
	}
}

// checkFailure checks that a failure is known as one, marked by the client or
// not, and that nothing that reports it is missing.
func (s *Set) checkFailure(f Fixture, got forwarded, fail func(string, ...any)) {
	decoys := "0 failed, 0 errors\ntest result: ok. 12 passed; 0 failed\nAll checks passed!\n"
	for _, in := range []string{f.Input, decoys + f.Input + decoys, strings.ReplaceAll(f.Input, "\n", "\r\n")} {
		if !s.knowsFailure(f.Filter, ClassOf(f.Command, in, false), in) {
			fail("no fail_signals tell that it failed:\n%s", in)
		}
		for _, marked := range []bool{true, false} {
			out := s.forward(f.Command, in, marked)
			s.checkSignals(in, out, fail)
			s.checkText(f.Command, in, out, marked, fail)
		}
	}
}

func (s *Set) knowsFailure(id string, class classify.Class, text string) bool {
	if classify.FidelityOf(class, text) >= classify.Fail {
		return true
	}
	i := slices.IndexFunc(s.filters, func(f *Filter) bool { return f.ID == id })
	return i >= 0 && slices.ContainsFunc(split(text), func(l line) bool { return anyMatch(s.filters[i].fails, l.view) })
}

// checkSignals checks that every line with a signal survives, the ones aside that
// a trusted stage cut.
func (s *Set) checkSignals(in string, out forwarded, fail func(string, ...any)) {
	if out.text == in {
		return
	}
	t := out.result.text
	for i, l := range t.lines {
		if t.cut[i] == 0 || !s.signals.in(l.view) {
			continue
		}
		if t.by(i).verb == group {
			if _, at, ok := t.place(t.by(i), i); ok && !strings.Contains(out.text, " "+in[at.from:at.to]) {
				fail("no mark names the place of a line that reports a failure: %s", l.view)
			}
			continue
		}
		if !t.by(i).trusted && !hasLine(out.text, in[l.from:l.to]) {
			fail("a line that reports a failure is missing: %s", l.view)
		}
	}
}

func hasLine(text, line string) bool {
	return strings.Contains("\n"+text+"\n", "\n"+line+"\n")
}

// variant is a text made from a fixture's.
type variant struct {
	name, text string
	same       bool // the same lines have to be cut
	untouched  bool
	has        []string // lines that have to survive
}

func (s *Set) variants(f Fixture) []variant {
	lines := strings.SplitAfter(f.Input, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	min := defaultGates().minTokens
	if i := slices.IndexFunc(s.filters, func(g *Filter) bool { return g.ID == f.Filter }); i >= 0 {
		min = s.filters[i].gates.minTokens
	}
	n := 0
	for n < len(lines) && tokens.Estimate(strings.Join(lines[:n+1], "")) < min {
		n++
	}
	trouble := []string{"fatal: unable to write: No space left on device\n", "Error: something else went wrong (exit code 137)\n"}
	var noise, odd, mixed strings.Builder
	for i, l := range lines {
		body := strings.TrimRight(l, "\n")
		switch i % 7 {
		case 1:
			noise.WriteString("  1%\r 50%\r")
		case 2:
			body = "\x1b[32m" + body + "\x1b[0m"
		}
		noise.WriteString(body + "\r\n")
		odd.WriteString(oddPaths(l))
		if i == len(lines)/3 {
			mixed.WriteString(trouble[0])
		}
		mixed.WriteString(l)
	}
	mixed.WriteString(trouble[1])
	return []variant{
		{name: "small", text: strings.Join(lines[:n], ""), untouched: true},
		{name: "terminal noise", text: noise.String(), same: true},
		{name: "odd paths", text: odd.String()},
		{name: "mixed with a failure", text: mixed.String(), has: trouble},
	}
}

// oddPaths puts a folder with a space and letters outside ASCII into paths.
func oddPaths(line string) string {
	i := strings.IndexByte(line, '/')
	if i <= 0 || !letter(line[i-1]) {
		return line
	}
	return line[:i] + "/my größe 漢字" + line[i:]
}

func (s *Set) checkVariant(f Fixture, v variant, plain forwarded, fail func(string, ...any)) {
	got := s.forward(f.Command, v.text, false)
	inVariant := func(format string, args ...any) { fail(v.name+": "+format, args...) }
	if v.untouched && got.text != v.text {
		inVariant("a text below the gates was changed")
	}
	if v.same && !onlyPlain(plain.filters) {
		if got.result.text == nil || plain.result.text == nil || !sameCuts(got.result.text, plain.result.text) {
			inVariant("other lines were cut than without:\n%s", got.text)
		}
	}
	for _, l := range v.has {
		if !hasLine(got.text, strings.TrimSuffix(l, "\n")) {
			inVariant("%q is missing", l)
		}
	}
	s.checkText(f.Command, v.text, got, false, inVariant)
}

// onlyPlain says that a filter has stages that leave lines with control
// characters alone.
func onlyPlain(filters []*Filter) bool {
	return slices.ContainsFunc(filters, func(f *Filter) bool {
		return slices.ContainsFunc(f.stages, func(s stage) bool { return s.verb == group || s.verb == trim })
	})
}

// sameCuts says that the same lines were cut. Lines that are shorter than their
// mark are put back, and with noise they are longer, so only where the plain text
// was cut the other has to be.
func sameCuts(noisy, plain *text) bool {
	if len(noisy.cut) != len(plain.cut) {
		return false
	}
	for i := range plain.cut {
		if plain.cut[i] != 0 && noisy.cut[i] == 0 {
			return false
		}
	}
	return true
}
