package backref

import (
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
)

// counts explains ordinals, on the first reference of a body.
const counts = "; #n counts tool calls from the start"

func literal(text string) pipeline.Piece {
	return pipeline.Piece{Kind: pipeline.Literal, Text: text}
}

func lineRange(first, last int) string {
	return "lines " + strconv.Itoa(first) + "-" + strconv.Itoa(last)
}

func ordinal(s pipeline.Source) string { return "#" + strconv.Itoa(s.Call.Ordinal) }

// runMark words a reference to a run of lines, without its closing bracket.
func (t *target) runMark(r reference, own, theirs int, begin, end quote) []pipeline.Piece {
	left := "1 line"
	if n := r.to - r.from; n > 1 {
		left = strconv.Itoa(n) + " lines"
	}
	if own >= 0 {
		run := t.runs[own]
		left = lineRange(run.First+r.from-run.From, run.First+r.to-1-run.From)
	}
	source := ordinal(r.source)
	if name := classify.Canonical(r.source.Argument); name != "" {
		source = "argument " + name + " of call " + source
	}
	head := pipeline.MarkStart + left + ": same as " + source + " "
	if theirs >= 0 {
		run := r.runs[theirs]
		first := run.First + r.line - run.From
		return []pipeline.Piece{literal(head + lineRange(first, first+r.to-r.from-1))}
	}
	return []pipeline.Piece{
		literal(head + `from "`), r.copied(begin), literal(`" to "`), r.copied(end), literal(`"`),
	}
}

// copied is a quote as a piece of the anchor's text.
func (a *anchor) copied(q quote) pipeline.Piece {
	return pipeline.Piece{Kind: pipeline.Copy, From: q.from, To: q.to, Of: a.source.Ref}
}

// closed ends a mark.
func (t *target) closed(mark []pipeline.Piece, first, terminated bool) []pipeline.Piece {
	end := "]"
	if first {
		end = counts + end
	}
	if terminated {
		end += "\n" // the mark's own, so that no line before it seems to be kept
	}
	if n := len(mark) - 1; mark[n].Kind == pipeline.Literal {
		mark[n].Text += end
		return mark
	}
	return append(mark, literal(end))
}

// spell writes a mark out, to estimate it.
func (t *target) spell(mark []pipeline.Piece) string {
	var b strings.Builder
	for _, p := range mark {
		switch p.Kind {
		case pipeline.Literal:
			b.WriteString(p.Text)
		case pipeline.Copy:
			b.WriteString(t.copyText(p))
		case pipeline.Keep:
		}
	}
	b.WriteByte(']')
	return b.String()
}

// copyText is what a copied piece of an anchor says.
func (t *target) copyText(p pipeline.Piece) string {
	for _, a := range t.cache {
		if a.source.Ref == p.Of {
			return a.text[p.From:p.To]
		}
	}
	return ""
}

// wholeMark words a reference to a whole result and judges it.
func (t *target) wholeMark(a *anchor) (pipeline.Edit, bool) {
	mark := []pipeline.Piece{literal(pipeline.MarkStart + "identical output to " + ordinal(a.source))}
	if call := t.b.Class.Call; call.Kind == classify.Read || call.Sub == classify.Viewer {
		mark = t.readMark(a, call)
	}
	cost := tokens.Estimate(t.spell(mark)) + 8
	if t.before.Acted == 0 {
		cost += firstCost
	}
	saved := tokens.Estimate(t.text) - cost
	if saved < int(t.c.settings.GetMinSavedTokens()) {
		return pipeline.Edit{}, false
	}
	pieces := t.closed(mark, t.before.Acted == 0, strings.HasSuffix(t.text, "\n"))
	return pipeline.Edit{Pieces: pieces, Uses: []pipeline.Use{{Source: a.source.Ref, SavedTokens: saved}}}, true
}

// maxPath is how long a path may be to be printed.
const maxPath = 80

// readMark words a reference to a whole read, with path and lines where there
// are any.
func (t *target) readMark(a *anchor, call classify.Call) []pipeline.Piece {
	mark := []pipeline.Piece{literal(pipeline.MarkStart + "same as " + ordinal(a.source))}
	path := !call.Place.None() && t.b.Call.Ordinal > 0 && printable(call.Named) && len(call.Named) <= maxPath
	if path {
		mark[0].Text += ": "
		mark = append(mark, pipeline.Piece{
			Kind: pipeline.Copy, From: call.Place.From, To: call.Place.To,
			Of: pipeline.LeafRef{Argument: true, Index: t.b.Call.Ordinal - 1, Part: call.Place.Part},
		})
	}
	lines := ""
	if len(t.runs) == 1 {
		lines = lineRange(t.runs[0].First, t.runs[0].Last())
	}
	switch {
	case path && lines != "":
		lines = " " + lines
	case lines != "":
		lines = ": " + lines
	}
	return append(mark, literal(lines+", unchanged"))
}

// printable says that a text can stand in a mark and be copied byte for byte.
func printable(s string) bool {
	for _, c := range []byte(s) {
		if !quotable(c) {
			return false
		}
	}
	return s != ""
}
