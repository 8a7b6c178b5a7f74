package mask

import (
	"fmt"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
	"github.com/trimtab-io/trimtab/store"
)

// Gates of mask.
const (
	GateRecent   pipeline.Gate = "within_keep_recent"
	GateUnread   pipeline.Gate = "not_read_yet"
	GateSmall    pipeline.Gate = "below_min_chars"
	GateMark     pipeline.Gate = "mark_in_text"
	GateParts    pipeline.Gate = "several_parts"
	GateUnedited pipeline.Gate = "untouchable"
)

// wording is the version of the note's text.
const wording = 1

// Component decides on cold turns and renders the note ever after.
type Component struct {
	settings *trimtabv1.Mask
}

var _ pipeline.Decided = (*Component)(nil)

// New makes the component; the settings have their defaults filled in.
func New(settings *trimtabv1.Mask) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	return &Component{settings: settings}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "mask",
		Summary:   "Cuts old tool results down to a one-line note when the provider's cache has expired anyway.",
		Stability: "beta",
		Keeps:     pipeline.KeepsFacts,
		AtLevel: [3]pipeline.Behaviour{
			store.Off: pipeline.Skips, store.Metadata: pipeline.WorksNoUndo, store.Everything: pipeline.WorksNoUndo,
		},
		Reason:  "A cut must go out the same way on every later turn, which takes one recorded fact for each cut result.",
		Where:   "facts",
		Decided: "docs/decisions/0003",
		Config:  c.settings,
		Wording: wording,
		Linear:  true,
		Gates: []pipeline.GateDoc{
			{Name: GateRecent, Says: "the result is among the most recent messages"},
			{Name: GateUnread, Says: "the model has not answered to the result yet"},
			{Name: GateSmall, Says: "the result is too short to be worth a note"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
			{Name: GateParts, Says: "the result has several parts"},
			{Name: GateUnedited, Says: "the engine does not let the result be edited"},
		},
	}
}

// Decide implements pipeline.Decided: it proposes every result of the view that
// is old enough and long enough.
func (c *Component) Decide(v pipeline.View) ([]pipeline.Decision, map[pipeline.Gate]int) {
	gates := map[pipeline.Gate]int{}
	if c.settings.GetColdOnly() && !v.Cold {
		gates[pipeline.GateNotCold] = len(v.Blocks)
		return nil, gates
	}
	var out []pipeline.Decision
	for i, b := range v.Blocks {
		if b.Decided {
			continue
		}
		if g := c.gate(v, b); g != "" {
			gates[g]++
			continue
		}
		out = append(out, pipeline.Decision{Block: i, Wording: wording, Params: [4]int64{int64(c.settings.GetPeekChars())}})
	}
	return out, gates
}

func (c *Component) gate(v pipeline.View, b pipeline.ViewBlock) pipeline.Gate {
	switch {
	case b.Message >= v.Messages-int(c.settings.GetKeepRecentMessages()):
		return GateRecent
	case b.Message >= v.LastAssistant:
		return GateUnread
	case b.Untouchable != "":
		return GateUnedited
	case b.Parts != 1:
		return GateParts
	case len(b.Text) < int(c.settings.GetMinChars()):
		return GateSmall
	case b.HasMark:
		return GateMark
	}
	return ""
}

// Render implements pipeline.Decided. It depends on the block and the record
// alone: the peek's length is in the record.
func (c *Component) Render(b pipeline.Block, d pipeline.Decision) (pipeline.Edit, pipeline.Gate) {
	peek := peekOf(b.Text, int(d.Params[0]))
	if len(peek) == 0 {
		return edit(pipeline.Piece{Kind: pipeline.Literal, Text: "[trimtab older output left out; run the tool again if it is needed]"}), ""
	}
	pieces := []pipeline.Piece{{Kind: pipeline.Literal, Text: "[trimtab older output left out; run the tool again if it is needed; it began: "}}
	pieces = append(pieces, peek...)
	return edit(append(pieces, pipeline.Piece{Kind: pipeline.Literal, Text: "]"})...), ""
}

func edit(pieces ...pipeline.Piece) pipeline.Edit { return pipeline.Edit{Pieces: pieces} }

// peekOf keeps up to n characters of the first line that is not blank: printable
// ASCII without the bracket that would end the mark, runs of white space as one
// space.
func peekOf(text string, n int) []pipeline.Piece {
	start := 0
	for {
		end := strings.IndexByte(text[start:], '\n')
		line := text[start:]
		if end >= 0 {
			line = text[start : start+end]
		}
		if strings.TrimSpace(line) != "" || end < 0 {
			return peekLine(line, start, n)
		}
		start += end + 1
	}
}

func peekLine(line string, at, n int) []pipeline.Piece {
	var out []pipeline.Piece
	space, count := false, 0
	for i := 0; i < len(line) && count < n; i++ {
		switch ch := line[i]; {
		case ch == ' ' || ch == '\t' || ch == '\r':
			space = count > 0
			continue
		case ch < ' ' || ch > '~' || ch == ']':
			continue
		}
		if space {
			if count++; count == n {
				break
			}
			out = append(out, pipeline.Piece{Kind: pipeline.Literal, Text: " "})
			space = false
		}
		if last := len(out) - 1; last >= 0 && out[last].Kind == pipeline.Keep && out[last].To == at+i {
			out[last].To++
		} else {
			out = append(out, pipeline.Piece{Kind: pipeline.Keep, From: at + i, To: at + i + 1})
		}
		count++
	}
	return out
}
