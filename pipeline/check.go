package pipeline

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"

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
		return len(put) > 1 && put[0] == '"' && put[len(put)-1] == '"' && inside(put[1:len(put)-1])
	case '{':
		return valid(append(append([]byte{'['}, put...), ']'))
	}
	return false
}

func valid(v []byte) bool {
	return jsontext.Value(v).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// inside says that s may stand between the quotes of a JSON string: no quote, no
// control character, every escape whole. Eight bytes are looked at at a time.
func inside(s []byte) bool {
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			n := plain(binary.LittleEndian.Uint64(s[i:]))
			if i += n; n == 8 {
				continue
			}
		}
		switch c := s[i]; {
		case c == '\\':
			n := escapeLen(s[i:])
			if n == 0 {
				return false
			}
			i += n
		case c == '"' || c < 0x20:
			return false
		default:
			i++
		}
	}
	return true
}

// plain is how many of eight bytes come before the first quote, backslash or
// control character.
func plain(w uint64) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	// The lowest set bit is exact; a borrow can set bits above it only.
	found := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & high
	return bits.TrailingZeros64(found) / 8
}

// escapeLen is the length of the escape at the start of s, 0 if it is none.
func escapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(s) < 6 {
			return 0
		}
		for _, c := range s[2:6] {
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}
