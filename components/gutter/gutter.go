package gutter

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of gutter.
const (
	GateCall     pipeline.Gate = "no_numbering_call"
	GateEdits    pipeline.Gate = "edits_by_line"
	GateMark     pipeline.Gate = "mark_in_text"
	GateNoGutter pipeline.Gate = "no_gutter"
	GateNoWin    pipeline.Gate = "mark_no_win"
)

// wording is the version of the marks' text.
const wording = 1

// Component thins out line numbers. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Gutter
	every    int
	shown    string // how the mark says every
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component; the settings have their defaults filled in.
func New(settings *trimtabv1.Gutter) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("gutter: %w", err)
	}
	c := &Component{settings: settings, every: int(settings.GetEvery())}
	c.shown = strconv.Itoa(c.every) + "th"
	if c.every == 2 {
		c.shown = "2nd"
	}
	return c, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:       "gutter",
		Summary:    "Shows every tenth line number of files that were read with line numbers.",
		Stability:  "stable",
		Keeps:      pipeline.KeepsNothing,
		AtLevel:    [3]pipeline.Behaviour{pipeline.Works, pipeline.Works, pipeline.Works},
		Reason:     "The numbers left out follow from counting the lines, so there is nothing to remember.",
		Where:      "nowhere",
		Decided:    "docs/decisions/0002",
		Config:     c.settings,
		Wording:    wording,
		Linear:     true,
		Reversible: true,
		Gates: []pipeline.GateDoc{
			{Name: GateCall, Says: "the call is none that prints a file with line numbers"},
			{Name: GateEdits, Says: "a declared tool edits by line number, where a miscount would change the wrong line"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
			{Name: GateNoGutter, Says: "no run of numbered lines is long and regular enough"},
			{Name: GateNoWin, Says: "the mark would cost more than the numbers"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	switch {
	case !b.Class.Numbered:
		return pipeline.Edit{}, GateCall
	case b.Request.EditsByLine && !c.settings.GetForce():
		return pipeline.Edit{}, GateEdits
	case pipeline.HasMark(b.Received):
		return pipeline.Edit{}, GateMark
	}
	e := editor{c: c, text: b.Text, lines: split(b.Text)}
	for i := 0; i < len(e.lines); {
		if pipeline.IsMark(e.line(i)) {
			i++
			continue
		}
		j := i + 1
		for j < len(e.lines) && !pipeline.IsMark(e.line(j)) {
			j++
		}
		e.stretch(i, j, b.Received)
		i = j
	}
	switch {
	case e.runs == 0:
		return pipeline.Edit{}, GateNoGutter
	case len(e.pieces) == 0:
		return pipeline.Edit{}, GateNoWin
	}
	e.pieces.Keep(e.at, len(e.text))
	return pipeline.Edit{Pieces: e.pieces}, ""
}

// span is a line's range of bytes, without its terminator.
type span struct{ from, to int }

// split finds the lines of a text. A text that ends in a terminator has no
// further, empty line.
func split(text string) []span {
	lines := make([]span, 0, strings.Count(text, "\n")+1)
	for at := 0; at < len(text); {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return append(lines, span{at, len(text)})
		}
		lines = append(lines, span{at, at + n})
		at += n + 1
	}
	return lines
}

// editor builds the pieces of one block.
type editor struct {
	c      *Component
	text   string
	lines  []span
	pieces pipeline.Pieces
	at     int // what stands before it is in pieces
	runs   int // gutters seen
	forms  map[string]bool
}

func (e *editor) line(i int) string { return e.text[e.lines[i].from:e.lines[i].to] }

// stretch thins out the gutters of lines [i,j), which stand between marks.
func (e *editor) stretch(i, j int, received string) {
	if j < len(e.lines) && e.countsFrom(e.line(j), j-1) {
		j-- // a reference counts from this line's gutter, so it stays as it is
	}
	least := int(e.c.settings.GetMinLines())
	if j-i < least {
		return
	}
	lines := make([]string, j-i)
	for k := range lines {
		lines[k] = e.line(i + k)
	}
	for _, r := range classify.NumberedRuns(lines, least) {
		if len(e.text) != len(received) && !e.known(r.Gutter.Sep, received, least) {
			continue
		}
		e.runs++
		r.From, r.To = r.From+i, r.To+i
		e.run(r)
	}
}

// countsFrom says that a mark is a reference whose lines follow line i by number.
func (e *editor) countsFrom(mark string, i int) bool {
	rest, ok := strings.CutPrefix(mark, pipeline.MarkStart+"lines ")
	if !ok || i < 0 {
		return false
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	first, err := strconv.Atoi(rest[:n])
	if err != nil || n == len(rest) || rest[n] != '-' {
		return false
	}
	number, ok := classify.NumberOf(e.line(i))
	return ok && number == first-1
}

// known says that the separator is one of the whole result's gutters: a stretch
// alone can't tell a colon with a space from indented lines after a bare colon,
// nor a gutter from a list.
func (e *editor) known(sep, received string, least int) bool {
	if e.forms == nil {
		e.forms = map[string]bool{}
		spans := split(received)
		lines := make([]string, len(spans))
		for i, s := range spans {
			lines[i] = received[s.from:s.to]
		}
		for _, r := range classify.NumberedRuns(lines, least) {
			e.forms[r.Gutter.Sep] = true
		}
	}
	return e.forms[sep]
}

// run thins out one gutter if that saves tokens.
func (e *editor) run(r classify.Numbered) {
	if !r.Regular || r.Gutter.Sep == ":" && e.lacking(r) < 0 {
		return
	}
	mark := fmt.Sprintf("%slines %d-%d: every %s number shown]\n", pipeline.MarkStart, r.First, r.Last(), e.c.shown)
	was, at := len(e.pieces), e.at
	before := e.tail()
	e.pieces.Keep(e.at, e.lines[r.From].from)
	e.pieces.Literal(mark)
	first := len(e.pieces)
	e.pieces.Keep(e.lines[r.From].from, e.lines[r.From].to)
	lacking, hidden := e.lacking(r), 0
	for k := r.From + 1; k < r.To; k++ {
		e.pieces.Keep(e.lines[k-1].to, e.lines[k].from)
		shown, bare := e.shownFrom(r, k, lacking)
		e.pieces.Keep(shown, e.lines[k].to)
		if bare {
			hidden++
		}
	}
	e.at = e.lines[r.To-1].to
	if hidden < surely && !e.pays(mark, e.pieces[first:], r) {
		e.pieces, e.at = e.pieces[:was], at
		if was > 0 {
			e.pieces[was-1] = before
		}
	}
}

// surely is how many numbers are left out of a run that pays in any case, so
// that its tokens need not be counted: each saves a token at least, and a mark
// costs about fifteen.
const surely = 40

// pays says that a run costs fewer tokens with its mark than without.
func (e *editor) pays(mark string, pieces []pipeline.Piece, r classify.Numbered) bool {
	old := tokens.Estimate(e.text[e.lines[r.From].from:e.lines[r.To-1].to])
	return tokens.Estimate(mark)+e.tokensOf(pieces) < old
}

// tail is the last piece, which keep may have made longer.
func (e *editor) tail() pipeline.Piece {
	if len(e.pieces) == 0 {
		return pipeline.Piece{}
	}
	return e.pieces[len(e.pieces)-1]
}

// tokensOf estimates the text of kept pieces.
func (e *editor) tokensOf(pieces []pipeline.Piece) int {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(e.text[p.From:p.To])
	}
	return tokens.Estimate(b.String())
}

// shownFrom is where the shown part of line k starts: at the number without its
// padding, or, if it is bare, behind the gutter.
func (e *editor) shownFrom(r classify.Numbered, k, lacking int) (from int, bare bool) {
	line := e.line(k)
	number := r.First + k - r.From
	start, content := classify.GutterOf(line, r.Gutter, number)
	switch {
	case number%e.c.every == 0, k == r.To-1, k == lacking, content < 0,
		classify.LooksNumbered(line[content:]):
		return e.lines[k].from + start, false
	}
	return e.lines[k].from + content, true
}

// lacking is the first line of a ":" run without a space after the colon that is
// not blank: it proves the separator. -1 if there is none, or no need.
func (e *editor) lacking(r classify.Numbered) int {
	if r.Gutter.Sep != ":" {
		return -1
	}
	for k := r.From; k < r.To; k++ {
		_, content := classify.GutterOf(e.line(k), r.Gutter, r.First+k-r.From)
		if rest := strings.TrimSuffix(e.line(k)[content:], "\r"); rest != "" && rest[0] != ' ' {
			return k
		}
	}
	return -1
}
