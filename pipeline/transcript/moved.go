package transcript

import (
	"math"
	"slices"
	"sort"
)

// Change is a span of a body whose bytes were replaced by Len other bytes.
type Change struct {
	Span Span
	Len  int
	// Sum is the digest of the new bytes if it is known; zero if it is not.
	Sum Sum
}

// After returns the digests of the body that t's becomes by the changes, which
// are sorted and do not overlap. Elements without a change keep the digests in
// before; the caller has proved that their bytes are the same. Changes lie inside
// blocks of messages, or in the system prompt.
func (t *Transcript) After(h Hasher, before Digests, body []byte, changes []Change) Digests {
	m := mover{changes: changes, delta: make([]int, len(changes)+1)}
	for i, c := range changes {
		m.delta[i+1] = m.delta[i] + c.Len - c.Span.Len()
	}
	out := Digests{Hasher: h, Head: before.Head, Messages: slices.Clone(before.Messages)}
	d := digester{t: &Transcript{Body: body}, h: h, longs: m.longs(t.hashed(h), h, body)}
	head := false
	for i, c := range changes {
		if t.messagesSpan.Start <= c.Span.Start && c.Span.End <= t.messagesSpan.End {
			continue
		}
		start := c.Span.Start + m.delta[i]
		d.add(body[start : start+c.Len])
		head = true
	}
	if head {
		out.Head = h.Chain(out.Head, d.sum())
	}
	for i, msg := range t.Messages {
		if !m.touches(msg.Span) {
			continue
		}
		md := before.Messages[i]
		md.Blocks = slices.Clone(md.Blocks)
		for j, b := range msg.Blocks {
			if m.touches(b.Span) {
				md.Blocks[j] = d.block(m.block(b))
			}
		}
		md.Sum = d.combine(md.shell, md.Blocks)
		out.Messages[i] = md
	}
	return out
}

// mover finds old offsets in the new body.
type mover struct {
	changes []Change
	delta   []int // how much the first i changes add
}

func (m *mover) at(x int) int {
	return x + m.delta[sort.Search(len(m.changes), func(i int) bool { return m.changes[i].Span.Start >= x })]
}

func (m *mover) span(s Span) Span { return Span{m.at(s.Start), m.at(s.End)} }

func (m *mover) touches(s Span) bool {
	i := sort.Search(len(m.changes), func(i int) bool { return m.changes[i].Span.Start >= s.Start })
	return i < len(m.changes) && m.changes[i].Span.Start < s.End
}

func (m *mover) spans(in []Span) []Span {
	out := make([]Span, len(in))
	for i, s := range in {
		out[i] = m.span(s)
	}
	return out
}

// longs are the long strings of the new body: the old ones that no change
// touches, and the new ones.
func (m *mover) longs(old longs, h Hasher, body []byte) longs {
	out, next := make(longs, 0, len(old)+len(m.changes)), 0
	changed := func(upTo int) {
		for ; next < len(m.changes) && m.changes[next].Span.Start <= upTo; next++ {
			c := m.changes[next]
			s := Span{Start: c.Span.Start + m.delta[next]}
			s.End = s.Start + c.Len
			if c.Len <= longString || body[s.Start] != '"' {
				continue
			}
			if c.Sum == (Sum{}) {
				c.Sum = h.Sum(body[s.Start:s.End])
			}
			out = append(out, long{s, c.Sum})
		}
	}
	for _, l := range old {
		changed(l.span.Start)
		if next == 0 || m.changes[next-1].Span.End < l.span.End {
			out = append(out, long{m.span(l.span), l.sum})
		}
	}
	changed(math.MaxInt)
	return out
}

func (m *mover) block(b Block) Block {
	b.Span, b.Marks = m.span(b.Span), m.spans(b.Marks)
	if b.Text.Len() > 0 {
		b.Text = m.span(b.Text)
	}
	return b
}
