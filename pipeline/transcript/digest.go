package transcript

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// Sum is a digest of 128 bits.
type Sum [16]byte

// Digests are the canonical digests of a transcript's elements: cache
// breakpoints are left out, and a string content equals one text block.
type Digests struct {
	// Hasher made the digests.
	Hasher Hasher
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

	shell Sum // of what it holds besides its content
}

// Hasher hashes in process: keyed by a seed of its own, so that nobody can make
// two texts of one digest, and some six times as fast as SHA-256 (maphash, twice
// 81 us per MB, against 600 us). Its digests mean nothing outside of it.
type Hasher struct{ a, b maphash.Seed }

// NewHasher makes a hasher with a random seed.
func NewHasher() Hasher { return Hasher{maphash.MakeSeed(), maphash.MakeSeed()} }

// Sum is the digest of one text.
func (h Hasher) Sum(p []byte) (s Sum) {
	binary.LittleEndian.PutUint64(s[:8], maphash.Bytes(h.a, p))
	binary.LittleEndian.PutUint64(s[8:], maphash.Bytes(h.b, p))
	return s
}

// Digest computes the digests of all elements. Its cost is linear in the body.
func (t *Transcript) Digest(h Hasher) Digests {
	d := digester{t: t, h: h, longs: t.hashed(h)}
	out := Digests{Hasher: h, Head: d.head(), Messages: make([]MessageDigest, len(t.Messages))}
	ri, n := 0, 0
	for _, m := range t.Messages {
		n += len(m.Blocks)
	}
	blocks := make([]Sum, n)
	for i, m := range t.Messages {
		md := MessageDigest{Blocks: blocks[:len(m.Blocks):len(m.Blocks)]}
		blocks = blocks[len(m.Blocks):]
		for j, b := range m.Blocks {
			md.Blocks[j] = d.block(b)
		}
		first := ri
		for ri < len(t.Results) && t.Results[ri].Message == i {
			ri++
		}
		md.shell = d.shell(m)
		md.Sum = d.combine(md.shell, md.Blocks)
		md.Print = d.print(m, md.shell, md.Blocks, t.Results[first:ri])
		out.Messages[i] = md
	}
	return out
}

// digester collects the digests of parts and makes one of them.
type digester struct {
	t     *Transcript
	h     Hasher
	longs longs // of the body, for without
	next  int   // in longs, near what was asked for last
	parts []byte
}

// shortPart is the length below which a part is taken in as it is.
const shortPart = 128

// add takes one part in; the borders between parts are part of the digest.
func (d *digester) add(p []byte) {
	if len(p) < shortPart {
		d.parts = append(append(d.parts, byte(len(p))), p...)
		return
	}
	d.addSum(d.h.Sum(p))
}

// addSum takes one part in by its digest.
func (d *digester) addSum(s Sum) { d.parts = append(append(d.parts, shortPart), s[:]...) }

// sum is the digest of the parts since the last one.
func (d *digester) sum() Sum {
	s := d.h.Sum(d.parts)
	d.parts = d.parts[:0]
	return s
}

// without adds the span less the removed ones, which lie inside it, as one part
// and two more for each long string: where breakpoints stood does not show.
func (d *digester) without(s Span, removed []Span) {
	piece := func(s Span) {
		if len(removed) == 0 {
			d.add(d.t.Body[s.Start:s.End])
			return
		}
		d.add(d.t.AppendWithout(nil, s, removed))
	}
	at := s.Start
	for _, l := range d.from(at) {
		if l.span.End > s.End {
			break
		}
		if slices.ContainsFunc(removed, func(r Span) bool { return r.Start <= l.span.Start && l.span.End <= r.End }) {
			continue
		}
		piece(Span{at, l.span.Start})
		d.addSum(l.sum)
		at = l.span.End
	}
	piece(Span{at, s.End})
}

// from are the long strings that begin at or after a byte. Parts are asked for
// more or less in order.
func (d *digester) from(at int) longs {
	for d.next > 0 && d.longs[d.next-1].span.Start >= at {
		d.next--
	}
	for d.next < len(d.longs) && d.longs[d.next].span.Start < at {
		d.next++
	}
	return d.longs[d.next:]
}

// head is the digest of what stands before the messages.
func (d *digester) head() Sum {
	t := d.t
	d.add([]byte("tools"))
	d.without(t.toolsSpan, nil)
	for _, o := range t.options {
		d.add([]byte("option"))
		d.add([]byte(o.key))
		d.without(o.value, nil)
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
		d.add([]byte("text"))
		d.without(b.Text, nil)
		return d.sum()
	}
	d.add([]byte("block"))
	d.without(b.Span, b.Marks)
	return d.sum()
}

// onlyText says that the block is a text block with nothing besides its text
// and its breakpoints.
func (d *digester) onlyText(b Block) bool {
	if b.Type != "text" || b.Text.Len() == 0 || b.Span.Len()-b.Text.Len() > 512 {
		return false
	}
	return isTextShell(d.t.AppendWithout(nil, b.Span, append([]Span{b.Text}, b.Marks...)))
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
	d.add([]byte("shell"))
	d.add([]byte(m.Role))
	if c := m.contentSpan; c.Len() > 0 {
		if c == m.Span {
			return d.sum()
		}
		d.without(Span{m.Span.Start, c.Start}, m.Marks)
		d.add([]byte{0})
		d.without(Span{c.End, m.Span.End}, m.Marks)
	} else if len(m.Blocks) == 0 {
		d.without(m.Span, m.Marks)
	}
	return d.sum()
}

func (d *digester) combine(shell Sum, blocks []Sum) Sum {
	d.add(shell[:])
	for _, b := range blocks {
		d.add(b[:])
	}
	return d.sum()
}

// print is the digest for telling threads apart.
func (d *digester) print(m Message, shell Sum, blocks []Sum, results []Result) Sum {
	if len(results) == 1 && results[0].Block <= 0 && (len(blocks) <= 1 || results[0].Block < 0) {
		d.add([]byte("result"))
		d.add([]byte(results[0].id))
		return d.sum()
	}
	d.add(shell[:])
	next := 0
	for j, b := range m.Blocks {
		switch {
		case next < len(results) && results[next].Block == j:
			d.add([]byte(results[next].id))
			next++
		case b.Type == "thinking", b.Type == "redacted_thinking", b.Type == "reasoning":
		default:
			d.add(blocks[j][:])
		}
	}
	return d.sum()
}

// Chain is the running digest of what came before and what follows it.
func (h Hasher) Chain(before, next Sum) Sum {
	var both [32]byte
	copy(both[:16], before[:])
	copy(both[16:], next[:])
	return h.Sum(both[:])
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

// AppendWithout appends a span of the body less the removed spans.
func (t *Transcript) AppendWithout(dst []byte, s Span, removed []Span) []byte {
	if !slices.IsSortedFunc(removed, byStart) {
		removed = slices.Clone(removed)
		slices.SortFunc(removed, byStart)
	}
	at := s.Start
	for _, r := range removed {
		if r.Start < at || r.End > s.End {
			continue
		}
		dst = append(dst, t.Body[at:r.Start]...)
		at = r.End
	}
	return append(dst, t.Body[at:s.End]...)
}

func byStart(a, b Span) int { return a.Start - b.Start }
