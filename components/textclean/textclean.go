package textclean

import (
	"fmt"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of textclean.
const (
	GateNoNoise pipeline.Gate = "no_terminal_noise"
	GateNoLines pipeline.Gate = "returns_without_lines"
	GateContent pipeline.Gate = "content_would_change"
	GateMark    pipeline.Gate = "mark_in_text"
)

// wording is the version of what is cleaned and how.
const wording = 2

// Component cleans terminal output. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Textclean
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component.
func New(settings *trimtabv1.Textclean) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("textclean: %w", err)
	}
	return &Component{settings: settings}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "textclean",
		Summary:   "Removes terminal control sequences and the earlier states of redrawn lines.",
		Stability: "stable",
		Keeps:     pipeline.KeepsNothing,
		AtLevel:   [3]pipeline.Behaviour{pipeline.Works, pipeline.Works, pipeline.Works},
		Reason:    "The cleaned text follows from the received text alone, so there is nothing to remember.",
		Where:     "nowhere",
		Decided:   "docs/decisions/0002",
		Config:    c.settings,
		Wording:   wording,
		Linear:    true,
		EachPart:  true,
		Gates: []pipeline.GateDoc{
			{Name: GateNoNoise, Says: "there is nothing that a terminal would not have shown"},
			{Name: GateNoLines, Says: "carriage returns without line feeds separate lines here instead of redrawing one"},
			{Name: GateContent, Says: "a second reading of the text sees other lines, so it is left alone"},
			{Name: GateMark, Says: "a line of the cleaned text would look like a mark"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	if !noisy(b.Text) {
		return pipeline.Edit{}, GateNoNoise
	}
	if !strings.Contains(b.Text, "\n") && strings.Count(strings.TrimRight(b.Text, "\r"), "\r") > 1 {
		return pipeline.Edit{}, GateNoLines
	}
	cleaned := clean(b.Text)
	if len(cleaned) == 1 && cleaned[0].Kind == pipeline.Keep && cleaned[0].To-cleaned[0].From == len(b.Text) {
		return pipeline.Edit{}, GateNoNoise
	}
	after := cleaned.Text(b.Text)
	switch {
	case !sameScreen(b.Text, after):
		return pipeline.Edit{}, GateContent
	case pipeline.HasMark(after) && !pipeline.HasMark(b.Text):
		return pipeline.Edit{}, GateMark
	}
	return pipeline.Edit{Pieces: cleaned}, ""
}

// noisy says that a text has any character that a terminal consumes: an escape,
// a C1 control, a bell, a backspace, or a carriage return that ends no line.
func noisy(text string) bool {
	if strings.IndexByte(text, 0x1b) >= 0 || strings.IndexByte(text, '\b') >= 0 || strings.IndexByte(text, '\a') >= 0 || hasC1(text) {
		return true
	}
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\r')
		if i < 0 {
			return false
		}
		at += i
		for at < len(text) && text[at] == '\r' {
			at++
		}
		if at < len(text) && text[at] != '\n' {
			return true
		}
	}
}

// hasC1 says that a text has a control character of U+0080 to U+009F.
func hasC1(text string) bool {
	for {
		i := strings.IndexByte(text, 0xc2)
		if i < 0 || i+1 == len(text) {
			return false
		}
		if text = text[i+1:]; text[0] >= 0x80 && text[0] <= 0x9f {
			return true
		}
	}
}
