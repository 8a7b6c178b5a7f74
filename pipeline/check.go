package pipeline

import (
	"bytes"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// sound proves the spliced body: everything outside the changes is the received
// body, byte for byte, and what was put in is valid JSON where it stands. It
// looks at the bytes alone and shares nothing with what wrote them.
func sound(in, out []byte, changes []transcript.Change) bool {
	from, to := 0, 0
	for _, c := range changes {
		same := c.Span.Start - from
		if same < 0 || to+same+c.Len > len(out) || !bytes.Equal(in[from:c.Span.Start], out[to:to+same]) {
			return false
		}
		to += same
		if !fits(in[c.Span.Start], out[to:to+c.Len]) {
			return false
		}
		from, to = c.Span.End, to+c.Len
	}
	return bytes.Equal(in[from:], out[to:])
}

// fits says that put may stand where a value that opened with was stood: a
// string for a string, one or more objects for an object.
func fits(was byte, put []byte) bool {
	switch was {
	case '"':
		return transcript.ValidString(put)
	case '{':
		return transcript.Valid(append(append([]byte{'['}, put...), ']'))
	}
	return false
}
