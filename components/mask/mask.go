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

// wording is the version of the note's text. A record of an older one renders as it
// did.
const wording = 2

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
// alone: the wording's version and the peek's length are in the record.
func (c *Component) Render(b pipeline.Block, d pipeline.Decision) (pipeline.Edit, pipeline.Gate) {
	line, at := firstLine(b.Text)
	var peek []pipeline.Piece
	if d.Wording == 1 {
		peek = peekLine(line, at, int(d.Params[0]), true)
	} else if peek = peekLine(line, at, int(d.Params[0]), false); length(peek) < minPeek {
		peek = nil
	}
	if len(peek) == 0 {
		return edit(pipeline.Piece{Kind: pipeline.Literal, Text: "[trimtab older output left out; run the tool again if it is needed]"}), ""
	}
	pieces := []pipeline.Piece{{Kind: pipeline.Literal, Text: "[trimtab older output left out; run the tool again if it is needed; it began: "}}
	pieces = append(pieces, peek...)
	return edit(append(pieces, pipeline.Piece{Kind: pipeline.Literal, Text: "]"})...), ""
}

func edit(pieces ...pipeline.Piece) pipeline.Edit { return pipeline.Edit{Pieces: pieces} }

// minPeek is how many characters of a line say something.
const minPeek = 8

func length(peek []pipeline.Piece) int {
	n := 0
	for _, p := range peek {
		n += len(p.Text) + p.To - p.From
	}
	return n
}

// firstLine is the first line that is not blank, and where it starts.
func firstLine(text string) (line string, at int) {
	for {
		line, _, more := strings.Cut(text[at:], "\n")
		if strings.TrimSpace(line) != "" || !more {
			return line, at
		}
		at += len(line) + 1
	}
}

// peekLine keeps up to n characters of a line that starts at an offset, runs of
// white space as one space. A character that can't stand in a mark, which is
// printable ASCII without the closing bracket, ends it; records of wording 1 skip
// it instead.
func peekLine(line string, at, n int, skips bool) []pipeline.Piece {
	var out pipeline.Pieces
	space, count := false, 0
	for i := 0; i < len(line) && count < n; i++ {
		switch ch := line[i]; {
		case ch == ' ' || ch == '\t' || ch == '\r':
			space = count > 0
			continue
		case ch < ' ' || ch > '~' || ch == ']':
			if skips {
				continue
			}
			return out
		}
		if space {
			if count++; count == n {
				break
			}
			out.Literal(" ")
			space = false
		}
		out.Keep(at+i, at+i+1)
		count++
	}
	return out
}
