package transcript

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
)

// longString is the raw length above which a string, quotes included, has a
// digest of its own: most bytes of a transcript are in such strings, and they
// come again on every turn.
const longString = 512

// glance is how much of a string is scanned before it is looked for among those
// that were seen.
const glance = 64

// maxSeen is how many long strings are remembered at least, and half of how many
// at most; one takes some 50 bytes.
const maxSeen = 1 << 17

// Seen remembers long strings by digest and length, so that one which was read
// or written before is known to be a JSON string without being scanned: hashing
// costs a fifth of it. It holds numbers only. It changes speed, never an outcome:
// a string is known if its digest of 128 bits is. It is safe for concurrent use.
type Seen struct {
	hasher Hasher

	mu       sync.Mutex
	now, old map[uint64]seenString // old is what was remembered before now was full
}

type seenString struct {
	sum    Sum
	length int
}

// NewSeen returns a memory without strings, which hashes with h.
func NewSeen(h Hasher) *Seen { return &Seen{hasher: h, now: map[uint64]seenString{}} }

// String says that raw is one JSON string, quotes included, and returns its
// digest.
func (s *Seen) String(raw []byte) (sum Sum, ok bool) {
	sum = s.hasher.Sum(raw)
	key := binary.LittleEndian.Uint64(sum[:8])
	if known, found := s.get(key); found && known == (seenString{sum, len(raw)}) {
		return sum, true
	}
	if !ValidString(raw) {
		return sum, false
	}
	s.put(key, seenString{sum, len(raw)})
	return sum, true
}

// read finds the end of the string that begins at i and, if it is a long one, its
// digest. The bytes around its beginning say which string it may be.
func (s *Seen) read(b []byte, i int) (end int, sum Sum, ok bool) {
	key := maphash.Bytes(s.hasher.a, b[max(i-64, 0):min(i+64, len(b))])
	if known, found := s.get(key); found && known.length <= len(b)-i {
		end = i + known.length
		if sum = s.hasher.Sum(b[i:end]); sum == known.sum {
			return end, sum, true
		}
	}
	if end, ok = stringEnd(b, i); ok && end-i > longString {
		sum = s.hasher.Sum(b[i:end])
		s.put(key, seenString{sum, end - i})
	}
	return end, sum, ok
}

func (s *Seen) get(key uint64) (seenString, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.now[key]
	if !ok {
		if v, ok = s.old[key]; ok {
			s.add(key, v)
		}
	}
	return v, ok
}

func (s *Seen) put(key uint64, v seenString) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(key, v)
}

func (s *Seen) add(key uint64, v seenString) {
	if len(s.now) >= maxSeen {
		s.old, s.now = s.now, map[uint64]seenString{}
	}
	s.now[key] = v
}

// long is a long string of a body. The digest of any part of the body takes its
// digest for its bytes, so that they are hashed once.
type long struct {
	span Span
	sum  Sum
}

// longs are the long strings of a body, in order.
type longs []long

// hashed are the long strings with digests by h.
func (t *Transcript) hashed(h Hasher) longs {
	if t.seen != nil && t.seen.hasher == h {
		return t.longs
	}
	out := slices.Clone(t.longs)
	for i, l := range out {
		out[i].sum = h.Sum(t.Body[l.span.Start:l.span.End])
	}
	return out
}
