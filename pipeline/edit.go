package pipeline

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// length is the number of bytes that a piece adds to the text.
func (p Piece) length() int {
	if p.Kind == Literal {
		return len(p.Text)
	}
	return p.To - p.From
}

// slice is the piece's bytes [from, to).
func (p Piece) slice(from, to int) Piece {
	if p.Kind == Literal {
		p.Text = p.Text[from:to]
		return p
	}
	p.From, p.To = p.From+from, p.From+to
	return p
}

// check refuses pieces that point outside of what they are cut from.
func check(pieces []Piece, text string, copied func(LeafRef) (string, bool)) error {
	for i, p := range pieces {
		if p.Kind == Literal {
			continue
		}
		of := text
		if p.Kind == Copy {
			var ok bool
			if of, ok = copied(p.Of); !ok {
				return fmt.Errorf("piece %d copies from no earlier source", i)
			}
		}
		if p.From < 0 || p.From > p.To || p.To > len(of) {
			return fmt.Errorf("piece %d is [%d,%d) of %d bytes", i, p.From, p.To, len(of))
		}
	}
	return nil
}

// render writes the text that the pieces make.
func render(pieces []Piece, text string, copied func(LeafRef) (string, bool)) string {
	n := 0
	for _, p := range pieces {
		n += p.length()
	}
	var b strings.Builder
	b.Grow(n)
	for _, p := range pieces {
		switch p.Kind {
		case Keep:
			b.WriteString(text[p.From:p.To])
		case Copy:
			of, _ := copied(p.Of)
			b.WriteString(of[p.From:p.To])
		case Literal:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// compose turns an edit of an edited text into an edit of the first text: base
// makes the text that edit is cut from. A nil base is the text itself.
func compose(base, edit []Piece) []Piece {
	if base == nil {
		return join(edit)
	}
	ends := make([]int, len(base))
	n := 0
	for i, p := range base {
		n += p.length()
		ends[i] = n
	}
	var out []Piece
	for _, p := range edit {
		if p.Kind != Keep {
			out = append(out, p)
			continue
		}
		at := p.From
		for i := sort.SearchInts(ends, at+1); i < len(base) && at < p.To; i++ {
			start := ends[i] - base[i].length()
			end := min(p.To, ends[i])
			out = append(out, base[i].slice(at-start, end-start))
			at = end
		}
	}
	return join(out)
}

// join merges neighbours that continue each other and drops empty pieces.
func join(pieces []Piece) []Piece {
	out := make([]Piece, 0, len(pieces))
	for _, p := range pieces {
		if p.length() == 0 {
			continue
		}
		if n := len(out); n > 0 {
			switch last := &out[n-1]; {
			case last.Kind == Keep && p.Kind == Keep && last.To == p.From:
				last.To = p.To
				continue
			case last.Kind == Literal && p.Kind == Literal:
				last.Text += p.Text
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// kept lists the ranges of the text that the pieces forward, in order of the
// text; nil pieces keep it whole.
func kept(pieces []Piece, n int) []Range {
	if pieces == nil {
		return []Range{{0, n}}
	}
	keeps := 0
	for _, p := range pieces {
		if p.Kind == Keep {
			keeps++
		}
	}
	out := make([]Range, 0, keeps) // it is remembered, so no larger than it must be
	for _, p := range pieces {
		if p.Kind == Keep {
			out = append(out, Range{p.From, p.To})
		}
	}
	slices.SortStableFunc(out, func(a, b Range) int { return a.From - b.From })
	merged := out[:0]
	for _, r := range out {
		if n := len(merged); n > 0 && r.From < merged[n-1].To {
			merged[n-1].To = max(merged[n-1].To, r.To)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// jsonLen is the number of bytes of s as the inside of a JSON string.
func jsonLen(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		n += int(escapes[s[i]])
	}
	return n
}

// escapes are how many bytes a byte takes besides itself inside a JSON string.
var escapes = func() (more [256]uint8) {
	for c := range 0x20 {
		more[c] = 5
	}
	for _, c := range []byte("\"\\\n\t\r") {
		more[c] = 1
	}
	return more
}()
