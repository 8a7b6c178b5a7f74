package searchfold

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of searchfold.
const (
	GateSource  pipeline.Gate = "source_or_diff"
	GateMark    pipeline.Gate = "mark_in_text"
	GateShape   pipeline.Gate = "no_path_shape"
	GateHead    pipeline.Gate = "head_in_use"
	GateNothing pipeline.Gate = "no_repeated_prefix"
)

// wording is the version of the marks' text and of what is chosen.
const wording = 2

// Component folds paths. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Searchfold
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component.
func New(settings *trimtabv1.Searchfold) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("searchfold: %w", err)
	}
	return &Component{settings: settings}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:       "searchfold",
		Summary:    "States repeated path prefixes of search results and file lists once.",
		Stability:  "stable",
		Keeps:      pipeline.KeepsNothing,
		AtLevel:    [3]pipeline.Behaviour{pipeline.Works, pipeline.Works, pipeline.Works},
		Reason:     "The paths are put back from the headings in the same text, so there is nothing to remember.",
		Where:      "nowhere",
		Decided:    "docs/decisions/0002",
		Config:     c.settings,
		Wording:    wording,
		Reversible: true,
		Gates: []pipeline.GateDoc{
			{Name: GateSource, Says: "the result is a source file or a diff, whose lines must stay as they are"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
			{Name: GateShape, Says: "nothing in the text is shaped like a path or a search hit"},
			{Name: GateHead, Says: "a path in the text already begins with ./, so no directory is shortened to it"},
			{Name: GateNothing, Says: "no prefix repeats often enough to be worth a heading"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	switch {
	case protected(b):
		return pipeline.Edit{}, GateSource
	case !shaped(b.Text):
		return pipeline.Edit{}, GateShape
	case pipeline.HasMark(b.Received):
		return pipeline.Edit{}, GateMark
	}
	t := newText(b.Text)
	best, gate := t.layout(""), GateNothing
	if head, from, ok := t.head(); ok {
		if t.dotted() {
			gate = GateHead
		} else if l := t.layout(head); l.saved > best.saved {
			l.headAt = from
			best = l
		}
	}
	if best.head == "" && len(best.folds) == 0 {
		return pipeline.Edit{}, gate
	}
	return pipeline.Edit{Pieces: t.pieces(best)}, ""
}

// protected says that the result is a read, an edit's echo or a difference.
func protected(b pipeline.Block) bool {
	call := b.Class.Call
	switch {
	case call.Kind == classify.Read, call.Kind == classify.Edit, call.Numbers:
		return true
	case call.Sub == classify.Viewer, call.Sub == classify.Differ, call.Command.Views, call.Command.Diffs:
		return true
	}
	return strings.HasPrefix(b.Text, "diff --git ") || strings.Contains(b.Text, "\ndiff --git ") || strings.Contains(b.Text, "\n@@ -")
}

// shaped is a necessary condition for any fold: a slash, or a colon or dash with
// a digit behind it.
func shaped(text string) bool {
	if strings.IndexByte(text, '/') >= 0 {
		return true
	}
	for i := 0; i+1 < len(text); i++ {
		if (text[i] == ':' || text[i] == '-') && text[i+1] >= '0' && text[i+1] <= '9' {
			return true
		}
	}
	return false
}

// text is a block as lines, and the stretches of them that may be folded.
type text struct {
	all       string
	lines     []line
	stretches [][2]int
}

// line is a line without its terminator; dot says that it begins with a
// shortened directory, whose rest starts at from.
type line struct {
	from, to int
	dot      bool
}

// dots is what a shortened directory is written as.
const dots = "./"

func newText(all string) *text {
	t := &text{all: all}
	for at := 0; at < len(all); {
		end := strings.IndexByte(all[at:], '\n')
		if end < 0 {
			t.lines = append(t.lines, line{from: at, to: len(all)})
			break
		}
		t.lines = append(t.lines, line{from: at, to: at + end})
		at += end + 1
	}
	start := 0
	for i := 0; i < len(t.lines); i++ {
		s := t.raw(i)
		if !pipeline.IsMark(s) {
			continue
		}
		t.stretch(start, i)
		i += thinned(s) // numbered lines that belong to the mark
		start = min(i+1, len(t.lines))
	}
	t.stretch(start, len(t.lines))
	return t
}

func (t *text) stretch(from, to int) {
	if from < to {
		t.stretches = append(t.stretches, [2]int{from, to})
	}
}

// thinned is how many lines follow a gutter's mark.
func thinned(mark string) int {
	rest, ok := strings.CutPrefix(mark, pipeline.MarkStart+"lines ")
	bounds, what, ok2 := strings.Cut(rest, ": every ")
	a, b, ok3 := strings.Cut(bounds, "-")
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	if !ok || !ok2 || !ok3 || err1 != nil || err2 != nil || !strings.HasSuffix(what, " number shown]") {
		return 0
	}
	return max(last-first+1, 0)
}

func (t *text) raw(i int) string { return t.all[t.lines[i].from:t.lines[i].to] }

// dotted says that a path begins with ./ already, at the start of a line or in it:
// it would seem to be in the directory that is shortened, and a quote of it would
// be found at two places. A parent's ../ is another matter.
func (t *text) dotted() bool {
	for at := 0; ; {
		i := strings.Index(t.all[at:], dots)
		if i < 0 {
			return false
		}
		if at += i; at == 0 || t.all[at-1] != '.' && !wordByte(t.all[at-1]) {
			return true
		}
		at += len(dots)
	}
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_'
}

// layout is one way to write the text.
type layout struct {
	head   string // the directory that is shortened
	headAt int    // where it stands in the text
	lines  []line
	folds  []fold
	saved  int // estimated tokens
}

// layout shortens a directory, if there is one, and folds what is left as well
// as it can be.
func (t *text) layout(head string) layout {
	l := layout{head: head, lines: t.lines}
	if head != "" {
		l.saved = -tokens.Estimate(headMark + head + "]\n")
		l.lines = make([]line, len(t.lines))
		copy(l.lines, t.lines)
	}
	for _, s := range t.stretches {
		for i := s[0]; head != "" && i < s[1]; i++ {
			if raw := t.raw(i); strings.HasPrefix(raw, head) {
				l.lines[i].from += len(head)
				l.lines[i].dot = true
				l.saved += tokens.Estimate(raw) - tokens.Estimate(view(t.all, l.lines[i]))
			}
		}
		f, saved := t.fold(l.lines, s[0], s[1])
		if f.kind != none {
			l.saved += saved
			l.folds = append(l.folds, f)
		}
	}
	return l
}

// headMark begins the mark that states a directory.
const headMark = pipeline.MarkStart + "paths: " + dots + " = "

// Bounds of a directory that is shortened.
const (
	minHead      = 20 // bytes
	minHeadLines = 4
	maxHead      = 200
)

// head finds the absolute directory whose shortening saves most bytes, and where
// it stands first.
func (t *text) head() (dir string, at int, ok bool) {
	type seen struct{ count, at int }
	dirs := map[string]seen{}
	for _, s := range t.stretches {
		for i := s[0]; i < s[1]; i++ {
			raw := t.raw(i)
			if len(raw) <= minHead || raw[0] != '/' {
				continue
			}
			for n := 1; n < len(raw) && n < maxHead && inPath(raw[n]); n++ {
				if raw[n] != '/' || n < minHead-1 {
					continue
				}
				d, known := dirs[raw[:n+1]]
				if !known {
					d.at = t.lines[i].from
				}
				d.count++
				dirs[raw[:n+1]] = d
			}
		}
	}
	best := 0
	for d, s := range dirs {
		gain := s.count*(len(d)-len(dots)) - len(d) - len(headMark)
		if s.count >= minHeadLines && (gain > best || gain == best && ok && d < dir) {
			dir, at, best, ok = d, s.at, gain, true
		}
	}
	return dir, at, ok
}

// inPath says that a byte may stand in a directory that a mark states.
func inPath(c byte) bool {
	return c > ' ' && c <= '~' && strings.IndexByte(`]"'\:;,|<>()`, c) < 0
}
