package cmdfilter

import (
	"slices"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
)

// maxPlaces bounds the bytes of the places that one mark names.
const maxPlaces = 600

// gapMark stands where n lines that follow each other were cut.
func gapMark(n int, what string) string {
	return pipeline.MarkStart + "cut " + pipeline.CountLines(n) + ": " + what + "]"
}

// fromHereMark stands where the first of n lines was cut.
func fromHereMark(n int, what string) string {
	return pipeline.MarkStart + "cut " + pipeline.CountLines(n) + " from here on: " + what + "]"
}

func trimMark(n int, what string) string {
	return pipeline.MarkStart + "shortened " + pipeline.CountLines(n) + " from here on: " + what + "]"
}

// gap is a range of lines that were all cut.
type gap struct {
	span
	mark string
}

// segments lists the cut lines that follow each other. Lines of groups, which have
// marks of their own, are segments by themselves.
func (t *text) segments() []span {
	var out []span
	for i := 0; i < len(t.cut); {
		if t.cut[i] == 0 {
			i++
			continue
		}
		from, grouped := i, t.grouped(i)
		for i < len(t.cut) && t.cut[i] != 0 && t.grouped(i) == grouped {
			i++
		}
		out = append(out, span{from, i})
	}
	return out
}

func (t *text) grouped(i int) bool { return t.by(i).verb == group }

// by is the stage that cut line i.
func (t *text) by(i int) *stage { return t.reasons[t.cut[i]-1].stage }

// gaps settles what is cut and how it is marked. A segment in which a stage cut
// that marks each gap gets one mark for all of its lines; what other stages cut
// is counted by one mark for each stage, at the first of its segments. Lines that
// are shorter than their mark are put back.
func (t *text) gaps() []gap {
	t.leaveProof()
	lengths := make([]int, len(t.reasons)) // bytes that a shared mark of each stage stands for
	for _, g := range t.segments() {
		if what := t.whats(g); what != "" {
			if t.bytes(g) > len(gapMark(g.to-g.from, what)) {
				continue
			}
			t.putBack(g, func(s *stage) bool { return !s.scattered() && s.verb != group })
		}
		for i := g.from; i < g.to; i++ {
			if t.cut[i] != 0 {
				lengths[t.cut[i]-1] += t.bytes(span{i, i + 1})
			}
		}
	}
	for r, n := range lengths {
		s := t.reasons[r].stage
		if n == 0 || !s.scattered() || n > len(fromHereMark(n, s.what)) {
			continue
		}
		for _, g := range t.segments() {
			if t.whats(g) == "" {
				t.putBack(g, func(other *stage) bool { return other == s })
			}
		}
	}
	return t.marked(t.segments())
}

// leaveProof puts the last line back that is not blank, if nothing else would be
// left: a mark alone is a claim that no line of the command proves.
func (t *text) leaveProof() {
	last := -1
	for i := range t.lines {
		if strings.TrimSpace(t.lines[i].view) == "" {
			continue
		}
		if t.cut[i] == 0 {
			return
		}
		last = i
	}
	if last >= 0 {
		t.cut[last] = 0
	}
}

// putBack keeps the lines of a segment after all that some stages cut.
func (t *text) putBack(g span, of func(*stage) bool) {
	for i := g.from; i < g.to; i++ {
		if t.cut[i] != 0 && of(t.by(i)) {
			t.cut[i] = 0
		}
	}
}

// whats are the texts of the stages that cut in a segment; empty if none of them
// marks each of its gaps.
func (t *text) whats(g span) string {
	var list []string
	each := false
	for i := g.from; i < g.to; i++ {
		if t.cut[i] == 0 {
			continue
		}
		s := t.by(i)
		each = each || !s.scattered() && s.verb != group
		if !slices.Contains(list, s.what) {
			list = append(list, s.what)
		}
	}
	if !each {
		return ""
	}
	return strings.Join(list, ", ")
}

func (t *text) bytes(s span) int {
	if s.to < len(t.lines) {
		return t.lines[s.to].from - t.lines[s.from].from
	}
	return len(t.all) - t.lines[s.from].from
}

// marked gives segments their marks.
func (t *text) marked(segments []span) []gap {
	out := make([]gap, len(segments))
	shared := make([]struct{ segments, first, lines int }, len(t.reasons))
	for k, g := range segments {
		out[k].span = g
		if what := t.whats(g); what != "" {
			out[k].mark = gapMark(g.to-g.from, what)
			continue
		}
		last := -1
		for i := g.from; i < g.to; i++ {
			r := int(t.cut[i] - 1)
			s := &shared[r]
			if s.lines == 0 {
				s.first = k
			}
			if last != r {
				s.segments++
			}
			s.lines++
			last = r
		}
	}
	for r, sh := range shared {
		s := t.reasons[r].stage
		if sh.lines == 0 || s.verb == group {
			continue
		}
		g := &out[sh.first]
		mark := fromHereMark(sh.lines, s.what)
		if sh.segments == 1 && g.to-g.from == sh.lines {
			mark = gapMark(sh.lines, s.what)
		}
		if g.mark != "" {
			mark = g.mark + "\n" + mark
		}
		g.mark = mark
	}
	return out
}

// pieces writes the text without what was cut. It is nil if nothing was.
func (t *text) pieces() pipeline.Pieces {
	gaps := t.gaps()
	t.untrim()
	after := t.after()
	if len(gaps) == 0 && len(after) == 0 {
		return nil
	}
	b := &builder{text: t.all}
	next := 0
	for i := 0; i < len(t.lines); {
		if m, ok := after[-i-1]; ok { // marks that stand before line i
			b.marks(m)
		}
		if next < len(gaps) && gaps[next].from == i {
			if m := gaps[next].mark; m != "" {
				b.marks([][]pipeline.Piece{{{Kind: pipeline.Literal, Text: m}}})
			}
			i = gaps[next].to
			next++
			continue
		}
		from := t.lines[i].from
		if t.skip != nil {
			from += int(t.skip[i])
		}
		b.line(from, t.lines[i].to)
		if m, ok := after[i+1]; ok {
			b.marks(m)
		}
		i++
	}
	return b.end()
}

// after are the marks of groups and of shortened lines, by line: i+1 for those
// behind line i, -i-1 for those before it.
func (t *text) after() map[int][][]pipeline.Piece {
	out := map[int][][]pipeline.Piece{}
	literal := func(s string) pipeline.Piece { return pipeline.Piece{Kind: pipeline.Literal, Text: s} }
	for r := range t.reasons {
		reason := &t.reasons[r]
		if n, first, _ := t.trimmed(r); n > 0 {
			k := -first - 1
			out[k] = append(out[k], []pipeline.Piece{literal(trimMark(n, reason.stage.what))})
		}
		for _, g := range reason.groups {
			for at := g.at; len(at) > 0; {
				n, size := 0, 0
				for n < len(at) && size < maxPlaces {
					size += at[n].to - at[n].from + 1
					n++
				}
				mark := []pipeline.Piece{literal(pipeline.MarkStart + "cut " + pipeline.CountLines(n*g.lines) + " from here on, same text at:")}
				for _, p := range at[:n] {
					mark = append(mark, literal(" "), pipeline.Piece{Kind: pipeline.Keep, From: p.from, To: p.to})
				}
				mark = append(mark, literal("]"))
				out[g.after+1] = append(out[g.after+1], mark)
				at = at[n:]
			}
		}
	}
	return out
}

// trimmed counts the lines that reason r shortened and that are kept, and the
// bytes that they lost.
func (t *text) trimmed(r int) (n, first, bytes int) {
	if t.reasons[r].stage.verb != trim || t.skip == nil {
		return 0, 0, 0
	}
	for i, k := range t.skip {
		if k == 0 || t.cut[i] != 0 || int(t.skipBy[i]) != r+1 {
			continue
		}
		if n == 0 {
			first = i
		}
		n++
		bytes += int(k)
	}
	return n, first, bytes
}

// untrim takes back what is shorter than its mark.
func (t *text) untrim() {
	for r := range t.reasons {
		n, _, bytes := t.trimmed(r)
		if n == 0 || bytes > len(trimMark(n, t.reasons[r].stage.what)) {
			continue
		}
		for i := range t.skip {
			if int(t.skipBy[i]) == r+1 {
				t.skip[i] = 0
			}
		}
	}
}

// builder writes lines and marks. Terminators of lines that are kept are kept;
// a mark ends in a newline unless the text ends with it.
type builder struct {
	text   string
	pieces pipeline.Pieces
}

// line writes a line with its terminator, if it has one.
func (b *builder) line(from, to int) {
	if to < len(b.text) {
		to++ // the newline
	}
	b.pieces.Keep(from, to)
}

// marks writes marks, each on a line of its own.
func (b *builder) marks(list [][]pipeline.Piece) {
	if n := len(b.pieces); n > 0 { // the last line of the text may have no newline
		if p := b.pieces[n-1]; p.Kind == pipeline.Keep && b.text[p.To-1] != '\n' {
			b.pieces.Literal("\n")
		}
	}
	for _, m := range list {
		for _, p := range m {
			if p.Kind == pipeline.Literal {
				b.pieces.Literal(p.Text)
			} else {
				b.pieces.Keep(p.From, p.To)
			}
		}
		b.pieces.Literal("\n")
	}
}

// end takes the last newline off, if the text has none at its end.
func (b *builder) end() pipeline.Pieces {
	if n := len(b.pieces); n > 0 && !strings.HasSuffix(b.text, "\n") {
		switch p := &b.pieces[n-1]; {
		case p.Kind == pipeline.Literal:
			p.Text = strings.TrimSuffix(p.Text, "\n")
		case b.text[p.To-1] == '\n':
			p.To--
		}
	}
	return b.pieces
}
