package transcript

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"slices"
)

// Sum is a digest, truncated to 128 bits. It is not keyed: whoever keeps one
// must key it first.
type Sum [16]byte

// Digests are the canonical digests of a transcript's elements: cache
// breakpoints are left out, and a string content equals one text block.
type Digests struct {
	// Head covers tools, system and the options that are part of the input chain.
	Head Sum
	// Messages are parallel to Transcript.Messages.
	Messages []MessageDigest
}

// MessageDigest is the digest of one message.
type MessageDigest struct {
	// Sum covers all of the message.
	Sum Sum
	// Print covers what tells one thread from another: not the content of tool
	// results, which are known by their call's id, and no thinking.
	Print Sum
	// Blocks are the digests of its content blocks.
	Blocks []Sum
}

// Digest computes the digests of all elements. Its cost is linear in the body.
func (t *Transcript) Digest() Digests {
	d := digester{t: t, h: sha256.New()}
	out := Digests{Head: d.head(), Messages: make([]MessageDigest, len(t.Messages))}
	ri := 0
	for i, m := range t.Messages {
		md := MessageDigest{Blocks: make([]Sum, len(m.Blocks))}
		for j, b := range m.Blocks {
			md.Blocks[j] = d.block(b)
		}
		first := ri
		for ri < len(t.Results) && t.Results[ri].Message == i {
			ri++
		}
		shell := d.shell(m)
		md.Sum = d.combine(shell, md.Blocks)
		md.Print = d.print(m, shell, md.Blocks, t.Results[first:ri])
		out.Messages[i] = md
	}
	return out
}

type digester struct {
	t *Transcript
	h hash.Hash
}

func (d *digester) sum() (s Sum) {
	var full [sha256.Size]byte
	d.h.Sum(full[:0])
	d.h.Reset()
	copy(s[:], full[:])
	return s
}

// without hashes the span less the removed ones, which lie inside it.
func (d *digester) without(s Span, removed []Span) {
	if len(removed) > 1 {
		removed = slices.Clone(removed)
		slices.SortFunc(removed, func(a, b Span) int { return a.Start - b.Start })
	}
	at := s.Start
	for _, r := range removed {
		if r.Start >= at && r.End <= s.End {
			d.h.Write(d.t.Body[at:r.Start])
			at = r.End
		}
	}
	d.h.Write(d.t.Body[at:s.End])
}

// head is the digest of what stands before the messages.
func (d *digester) head() Sum {
	t := d.t
	d.h.Write([]byte("tools"))
	d.h.Write(t.Body[t.toolsSpan.Start:t.toolsSpan.End])
	for _, o := range t.options {
		d.h.Write([]byte("option"))
		d.h.Write([]byte(o.key))
		d.h.Write(t.Body[o.value.Start:o.value.End])
	}
	head := d.sum()
	blocks := make([]Sum, len(t.System))
	for i, b := range t.System {
		blocks[i] = d.block(b)
	}
	return d.combine(head, blocks)
}

// block is the canonical digest of one content block.
func (d *digester) block(b Block) Sum {
	if b.Bare || d.onlyText(b) {
		d.h.Write([]byte("text"))
		d.h.Write(d.t.Body[b.Text.Start:b.Text.End])
		return d.sum()
	}
	d.h.Write([]byte("block"))
	d.without(b.Span, b.Marks)
	return d.sum()
}

// onlyText says that the block is a text block with nothing besides its text
// and its breakpoints.
func (d *digester) onlyText(b Block) bool {
	if b.Type != "text" || b.Text.Len() == 0 || b.Span.Len()-b.Text.Len() > 512 {
		return false
	}
	var rest []byte
	at := b.Span.Start
	for _, r := range append([]Span{b.Text}, b.Marks...) {
		if r.Start < at && r != b.Text {
			return d.onlyTextMarkFirst(b)
		}
		rest = append(rest, d.t.Body[at:r.Start]...)
		at = r.End
	}
	rest = append(rest, d.t.Body[at:b.Span.End]...)
	return isTextShell(rest)
}

// onlyTextMarkFirst is onlyText for marks that stand before the text.
func (d *digester) onlyTextMarkFirst(b Block) bool {
	removed := append([]Span{b.Text}, b.Marks...)
	slices.SortFunc(removed, func(a, b Span) int { return a.Start - b.Start })
	var rest []byte
	at := b.Span.Start
	for _, r := range removed {
		if r.Start < at {
			return false
		}
		rest = append(rest, d.t.Body[at:r.Start]...)
		at = r.End
	}
	return isTextShell(append(rest, d.t.Body[at:b.Span.End]...))
}

// isTextShell says that what is left of a text block without its text is just
// the type and the key.
func isTextShell(rest []byte) bool {
	rest = bytes.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			return -1
		}
		return r
	}, rest)
	s := string(rest)
	return s == `{"type":"text","text":}` || s == `{"text":,"type":"text"}`
}

// shell is the digest of what a message holds besides its content.
func (d *digester) shell(m Message) Sum {
	d.h.Write([]byte("shell"))
	d.h.Write([]byte(m.Role))
	if c := m.contentSpan; c.Len() > 0 {
		if c == m.Span {
			return d.sum()
		}
		d.without(Span{m.Span.Start, c.Start}, m.Marks)
		d.h.Write([]byte{0})
		d.without(Span{c.End, m.Span.End}, m.Marks)
	} else if len(m.Blocks) == 0 {
		d.without(m.Span, m.Marks)
	}
	return d.sum()
}

func (d *digester) combine(shell Sum, blocks []Sum) Sum {
	d.h.Write(shell[:])
	for _, b := range blocks {
		d.h.Write(b[:])
	}
	return d.sum()
}

// print is the digest for telling threads apart.
func (d *digester) print(m Message, shell Sum, blocks []Sum, results []Result) Sum {
	if len(results) == 1 && results[0].Block <= 0 && (len(blocks) <= 1 || results[0].Block < 0) {
		d.h.Write([]byte("result"))
		d.h.Write([]byte(results[0].id))
		return d.sum()
	}
	d.h.Write(shell[:])
	next := 0
	for j, b := range m.Blocks {
		switch {
		case next < len(results) && results[next].Block == j:
			d.h.Write([]byte(results[next].id))
			next++
		case b.Type == "thinking", b.Type == "redacted_thinking", b.Type == "reasoning":
		default:
			d.h.Write(blocks[j][:])
		}
	}
	return d.sum()
}

// Chain is the running digest of s and what follows it.
func (s Sum) Chain(next Sum) Sum {
	var both [32]byte
	copy(both[:16], s[:])
	copy(both[16:], next[:])
	full := sha256.Sum256(both[:])
	var out Sum
	copy(out[:], full[:])
	return out
}

// AsksOneHour says that a breakpoint anywhere asks for the one-hour cache.
func (t *Transcript) AsksOneHour() bool {
	for _, m := range t.automatic {
		if bytes.Contains(t.Body[m.Start:m.End], []byte(`"1h"`)) {
			return true
		}
	}
	for _, b := range t.System {
		if b.TTL1h {
			return true
		}
	}
	for _, m := range t.Messages {
		for _, b := range m.Blocks {
			if b.TTL1h {
				return true
			}
		}
	}
	return bytes.Contains(t.Body[t.toolsSpan.Start:t.toolsSpan.End], []byte(`"ttl":"1h"`))
}

// HeadSpans are the spans of tools and system.
func (t *Transcript) HeadSpans() []Span { return []Span{t.toolsSpan, t.systemSpan} }

// AppendWithoutMarks appends the block's JSON without its breakpoints and
// without one further span.
func (t *Transcript) AppendWithoutMarks(dst []byte, b Block, leaveOut Span) []byte {
	out := slices.Clone(b.Marks)
	out = append(out, leaveOut)
	slices.SortFunc(out, func(a, b Span) int { return a.Start - b.Start })
	at := b.Span.Start
	for _, s := range out {
		if s.Start < at {
			continue
		}
		dst = append(dst, t.Body[at:s.Start]...)
		at = s.End
	}
	return append(dst, t.Body[at:b.Span.End]...)
}
