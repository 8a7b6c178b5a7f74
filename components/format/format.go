package format

import (
	"fmt"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/document"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of format.
const (
	GateFile    pipeline.Gate = "file_read"
	GateShape   pipeline.Gate = "not_json_shaped"
	GateMark    pipeline.Gate = "mark_in_text"
	GateParse   pipeline.Gate = "json_parse_failed"
	GateLines   pipeline.Gate = "several_lines"
	GateCompact pipeline.Gate = "already_compact"
	GateContent pipeline.Gate = "content_would_change"
)

// wording is the version of what is taken out and what stays.
const wording = 1

// Component compacts JSON. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Format
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component.
func New(settings *trimtabv1.Format) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	return &Component{settings: settings}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "format",
		Summary:   "Takes the white space out of JSON that commands and tools print.",
		Stability: "stable",
		Keeps:     pipeline.KeepsNothing,
		AtLevel:   [3]pipeline.Behaviour{pipeline.Works, pipeline.Works, pipeline.Works},
		Reason:    "The compact form follows from the received text alone, so there is nothing to remember.",
		Where:     "nowhere",
		Decided:   "docs/decisions/0002",
		Config:    c.settings,
		Wording:   wording,
		Linear:    true,
		Gates: []pipeline.GateDoc{
			{Name: GateFile, Says: "the result shows a file, whose layout an edit may have to match"},
			{Name: GateShape, Says: "no JSON object or array begins the text or follows a short preamble"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
			{Name: GateParse, Says: "what looks like JSON is not one whole document up to the end of the text"},
			{Name: GateLines, Says: "the document has several lines, which are left to be referred to"},
			{Name: GateCompact, Says: "there is no white space to take out that is worth a token"},
			{Name: GateContent, Says: "a second reading of the JSON sees other values, so it is left alone"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	if b.Class.Call.ShowsFile() {
		return pipeline.Edit{}, GateFile
	}
	from, to, shaped := document.Find(b.Text, "[{", true)
	switch {
	case to == 0 && shaped:
		return pipeline.Edit{}, GateParse
	case to == 0:
		return pipeline.Edit{}, GateShape
	case pipeline.HasMark(b.Text):
		return pipeline.Edit{}, GateMark
	case !c.settings.GetMultiline() && strings.Contains(b.Text[from:to], "\n"):
		return pipeline.Edit{}, GateLines
	}
	s := stripper{text: b.Text, lines: int(c.settings.GetLineDepth())}
	s.kept.Keep(0, from)
	s.document(from, to)
	s.kept.Keep(to, len(b.Text)) // white space at most
	after := s.kept.Text(b.Text)
	switch {
	case len(after) == len(b.Text) || tokens.Estimate(after) >= tokens.Estimate(b.Text):
		return pipeline.Edit{}, GateCompact
	case !sameValues(b.Text[from:to], after[from:len(after)-(len(b.Text)-to)]):
		return pipeline.Edit{}, GateContent
	}
	return pipeline.Edit{Pieces: s.kept}, ""
}
