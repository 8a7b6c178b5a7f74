package pipeline

import (
	"bytes"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// sound proves the spliced body: everything outside the changes is the received
// body, byte for byte, and what was put in is valid JSON where it stands. It
// looks at the bytes alone and shares nothing with what wrote them. Digests that
// it works out are noted in changes.
func sound(seen *transcript.Seen, in, out []byte, changes []transcript.Change) bool {
	from, to := 0, 0
	for i := range changes {
		c := &changes[i]
		same := c.Span.Start - from
		if same < 0 || to+same+c.Len > len(out) || !bytes.Equal(in[from:c.Span.Start], out[to:to+same]) {
			return false
		}
		to += same
		if !fits(seen, in[c.Span.Start], out[to:to+c.Len], &c.Sum) {
			return false
		}
		from, to = c.Span.End, to+c.Len
	}
	return bytes.Equal(in[from:], out[to:])
}

// fits says that put may stand where a value that opened with was stood: a
// string for a string, one or more objects for an object. sum is set to the
// digest of a string.
func fits(seen *transcript.Seen, was byte, put []byte, sum *transcript.Sum) (ok bool) {
	switch was {
	case '"':
		*sum, ok = seen.String(put)
		return ok
	case '{':
		return transcript.Valid(append(append([]byte{'['}, put...), ']'))
	}
	return false
}
