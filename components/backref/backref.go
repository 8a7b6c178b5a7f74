package backref

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of backref.
const (
	GateProvider pipeline.Gate = "provider_edits"
	GateError    pipeline.Gate = "error_result"
	GateSmall    pipeline.Gate = "below_min_chars"
	GateMark     pipeline.Gate = "mark_in_text"
	GateAsked    pipeline.Gate = "asked_again"
	GateChanged  pipeline.Gate = "changed_too_much"
	GateNew      pipeline.Gate = "no_earlier_lines"
	GateNoWin    pipeline.Gate = "mark_no_win"
	GateWork     pipeline.Gate = "work_bound"
)

// wording is the version of the marks' text and of what is chosen.
const wording = 4

// Component finds earlier lines. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Backref
}

var (
	_ pipeline.Pure    = (*Component)(nil)
	_ pipeline.Indexer = (*Component)(nil)
)

// New makes the component; the settings have their defaults filled in.
func New(settings *trimtabv1.Backref) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("backref: %w", err)
	}
	return &Component{settings: settings}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:       "backref",
		Summary:    "Replaces lines that already stand earlier in the same request by a reference to them.",
		Stability:  "stable",
		Keeps:      pipeline.KeepsNothing,
		AtLevel:    [3]pipeline.Behaviour{pipeline.Works, pipeline.Works, pipeline.Works},
		Reason:     "The earlier lines are in the same request, so there is nothing to remember between turns.",
		Where:      "nowhere",
		Decided:    "docs/decisions/0002",
		Config:     c.settings,
		Wording:    wording,
		Reversible: true,
		Gates: []pipeline.GateDoc{
			{Name: GateProvider, Says: "the provider may drop earlier content, so nothing may point at it"},
			{Name: GateError, Says: "the result is an error"},
			{Name: GateSmall, Says: "the result is too short"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
			{Name: GateAsked, Says: "the same was asked for again after it had gone out as references, so it goes out in full"},
			{Name: GateChanged, Says: "too much of it changed since it was read before"},
			{Name: GateNew, Says: "no run of its lines stands earlier in the request"},
			{Name: GateNoWin, Says: "every reference would cost more than the lines, or can't be worded"},
			{Name: GateWork, Says: "finding the references would cost too much work"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, before pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	if g := c.gate(b); g != "" {
		return pipeline.Edit{}, g
	}
	t := &target{
		c: c, b: b, before: before, text: b.Text,
		table:  newTable(b.Text, b.Class.Numbered),
		budget: workFactor*len(b.Text) + workFloor,
	}
	if g := t.repeats(); g != "" {
		return pipeline.Edit{}, g
	}
	if e, ok := t.identical(); ok {
		return e, ""
	}
	return t.references()
}

// gate says why the block can be no target, whatever stands before it.
func (c *Component) gate(b pipeline.Block) pipeline.Gate {
	switch {
	case b.Request.ProviderEdits:
		return GateProvider
	case b.Class.Failed:
		return GateError
	case len(b.Text) > maxText, shorter(b.Text, int(c.settings.GetMinChars())):
		return GateSmall
	case pipeline.HasMark(b.Received):
		return GateMark
	}
	return ""
}

// shorter says that a text has fewer than n characters.
func shorter(text string, n int) bool {
	return len(text) < n || len(text) < n*utf8.UTFMax && utf8.RuneCountInString(text) < n
}

// Work is bounded in bytes compared or searched and lines looked up, so that the
// outcome repeats: a multiple of the block's length, and a floor for short
// blocks. Over a prefix that is a multiple of its length too, since results
// under min_chars are not looked at.
const (
	workFactor = 64
	workFloor  = 512 << 10
)

// target is the work on one block.
type target struct {
	table
	c      *Component
	b      pipeline.Block
	before pipeline.Prefix
	text   string
	budget int
	cache  map[int]*anchor
	dead   map[diagonal]int // up to which target line a diagonal is barren
}

// anchor is a source that has lines in common with the target.
type anchor struct {
	*note
	source  pipeline.Source
	index   int
	text    string
	refuse  bool
	foreign bool // it shows another file than the target
	edited  bool // the target's file was edited between the two

	counts map[string]int // of its lines
	begins map[int]quote  // by line; the zero value is none
}

// note is what is known of source i, or nil.
func (t *target) note(i int) *note {
	if i >= len(t.before.Notes) || t.before.Notes[i] == nil {
		n, _ := t.c.Index(t.before.Sources[i]).(*note)
		return n
	}
	n, _ := t.before.Notes[i].(*note)
	return n
}

// anchor looks at source i once: whether it may be pointed at, and its text.
func (t *target) anchor(i int, n *note) *anchor {
	if a, ok := t.cache[i]; ok {
		return a
	}
	s := t.before.Sources[i]
	a := &anchor{note: n, source: s, index: i}
	a.refuse = t.b.Offset-s.Offset > int(t.c.settings.GetMaxDistanceTokens())
	a.foreign = !t.pathAllowed(s)
	if !a.refuse {
		a.text = s.Text()
		a.edited = t.editedSince(i)
	}
	if t.cache == nil {
		t.cache = map[int]*anchor{}
	}
	t.cache[i] = a
	return a
}

// pathAllowed says that lines of the source may stand for lines of the target:
// not if both calls name one file and not the same.
func (t *target) pathAllowed(s pipeline.Source) bool {
	if t.c.settings.GetCrossPath() {
		return true
	}
	own, other := t.b.Class.Call.File, s.Call.Class().File
	return own == "" || other == "" || classify.SameFile(own, other)
}

// editedSince says that a call that is no error edited the target's file after
// source i.
func (t *target) editedSince(i int) bool {
	file := t.b.Class.Call.File
	if file == "" {
		return false
	}
	// A call that wrote the text did not change it: later calls do.
	made := t.before.Sources[i].Call.Ordinal
	for j := i + 1; j < len(t.before.Sources); j++ {
		n := t.note(j)
		if n == nil || !n.edits || n.failed || t.before.Sources[j].Call.Ordinal <= made {
			continue
		}
		for _, f := range t.before.Sources[j].Call.Class().Edits {
			if classify.SameFile(file, f) {
				return true
			}
		}
	}
	return false
}

// repeats looks at earlier results of the same call, file and range.
func (t *target) repeats() pipeline.Gate {
	identity := t.b.Class.Call.Identity
	force := int(t.c.settings.GetForceAfter())
	seen, whole := 0, 0
	for i := len(t.before.Sources) - 1; i >= 0 && seen < force; i-- {
		if t.before.Sources[i].Argument != "" {
			continue
		}
		n := t.note(i)
		if n == nil || n.failed || n.identity != identity || t.before.Sources[i].Call.Ordinal == 0 {
			continue
		}
		if seen == 0 && t.b.Class.Call.File != "" && t.changedTooMuch(i) {
			return GateChanged
		}
		seen++
		if n.replaced {
			whole++
		}
	}
	if whole == force {
		return GateAsked
	}
	return ""
}

// changedTooMuch compares a file with what it was at source i and what was
// written into it since: lines without their numbers, as multisets.
func (t *target) changedTooMuch(i int) bool {
	text := t.before.Sources[i].Text()
	if text == t.text {
		return false
	}
	old := newTable(text, t.b.Class.Numbered)
	have := make(map[string]int, old.len())
	for k := range old.len() {
		have[old.content(text, k)]++
	}
	file := t.b.Class.Call.File
	for j := i + 1; j < len(t.before.Sources); j++ {
		s := t.before.Sources[j]
		if s.Argument == "" || !classify.SameFile(file, s.Call.Class().File) {
			continue
		}
		for line := range strings.Lines(s.Text()) {
			have[strings.TrimRight(line, "\n")]++
		}
	}
	changed := 0
	for k := range t.len() {
		line := t.content(t.text, k)
		if have[line] > 0 {
			have[line]--
		} else {
			changed++
		}
	}
	return float64(changed) > t.c.settings.GetMaxChangedRatio()*float64(t.len())
}
