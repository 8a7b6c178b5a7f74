package promptcache

import (
	"encoding/binary"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// link is one element of a kept chain. 64 bits of a cumulative digest are
// enough to notice a difference; nothing is decided by equality alone but which
// thread a request continues.
type link uint64

func linkOf(s transcript.Sum) link { return link(binary.LittleEndian.Uint64(s[:8])) }

// Chain is the cumulative digests of a transcript: element 0 covers tools,
// system and options, element i+1 also messages 0..i. The seed keys it.
func Chain(seed transcript.Sum, d transcript.Digests) []transcript.Sum {
	out := make([]transcript.Sum, 0, len(d.Messages)+1)
	s := d.Hasher.Chain(seed, d.Head)
	out = append(out, s)
	for _, m := range d.Messages {
		s = d.Hasher.Chain(s, m.Sum)
		out = append(out, s)
	}
	return out
}

// prints are the cumulative fingerprints that tell threads apart.
func prints(seed transcript.Sum, d transcript.Digests) []link {
	out := make([]link, len(d.Messages))
	s := seed
	for i, m := range d.Messages {
		s = d.Hasher.Chain(s, m.Print)
		out[i] = linkOf(s)
	}
	return out
}

func links(c []transcript.Sum) []link {
	out := make([]link, len(c))
	for i, s := range c {
		out[i] = linkOf(s)
	}
	return out
}

// common is how many leading elements are equal.
func common(a, b []link) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
