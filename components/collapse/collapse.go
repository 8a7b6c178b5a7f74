package collapse

import (
	"fmt"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of collapse.
const (
	GateSmall  pipeline.Gate = "below_max_tokens"
	GateKind   pipeline.Gate = "file_search_or_data"
	GateFailed pipeline.Gate = "failed"
	GateShape  pipeline.Gate = "source_or_diff"
	GateMark   pipeline.Gate = "mark_in_text"
	GateLittle pipeline.Gate = "saves_too_little"
)

// wording is the version of the marks' text and of what is kept.
const wording = 1

const (
	around      = 2    // lines that stay on each side of one that reports something
	minGap      = 5    // lines that are worth a mark
	minLongLine = 1000 // characters of a line that always stay
	bytesAToken = 4    // about
	mostBytes   = 16   // of a token: a longer text needs no estimate
)

// Component collapses results. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Collapse
	reporter *classify.Reporter
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component.
func New(settings *trimtabv1.Collapse) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("collapse: %w", err)
	}
	return &Component{settings: settings, reporter: classify.NewReporter()}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "collapse",
		Summary:   "Shows of very large results of commands the head, the tail and the lines that report something, and counts the others.",
		Stability: "experimental",
		Keeps:     pipeline.KeepsNothing,
		AtLevel:   [3]pipeline.Behaviour{pipeline.WorksNoUndo, pipeline.WorksNoUndo, pipeline.WorksNoUndo},
		Reason:    "What is left out follows from the command and its output alone, so there is nothing to remember.",
		Where:     "nowhere",
		Decided:   "docs/decisions/0006",
		Config:    c.settings,
		Wording:   wording,
		Gates: []pipeline.GateDoc{
			{Name: GateSmall, Says: "the result is not too large"},
			{Name: GateKind, Says: "the result is not a command's, or of one that shows files, searches, lists or data"},
			{Name: GateFailed, Says: "the command failed, so its output stays as it is"},
			{Name: GateShape, Says: "the text looks like source, search results or a difference"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
			{Name: GateLittle, Says: "less than half of the text could be left out"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	most := int(c.settings.GetMaxTokens())
	switch {
	case len(b.Text) <= most || len(b.Text) <= most*mostBytes && tokens.Estimate(b.Text) <= most: // a token is a byte at least
		return pipeline.Edit{}, GateSmall
	case !collapsible(b.Class.Call):
		return pipeline.Edit{}, GateKind
	case b.Class.Failed:
		return pipeline.Edit{}, GateFailed
	case pipeline.HasMark(b.Received):
		return pipeline.Edit{}, GateMark
	}
	switch classify.FidelityOf(b.Class, b.Text) {
	case classify.Fail, classify.BuildFail, classify.Crash:
		return pipeline.Edit{}, GateFailed
	case classify.NoVerdict, classify.Pass:
	}
	switch classify.ShapeOf(b.Text) {
	case classify.Patch, classify.Source, classify.Listing:
		return pipeline.Edit{}, GateShape
	case classify.Loose, classify.Table:
	}
	t := newText(b.Text)
	t.choose(int(c.settings.GetHeadLines()), int(c.settings.GetTailLines()), c.reporter)
	t.shorten(most*bytesAToken, c.headShare())
	if pieces := t.pieces(); 2*len(pieces.Text(b.Text)) <= len(b.Text) {
		return pipeline.Edit{Pieces: pieces}, ""
	}
	return pipeline.Edit{}, GateLittle
}

// headShare is which share of what stays of a long line is its beginning.
func (c *Component) headShare() float64 {
	head, tail := float64(c.settings.GetHeadLines()), float64(c.settings.GetTailLines())
	if head+tail == 0 {
		return 0.5
	}
	return head / (head + tail)
}

// collapsible says that a call is a command whose output may be huge by accident:
// one that does something, or that tells of a repository or of the machine.
func collapsible(c classify.Call) bool {
	return c.Acts() || c.Kind == classify.Shell && !c.Numbers && !c.ShowsFile() && (c.Sub == classify.VCS || c.Sub == classify.Info)
}

// text is a block as lines, and what stays of it.
type text struct {
	pipeline.Lines
	keep []bool
	cuts []pipeline.Elided // in order
}

func newText(all string) *text {
	l := pipeline.LinesOf(all)
	return &text{Lines: l, keep: make([]bool, l.Len())}
}

// choose keeps the first and the last lines, those that report something with the
// lines around them, marks, and what would be too short a gap.
func (t *text) choose(head, tail int, reporter *classify.Reporter) {
	n := t.Len()
	keep := func(from, to int) {
		for i := max(from, 0); i < min(to, n); i++ {
			t.keep[i] = true
		}
	}
	keep(0, head)
	keep(n-max(tail, 1), n) // the last line may have no newline
	for i := head; i < n-tail; i++ {
		switch l := t.Line(i); {
		case strings.HasPrefix(l, pipeline.MarkStart):
			keep(i, i+1)
		case reporter.In(l):
			keep(i-around, i+around+1)
		}
	}
	for i := 0; i < n; {
		from := i
		for i < n && !t.keep[i] {
			i++
		}
		if i-from < minGap {
			keep(from, i)
		}
		i = max(i, from+1)
	}
}

// shorten cuts the middle out of the lines that stay and are too long, if so many
// characters are shared by all of them.
func (t *text) shorten(room int, share float64) {
	var long []int
	for i := range t.Len() {
		if l := t.Line(i); t.keep[i] && len(l) > minLongLine && !strings.HasPrefix(l, pipeline.MarkStart) {
			long = append(long, i)
		}
	}
	for _, i := range long {
		most := max(room/len(long), minLongLine)
		if from, to, ok := pipeline.Elide(t.Line(i), most, share); ok {
			t.cuts = append(t.cuts, pipeline.Elided{Line: i, From: t.Start(i) + from, To: t.Start(i) + to})
		}
	}
}

// gapMark stands for n lines that follow each other.
func gapMark(n int) string {
	return pipeline.MarkStart + "cut " + pipeline.CountLines(n) + ": the middle of a long output]"
}

// pieces writes the text.
func (t *text) pieces() pipeline.Pieces {
	var out pipeline.Pieces
	next := 0
	for i := 0; i < t.Len(); {
		from := i
		for i < t.Len() && !t.keep[i] {
			i++
		}
		if i > from {
			out.Literal(gapMark(i-from) + "\n")
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
		out.Keep(at, t.Next(i))
		i++
	}
	return out
}
