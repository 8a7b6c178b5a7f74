package transcript

import (
	"slices"
	"sort"
)

// Change is a span of a body whose bytes were replaced by Len other bytes.
type Change struct {
	Span Span
	Len  int
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
	out := Digests{Head: before.Head, Messages: slices.Clone(before.Messages)}
	d := digester{t: &Transcript{Body: body}, h: h}
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
		out.Head = out.Head.Chain(d.sum())
	}
	for i, msg := range t.Messages {
		if !m.touches(msg.Span) {
			continue
		}
		moved := m.message(msg)
		md := MessageDigest{Print: before.Messages[i].Print, Blocks: make([]Sum, len(msg.Blocks))}
		for j, b := range msg.Blocks {
			if m.touches(b.Span) {
				md.Blocks[j] = d.block(moved.Blocks[j])
			} else {
				md.Blocks[j] = before.Messages[i].Blocks[j]
			}
		}
		md.Sum = d.combine(d.shell(moved), md.Blocks)
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

func (m *mover) message(msg Message) Message {
	out := msg
	out.Span, out.Marks = m.span(msg.Span), m.spans(msg.Marks)
	if msg.contentSpan.Len() > 0 {
		out.contentSpan = m.span(msg.contentSpan)
	}
	out.Blocks = make([]Block, len(msg.Blocks))
	for i, b := range msg.Blocks {
		nb := b
		nb.Span, nb.Marks = m.span(b.Span), m.spans(b.Marks)
		if b.Text.Len() > 0 {
			nb.Text = m.span(b.Text)
		}
		out.Blocks[i] = nb
	}
	return out
}
