package linecap

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of linecap.
const (
	GateKind    pipeline.Gate = "not_a_log"
	GateFailed  pipeline.Gate = "failed"
	GateSmall   pipeline.Gate = "below_min_chars"
	GateNothing pipeline.Gate = "no_long_or_repeated_lines"
	GateShape   pipeline.Gate = "source_table_or_diff"
	GateMark    pipeline.Gate = "mark_in_text"
	GateLittle  pipeline.Gate = "mark_no_win"
)

// wording is the version of the marks' text and of what is cut.
const wording = 1

const (
	edge           = 3       // so many first and last lines are never left out
	minLine        = 8       // characters of a line that may be left out
	importantTimes = 4       // how much longer a line may be that reports something
	headShare      = 2.0 / 3 // of what stays of a long line
)

// Component caps lines. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Linecap
	reporter *classify.Reporter
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component.
func New(settings *trimtabv1.Linecap) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("linecap: %w", err)
	}
	return &Component{settings: settings, reporter: classify.NewReporter()}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "linecap",
		Summary:   "Leaves out lines that a log shows again, and the middle of very long ones, and says where and how much.",
		Stability: "experimental",
		Keeps:     pipeline.KeepsNothing,
		AtLevel:   [3]pipeline.Behaviour{pipeline.WorksNoUndo, pipeline.WorksNoUndo, pipeline.WorksNoUndo},
		Reason:    "What is left out follows from the command and its output alone, so there is nothing to remember.",
		Where:     "nowhere",
		Decided:   "docs/decisions/0006",
		Config:    c.settings,
		Wording:   wording,
		Gates: []pipeline.GateDoc{
			{Name: GateKind, Says: "the result is not the output of commands that log what they do"},
			{Name: GateFailed, Says: "the command failed, so its output stays as it is"},
			{Name: GateSmall, Says: "the text is too short to be worth it"},
			{Name: GateNothing, Says: "no line is too long, and none stands often enough"},
			{Name: GateShape, Says: "the text looks like source, a table, search results or a difference"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
			{Name: GateLittle, Says: "what would be left out is less than what says so"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	switch {
	case !b.Class.Call.Acts():
		return pipeline.Edit{}, GateKind
	case b.Class.Failed:
		return pipeline.Edit{}, GateFailed
	case len(b.Text) < int(c.settings.GetMinChars()):
		return pipeline.Edit{}, GateSmall
	}
	t := newText(b.Text)
	if c.settings.GetRepeatedLines() {
		t.repeats(int(c.settings.GetMinCopies()))
	}
	if most := int(c.settings.GetMaxLineChars()); most > 0 {
		t.long(most, c.reporter)
	}
	switch {
	case len(t.after) == 0 && len(t.cuts) == 0:
		return pipeline.Edit{}, GateNothing
	case classify.ShapeOf(b.Text) != classify.Loose:
		return pipeline.Edit{}, GateShape
	case pipeline.HasMark(b.Received):
		return pipeline.Edit{}, GateMark
	}
	t.settle()
	if len(t.after) == 0 && len(t.cuts) == 0 {
		return pipeline.Edit{}, GateLittle
	}
	return pipeline.Edit{Pieces: t.pieces()}, ""
}

// text is a block as lines, and what is to be left out of it.
type text struct {
	pipeline.Lines
	drop  []bool            // lines that are left out, once there are any
	after map[int]int       // by line: how many equal lines behind it are left out
	cuts  []pipeline.Elided // in order
}

func newText(all string) *text {
	return &text{Lines: pipeline.LinesOf(all), after: map[int]int{}}
}

// repeats finds the lines that stand at least copies times between the first and
// the last lines, and leaves all but the first of each out.
func (t *text) repeats(copies int) {
	if t.Len() < 2*edge+copies {
		return
	}
	ids := map[string]int{} // each line that may be left out, from 1 on
	of := make([]int, t.Len())
	count := []int{0}
	for i := edge; i < t.Len()-edge; i++ {
		l := t.Line(i)
		if !logLine(l) {
			continue
		}
		id, known := ids[l]
		if !known {
			id = len(count)
			ids[l], count = id, append(count, 0)
		}
		of[i] = id
		count[id]++
	}
	first := make([]bool, len(count))
	for i, id := range of {
		n := count[id] - 1
		switch {
		case id == 0 || n < copies-1:
		case first[id]:
			if t.drop == nil {
				t.drop = make([]bool, t.Len())
			}
			t.drop[i] = true
		case worth(t.Line(i), n):
			first[id] = true
			t.after[i] = n
		default:
			count[id] = 0
		}
	}
}

// worth says that n copies of a line are more than the mark that counts them.
func worth(l string, n int) bool {
	mark := sameMark(n)
	return len(l)*n > len(mark) && tokens.Estimate(l+"\n")*n > tokens.Estimate(mark+"\n")
}

// logLine says that a line may be left out where it stands again: it is not
// indented, has a word, and is no mark and no piece of a frame.
func logLine(l string) bool {
	if len(l) < minLine || l[0] == ' ' || l[0] == '\t' || strings.HasPrefix(l, pipeline.MarkStart) {
		return false
	}
	for i := 0; i < len(l); i++ {
		if l[i]|0x20 >= 'a' && l[i]|0x20 <= 'z' || l[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// long finds the lines of more than most characters.
func (t *text) long(most int, reporter *classify.Reporter) {
	for i := range t.Len() {
		l := t.Line(i)
		if len(l) <= most || t.drop != nil && t.drop[i] || strings.HasPrefix(l, pipeline.MarkStart) {
			continue
		}
		limit := most
		if important(l, reporter) {
			limit *= importantTimes
		}
		if from, to, ok := pipeline.Elide(l, limit, headShare); ok {
			t.cuts = append(t.cuts, pipeline.Elided{Line: i, From: t.Start(i) + from, To: t.Start(i) + to})
		}
	}
}

// important says that a line reports something or names a place in a file.
func important(l string, reporter *classify.Reporter) bool {
	head := l[:min(len(l), 200)]
	if i := strings.IndexByte(head, ':'); i > 0 && i+1 < len(head) && head[i+1] >= '0' && head[i+1] <= '9' &&
		strings.IndexByte(head[:i], ' ') < 0 && strings.IndexByte(head[:i], '.') >= 0 {
		return true
	}
	trimmed := strings.TrimLeft(head, " \t")
	return strings.HasPrefix(trimmed, "File \"") || strings.HasPrefix(trimmed, "at ") || reporter.In(l)
}

// settle takes back the cuts, if their mark outweighs them.
func (t *text) settle() {
	if len(t.cuts) == 0 {
		return
	}
	saved := -tokens.Estimate(pipeline.ElisionMark(len(t.cuts)) + "\n")
	for _, c := range t.cuts {
		var p pipeline.Pieces
		p.Keep(p.Elide(t.Text, t.Start(c.Line), c), t.End(c.Line))
		saved += tokens.Estimate(t.Line(c.Line)) - tokens.Estimate(p.Text(t.Text))
	}
	if saved <= 0 {
		t.cuts = nil
	}
}

// sameMark stands behind the first of equal lines.
func sameMark(n int) string {
	return pipeline.MarkStart + "cut " + pipeline.CountLines(n) + " from here on: same as the line above]"
}

// pieces writes the text.
func (t *text) pieces() pipeline.Pieces {
	var out pipeline.Pieces
	next := 0
	for i := range t.Len() {
		if t.drop != nil && t.drop[i] {
			continue
		}
		at := t.Start(i)
		if next < len(t.cuts) && t.cuts[next].Line == i {
			if next == 0 {
				out.Literal(pipeline.ElisionMark(len(t.cuts)) + "\n")
			}
			at = out.Elide(t.Text, at, t.cuts[next])
			next++
		}
		out.Keep(at, t.Next(i)) // with its newline
		if n := t.after[i]; n > 0 {
			out.Literal(sameMark(n) + "\n") // never behind the last line, which has edge lines behind it
		}
	}
	return out
}
