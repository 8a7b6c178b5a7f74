package pipeline

import (
	"encoding/binary"
	"slices"
	"sort"
	"sync"

	"github.com/cespare/xxhash/v2"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// plan is the outcome of all components on one block, in numbers: what a memo
// may keep at every storage level. It is immutable but for its notes.
type plan struct {
	pieces []rawPiece // empty: the block is left alone
	refs   []rawRef   // what the copied pieces are cut from
	kept   []Range    // the ranges of the received text that are forwarded
	sum    uint64     // of the pieces

	textLen             int // of the received text
	inTokens, outTokens int
	inBytes, outBytes   int // inside the quotes

	outcomes []outcome // parallel to the generation's components
	uses     []Use

	notes notes
}

// notes are what the components' Index returned about a source.
type notes struct {
	mu    sync.Mutex
	of    []Index // parallel to the generation's components
	bytes int
}

func (n *notes) size() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}

// get returns component c's note, making it if it was not made or forgotten.
func (n *notes) get(c, components int, make_ func() Index) (note Index, grown int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = make([]Index, components)
	}
	if n.of[c] == nil {
		n.of[c] = make_()
		grown = n.of[c].Bytes()
		n.bytes += grown
	}
	return n.of[c], grown
}

// rawPiece is a piece with offsets of the raw JSON string.
type rawPiece struct {
	ref      int32 // self, literal, or an index in refs
	from, to uint32
	text     string // of a literal, escaped
}

const (
	self    = -1
	literal = -2
)

// rawRef is a range of raw bytes relative to an earlier text's place.
type rawRef struct{ of LeafRef }

// outcome is what one component did to a block.
type outcome struct {
	acted                   bool
	gate                    Gate
	savedTokens, savedBytes int32
}

func (p *plan) changed() bool { return len(p.pieces) > 0 }

func (p *plan) size() int {
	n := 256 + p.notes.size() + 32*len(p.pieces) + 32*len(p.refs) + 16*len(p.kept) + 40*len(p.outcomes) + 40*len(p.uses)
	for _, r := range p.pieces {
		n += len(r.text)
	}
	return n
}

// compile maps the pieces to raw offsets. A gate says why it can't be done.
func compile(t *transcript.Transcript, raw []byte, pieces []Piece) ([]rawPiece, []rawRef, Gate) {
	at, bad, ok := offsets(raw, pieces)
	if !ok {
		return nil, nil, GateInsideCharacter
	}
	for _, b := range bad {
		covered := slices.ContainsFunc(pieces, func(p Piece) bool { return p.Kind == Keep && p.From <= b && b < p.To })
		if !covered {
			return nil, nil, GateNotText
		}
	}
	out := make([]rawPiece, 0, len(pieces))
	var refs []rawRef
	for _, p := range pieces {
		switch p.Kind {
		case Keep:
			out = append(out, rawPiece{ref: self, from: at.of(p.From), to: at.of(p.To)})
		case Literal:
			out = append(out, rawPiece{ref: literal, text: string(transcript.Escape(nil, p.Text))})
		case Copy:
			s, ok := copySpan(t, p)
			if !ok {
				return nil, nil, GateNotText
			}
			base := refStart(t, p.Of)
			out = append(out, rawPiece{ref: int32(len(refs)), from: uint32(s.Start - base), to: uint32(s.End - base)})
			refs = append(refs, rawRef{of: p.Of})
		}
	}
	return out, refs, ""
}

// rawOffsets maps offsets of the text to offsets of the raw string.
type rawOffsets struct {
	text []int // sorted
	raw  []uint32
}

func (o rawOffsets) of(text int) uint32 { return o.raw[sort.SearchInts(o.text, text)] }

// offsets maps the text offsets of all kept pieces to raw offsets, and returns
// the places of characters that are none. ok is false if one is inside a
// character.
func offsets(raw []byte, pieces []Piece) (at rawOffsets, bad []int, ok bool) {
	at.text = make([]int, 0, 2*len(pieces))
	for _, p := range pieces {
		if p.Kind == Keep {
			at.text = append(at.text, p.From, p.To)
		}
	}
	slices.Sort(at.text)
	at.text = slices.Compact(at.text)
	at.raw = make([]uint32, len(at.text))
	c := transcript.NewCursor(raw)
	for i, w := range at.text {
		r, ok := c.Seek(w)
		if !ok {
			return at, nil, false
		}
		at.raw[i] = uint32(r)
	}
	c.Seek(len(raw)) // pass over the rest, for what is no character there
	return at, c.Bad, true
}

// refStart is the place in the body that raw offsets of a source are relative to.
func refStart(t *transcript.Transcript, of LeafRef) int {
	if of.Argument {
		return t.Calls[of.Index].Args.Start
	}
	return t.Results[of.Index].Texts[of.Part].Span.Start
}

// copySpan finds the raw bytes of a copied range. They stand in a JSON string as
// they will again, so they may be escaped in whatever way the client does.
func copySpan(t *transcript.Transcript, p Piece) (transcript.Span, bool) {
	if p.Of.Argument {
		return t.ArgumentSpan(p.Of.Index, p.Of.Part, p.From, p.To)
	}
	span := t.Results[p.Of.Index].Texts[p.Of.Part].Span
	c := transcript.NewCursor(t.Body[span.Start:span.End])
	from, ok1 := c.Seek(p.From)
	to, ok2 := c.Seek(p.To)
	s := transcript.Span{Start: span.Start + 1 + from, End: span.Start + 1 + to}
	return s, ok1 && ok2
}

// length is the number of bytes that the pieces are.
func length(pieces []rawPiece) int {
	n := 0
	for _, r := range pieces {
		if r.ref == literal {
			n += len(r.text)
		} else {
			n += int(r.to - r.from)
		}
	}
	return n
}

// write appends the new raw text, without quotes.
func (p *plan) write(dst []byte, t *transcript.Transcript, leaf transcript.Span) []byte {
	in := t.Body[leaf.Start+1 : leaf.End-1]
	for _, r := range p.pieces {
		switch r.ref {
		case self:
			dst = append(dst, in[r.from:r.to]...)
		case literal:
			dst = append(dst, r.text...)
		default:
			base := refStart(t, p.refs[r.ref].of)
			dst = append(dst, t.Body[base+int(r.from):base+int(r.to)]...)
		}
	}
	return dst
}

// digest is a digest of what the plan does.
func digest(pieces []rawPiece, refs []rawRef) uint64 {
	h := xxhash.New()
	var b [12]byte
	for _, p := range pieces {
		binary.LittleEndian.PutUint32(b[:], uint32(p.ref))
		binary.LittleEndian.PutUint32(b[4:], p.from)
		binary.LittleEndian.PutUint32(b[8:], p.to)
		h.Write(b[:])
		h.Write([]byte(p.text))
	}
	for _, r := range refs {
		binary.LittleEndian.PutUint32(b[:], uint32(r.of.Index))
		binary.LittleEndian.PutUint32(b[4:], uint32(r.of.Part))
		h.Write(b[:])
	}
	return h.Sum64()
}

// sized is what a memo holds.
type sized interface{ size() int }

// memo remembers outcomes by digest, within a budget of bytes. It is safe for
// concurrent use. What it forgets is worked out again: it changes speed, never
// bytes.
type memo struct {
	mu     sync.Mutex
	lru    *lru.Cache[transcript.Sum, sized]
	bytes  int
	budget int
}

func newMemo(budget int) *memo {
	m := &memo{budget: budget}
	m.lru, _ = lru.NewWithEvict[transcript.Sum, sized](1<<30, func(_ transcript.Sum, s sized) { m.bytes -= s.size() })
	return m
}

func (m *memo) get(k transcript.Sum) (sized, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lru.Get(k)
}

// put keeps the first value under a key, so that all users share one.
func (m *memo) put(k transcript.Sum, s sized) sized {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.lru.Get(k); ok {
		return old
	}
	m.bytes += s.size()
	m.lru.Add(k, s)
	for m.bytes > m.budget && m.lru.Len() > 1 {
		m.lru.RemoveOldest()
	}
	return s
}

// grow accounts for what was added to a value that is kept.
func (m *memo) grow(k transcript.Sum, n int) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lru.Contains(k) {
		m.bytes += n
	}
}

func (m *memo) stats() (entries, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lru.Len(), m.bytes
}
