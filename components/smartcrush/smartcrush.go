package smartcrush

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/document"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of smartcrush.
const (
	GateKind   pipeline.Gate = "file_or_search"
	GateFailed pipeline.Gate = "failed"
	GateSmall  pipeline.Gate = "below_min_tokens"
	GateShape  pipeline.Gate = "not_json_shaped"
	GateParse  pipeline.Gate = "json_parse_failed"
	GateShort  pipeline.Gate = "no_long_array"
	GateAll    pipeline.Gate = "all_items_kept"
	GateMark   pipeline.Gate = "mark_in_text"
)

// wording is the version of the text of a gap and of what is kept.
const wording = 1

// Component crushes arrays. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Smartcrush
	reporter *classify.Reporter
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component.
func New(settings *trimtabv1.Smartcrush) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("smartcrush: %w", err)
	}
	return &Component{settings: settings, reporter: classify.NewReporter()}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "smartcrush",
		Summary:   "Shows the first and the last items of long JSON arrays and those that report an error, and counts the others where they stood.",
		Stability: "experimental",
		Keeps:     pipeline.KeepsNothing,
		AtLevel:   [3]pipeline.Behaviour{pipeline.WorksNoUndo, pipeline.WorksNoUndo, pipeline.WorksNoUndo},
		Reason:    "What is left out follows from the call and the text alone, so there is nothing to remember.",
		Where:     "nowhere",
		Decided:   "docs/decisions/0006",
		Config:    c.settings,
		Wording:   wording,
		Gates: []pipeline.GateDoc{
			{Name: GateKind, Says: "the result shows a file, a difference or a search"},
			{Name: GateFailed, Says: "the call failed, so its result stays as it is"},
			{Name: GateSmall, Says: "the text is too short to be worth it"},
			{Name: GateShape, Says: "no JSON object or array begins the text or follows a short preamble"},
			{Name: GateMark, Says: "the text already speaks of cut items, or has a line that looks like a mark"},
			{Name: GateParse, Says: "what looks like JSON is not one whole document up to the end of the text"},
			{Name: GateShort, Says: "there is no array of enough objects at the first two levels"},
			{Name: GateAll, Says: "all items are kept, or those that are not are less than what counts them"},
		},
	}
}

// gapStart begins what stands for items that were cut.
const gapStart = pipeline.MarkStart + "cut "

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	least := int(c.settings.GetMinTokens())
	call := b.Class.Call
	switch {
	case call.ShowsFile(), call.Kind == classify.Search, call.Sub == classify.Seeker:
		return pipeline.Edit{}, GateKind
	case b.Class.Failed:
		return pipeline.Edit{}, GateFailed
	case len(b.Text) < least || tokens.Estimate(b.Text) < least: // a token is a byte at least
		return pipeline.Edit{}, GateSmall
	}
	from, to, shaped := document.Find(b.Text, "[{", true)
	switch {
	case to == 0 && shaped:
		return pipeline.Edit{}, GateParse
	case to == 0:
		return pipeline.Edit{}, GateShape
	case pipeline.HasMark(b.Received) || strings.Contains(b.Text, gapStart):
		return pipeline.Edit{}, GateMark
	}
	arrays := arraysOf(b.Text, from, to)
	var pieces pipeline.Pieces
	at, long := 0, false
	for _, items := range arrays {
		if len(items) < int(c.settings.GetMinItems()) || b.Text[items[0].from] != '{' {
			continue
		}
		long = true
		for _, g := range c.gaps(b.Text, items) {
			pieces.Keep(at, items[g.from].from)
			pieces.Literal(gapText(g.to - g.from))
			at = items[g.to-1].to
		}
	}
	switch {
	case !long:
		return pipeline.Edit{}, GateShort
	case pieces == nil:
		return pipeline.Edit{}, GateAll
	}
	pieces.Keep(at, len(b.Text))
	return pipeline.Edit{Pieces: pieces}, ""
}

// gapText stands for n items.
func gapText(n int) string {
	if n == 1 {
		return `"` + gapStart + `1 item]"`
	}
	return `"` + gapStart + strconv.Itoa(n) + ` items]"`
}

// span is a range of bytes, or of items.
type span struct{ from, to int }

// gaps are the ranges of items that go.
func (c *Component) gaps(text string, items []span) []span {
	var out []span
	last := len(items) - int(c.settings.GetKeepLast())
	for i := int(c.settings.GetKeepFirst()); i < last; i++ {
		from := i
		for i < last && !c.reports(text[items[i].from:items[i].to]) {
			i++
		}
		if from == i {
			continue
		}
		gone, gap := text[items[from].from:items[i-1].to], gapText(i-from)
		if len(gone) > surely || len(gone) > len(gap)+2 && tokens.Estimate(gone) > tokens.Estimate(gap) { // its quotes are escaped
			out = append(out, span{from, i})
		}
	}
	return out
}

// surely is a length in bytes that is more tokens than what stands for a gap.
const surely = 1000
