package extract

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of extract.
const (
	GateKind    pipeline.Gate = "not_a_log"
	GateFailed  pipeline.Gate = "failed"
	GateSmall   pipeline.Gate = "below_min_tokens"
	GateShape   pipeline.Gate = "table_or_diff"
	GateNothing pipeline.Gate = "no_obvious_noise"
	GateMark    pipeline.Gate = "mark_in_text"
)

// wording is the version of the marks' text and of what is noise.
const wording = 1

const (
	maxBlock  = 12 // lines of a block that is looked for again
	minBlanks = 20 // blank lines that are worth a mark: tokenizers join line breaks
)

// Component takes noise out. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Extract
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component.
func New(settings *trimtabv1.Extract) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	return &Component{settings: settings}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "extract",
		Summary:   "Takes repeated blocks, progress bars and runs of blank lines out of logs, and says where and how many.",
		Stability: "experimental",
		Keeps:     pipeline.KeepsNothing,
		AtLevel:   [3]pipeline.Behaviour{pipeline.WorksNoUndo, pipeline.WorksNoUndo, pipeline.WorksNoUndo},
		Reason:    "What is taken out follows from the command and its output alone, so there is nothing to remember.",
		Where:     "nowhere",
		Decided:   "docs/decisions/0006",
		Config:    c.settings,
		Wording:   wording,
		Gates: []pipeline.GateDoc{
			{Name: GateKind, Says: "the result is not the output of commands that log what they do"},
			{Name: GateFailed, Says: "the command failed, so its output stays as it is"},
			{Name: GateSmall, Says: "the text is too short to be worth it"},
			{Name: GateShape, Says: "the text looks like a table, search results or a difference"},
			{Name: GateNothing, Says: "there is no noise that is worth a mark"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	least := int(c.settings.GetMinTokens())
	switch {
	case !b.Class.Call.Acts():
		return pipeline.Edit{}, GateKind
	case b.Class.Failed:
		return pipeline.Edit{}, GateFailed
	case len(b.Text) < least || tokens.Estimate(b.Text) < least: // a token is a byte at least
		return pipeline.Edit{}, GateSmall
	}
	t := newText(b.Text)
	t.repeats()
	t.progress()
	t.blanks()
	if len(t.gaps) == 0 && t.blank == 0 {
		return pipeline.Edit{}, GateNothing
	}
	shape := classify.ShapeOf(t.withoutBars())
	if shape == classify.Source && t.blank > 0 {
		t.leaveBlanks()
	}
	switch {
	case shape == classify.Patch || shape == classify.Table || shape == classify.Listing:
		return pipeline.Edit{}, GateShape
	case pipeline.HasMark(b.Received):
		return pipeline.Edit{}, GateMark
	case len(t.gaps) == 0 && t.blank == 0:
		return pipeline.Edit{}, GateNothing
	}
	return pipeline.Edit{Pieces: t.pieces()}, ""
}

// text is a block as lines, and what is to be taken out of it.
type text struct {
	pipeline.Lines
	state []uint8
	gaps  map[int]gap // by their first line
	blank int         // blank lines that are taken out
	bars  bool        // whether progress is taken out
}

// The states of a line.
const (
	plain uint8 = iota
	fixed       // a mark, or shown as what others repeat
	inGap       // in one of the gaps
	empty       // a blank line that goes
)

// gap are lines that follow each other and go.
type gap struct {
	to   int
	mark string
}

func newText(all string) *text {
	t := &text{Lines: pipeline.LinesOf(all), gaps: map[int]gap{}}
	t.state = make([]uint8, t.Len())
	for i := range t.Len() {
		if strings.HasPrefix(t.Line(i), pipeline.MarkStart) {
			t.state[i] = fixed
		}
	}
	return t
}

// ended is how many lines end in a newline: only those are taken out.
func (t *text) ended() int {
	n := t.Len()
	if n > 0 && t.End(n-1) == len(t.Text) {
		n--
	}
	return n
}

// bytes are the lines [from, to) with their newlines.
func (t *text) bytes(from, to int) string {
	return t.Text[t.Start(from):t.Next(to-1)]
}

// cut takes lines out if they are worth their mark.
func (t *text) cut(from, to int, mark string) bool {
	gone := t.bytes(from, to)
	if len(gone) <= len(mark)+1 || tokens.Estimate(gone) <= tokens.Estimate(mark+"\n") {
		return false
	}
	t.gaps[from] = gap{to, mark}
	for i := from; i < to; i++ {
		t.state[i] = inGap
	}
	return true
}

// repeats takes out what follows a block of up to maxBlock lines and is the same
// again, once or more.
func (t *text) repeats() {
	n := t.ended()
	for i := 0; i < n; i++ {
		for k := 1; k <= maxBlock && i+2*k <= n; k++ {
			times := t.times(i, k, n)
			if times == 0 || strings.TrimSpace(t.bytes(i, i+k)) == "" {
				continue
			}
			if t.cut(i+k, i+k+k*times, aboveMark(k, times)) {
				for j := i; j < i+k; j++ {
					t.state[j] = fixed
				}
				i += k + k*times - 1
				break
			}
		}
	}
}

// times is how often the k lines from i on are followed by the same lines.
func (t *text) times(i, k, n int) (times int) {
	for j := i; j < i+k; j++ {
		if t.state[j] != plain || t.Line(j) != t.Line(j+k) {
			return 0
		}
	}
	for at := i + k; at+k <= n; at += k {
		for j := range k {
			if t.Line(i+j) != t.Line(at+j) {
				return times
			}
		}
		times++
	}
	return times
}

// progress takes out all but the last of lines of progress that follow each other.
func (t *text) progress() {
	for i := 0; i < t.Len(); i++ {
		from := i
		for i < t.Len() && t.state[i] == plain && progress(t.Line(i)) {
			i++
		}
		if i-from > 1 {
			t.bars = t.cut(from, i-1, gapMark(i-1-from)) || t.bars
		}
	}
}

// blanks takes out all but the first of blank lines that follow each other.
func (t *text) blanks() {
	for i := 1; i < t.ended(); i++ {
		if t.state[i] == plain && (t.state[i-1] == plain || t.state[i-1] == empty) &&
			strings.TrimSpace(t.Line(i)) == "" && strings.TrimSpace(t.Line(i-1)) == "" {
			t.state[i] = empty
			t.blank++
		}
	}
	if t.blank < minBlanks {
		t.leaveBlanks()
	}
}

func (t *text) leaveBlanks() {
	for i := range t.state {
		if t.state[i] == empty {
			t.state[i] = plain
		}
	}
	t.blank = 0
}

// withoutBars is the text without the progress that is taken out, which looks like
// a table.
func (t *text) withoutBars() string {
	if !t.bars {
		return t.Text
	}
	var b strings.Builder
	b.Grow(len(t.Text))
	for i := range t.Len() {
		if !progress(t.Line(i)) {
			b.WriteString(t.bytes(i, i+1))
		}
	}
	return b.String()
}

// Marks of the three kinds of gap.

func aboveMark(k, times int) string {
	what, again := "the line", "1 more time"
	if k > 1 {
		what = "the " + pipeline.CountLines(k)
	}
	if times > 1 {
		again = strconv.Itoa(times) + " more times"
	}
	return pipeline.MarkStart + "cut " + pipeline.CountLines(k*times) + ": " + what + " above, " + again + "]"
}

func gapMark(n int) string {
	return pipeline.MarkStart + "cut " + pipeline.CountLines(n) + ": progress]"
}

func blankMark(n int) string {
	return pipeline.MarkStart + "cut " + pipeline.CountLines(n) + " from here on: blank lines]"
}

// pieces writes the text. Every gap has a line behind it or ends in a newline.
func (t *text) pieces() pipeline.Pieces {
	var out pipeline.Pieces
	marked := false
	for i := 0; i < t.Len(); i++ {
		switch t.state[i] {
		case inGap:
			g := t.gaps[i]
			out.Literal(g.mark + "\n")
			i = g.to - 1
		case empty:
			if !marked {
				marked = true
				out.Literal(blankMark(t.blank))
				out.Keep(t.End(i), t.Next(i)) // its newline, if it has one
			}
		default:
			out.Keep(t.Start(i), t.Next(i))
		}
	}
	return out
}
