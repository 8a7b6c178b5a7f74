package format

import (
	"fmt"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
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
	if file(b.Class.Call) {
		return pipeline.Edit{}, GateFile
	}
	from, to, gate := document(b.Text)
	switch {
	case gate != "":
		return pipeline.Edit{}, gate
	case pipeline.HasMark(b.Text):
		return pipeline.Edit{}, GateMark
	case !c.settings.GetMultiline() && strings.Contains(b.Text[from:to], "\n"):
		return pipeline.Edit{}, GateLines
	}
	s := stripper{text: b.Text, lines: int(c.settings.GetLineDepth())}
	s.keep(0, from)
	s.document(from, to)
	s.keep(to, len(b.Text)) // white space at most
	after := spell(s.kept, b.Text)
	switch {
	case len(after) == len(b.Text) || tokens.Estimate(after) >= tokens.Estimate(b.Text):
		return pipeline.Edit{}, GateCompact
	case !sameValues(b.Text[from:to], after[from:len(after)-(len(b.Text)-to)]):
		return pipeline.Edit{}, GateContent
	}
	return pipeline.Edit{Pieces: s.kept}, ""
}

// file says that the call shows or edits a file.
func file(c classify.Call) bool {
	return c.Kind == classify.Read || c.Kind == classify.Edit || c.Sub == classify.Viewer || c.Sub == classify.Differ ||
		c.Command.Views || c.Command.Diffs
}

// maxPreamble is how many lines may stand before a document, as Codex's header and
// an echoed command do.
const maxPreamble = 10

// document finds the document that begins at one of the first lines and is the
// rest of the text, but for white space at the end.
func document(text string) (from, to int, gate pipeline.Gate) {
	gate = GateShape
	to = len(strings.TrimRight(text, " \t\r\n"))
	if to == 0 || text[to-1] != '}' && text[to-1] != ']' {
		return 0, 0, gate
	}
	for range maxPreamble + 1 {
		for from < to && (text[from] == ' ' || text[from] == '\t') {
			from++
		}
		if opens(text[from]) && text[to-1] == text[from]+2 {
			if transcript.Valid([]byte(text[from:to])) {
				return from, to, ""
			}
			gate = GateParse
		}
		i := strings.IndexByte(text[from:to], '\n')
		if i < 0 {
			break
		}
		from += i + 1
	}
	return 0, 0, gate
}

// opens says that an object or an array begins. Its closing bracket is the next
// but one in ASCII.
func opens(c byte) bool { return c == '{' || c == '[' }

// spell writes pieces out.
func spell(pieces []pipeline.Piece, text string) string {
	n := 0
	for _, p := range pieces {
		n += p.To - p.From
	}
	b := make([]byte, 0, n)
	for _, p := range pieces {
		b = append(b, text[p.From:p.To]...)
	}
	return string(b)
}
