package transcript

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth is how deep objects and arrays may nest, as in the judge that the
// tests hold this scanner against.
const maxDepth = 10_000

// kind is what a value is, told by its first byte: '{', '[', '"', 't', 'f', 'n',
// or '0' for a number. 0 is the start of no value.
type kind byte

// Valid says that v is one JSON value and nothing else but white space. Keys may
// stand twice, and strings may hold lone surrogates and bytes that are not UTF-8.
func Valid(v []byte) bool {
	r := reader{body: v}
	return r.skip() == nil && r.end() == nil
}

// ValidString says that v is one JSON string, quotes included, without white
// space around it.
func ValidString(v []byte) bool {
	end, ok := stringEnd(v, 0)
	return ok && end == len(v)
}

// syntax is the error for what stands at the reader's place.
func (r *reader) syntax() error { return fmt.Errorf("%w: at byte %d", ErrSyntax, r.at) }

// peek passes over white space and returns the kind of the value that follows.
func (r *reader) peek() kind {
	switch c := r.next(); c {
	case '{', '[', '"', 't', 'f', 'n':
		return kind(c)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return '0'
	}
	return 0
}

// next passes over white space and returns the byte that follows; 0 at the end.
func (r *reader) next() byte {
	for ; r.at < len(r.body); r.at++ {
		switch c := r.body[r.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// open enters an object or array and says whether it has anything in it.
func (r *reader) open(c byte) (more bool, err error) {
	if r.next() != c || r.depth == maxDepth {
		return false, r.syntax()
	}
	r.at++
	r.depth++
	return !r.closed(c), nil
}

// more says whether another member follows in what c opened.
func (r *reader) more(c byte) (bool, error) {
	if r.closed(c) {
		return false, nil
	}
	if r.next() != ',' {
		return false, r.syntax()
	}
	r.at++
	return true, nil
}

// closed leaves the object or array that c opened, if it ends here.
func (r *reader) closed(c byte) bool {
	if r.next() != c+2 { // '}' is '{'+2, ']' is '['+2
		return false
	}
	r.at++
	r.depth--
	return true
}

// name reads the name of a member, with its colon.
func (r *reader) name() (Span, error) {
	if r.next() != '"' {
		return Span{}, r.syntax()
	}
	s := Span{Start: r.at}
	if err := r.scalar('"'); err != nil {
		return Span{}, err
	}
	s.End = r.at
	if r.next() != ':' {
		return Span{}, r.syntax()
	}
	r.at++
	return s, nil
}

// skip reads one whole value. It calls itself no deeper than maxDepth.
func (r *reader) skip() error {
	k := r.peek()
	if k != '{' && k != '[' {
		return r.scalar(k)
	}
	more, err := r.open(byte(k))
	for more && err == nil {
		if k == '{' {
			if _, err = r.name(); err != nil {
				return err
			}
		}
		if err = r.skip(); err == nil {
			more, err = r.more(byte(k))
		}
	}
	return err
}

// scalar reads the string, number or literal of kind k that begins here.
func (r *reader) scalar(k kind) error {
	end, ok := r.at, false
	switch k {
	case '"':
		end, ok = r.string()
	case '0':
		end, ok = numberEnd(r.body, r.at)
	case 't':
		end, ok = literalEnd(r.body, r.at, "true")
	case 'f':
		end, ok = literalEnd(r.body, r.at, "false")
	case 'n':
		end, ok = literalEnd(r.body, r.at, "null")
	}
	r.at = end
	if !ok {
		return r.syntax()
	}
	return nil
}

// string finds the end of the string that begins here. A long one is noted.
func (r *reader) string() (end int, ok bool) {
	if r.longs == nil {
		return stringEnd(r.body, r.at)
	}
	if end, ok = stringEnd(r.body[:min(len(r.body), r.at+glance)], r.at); ok {
		return end, true
	}
	l := long{span: Span{Start: r.at}}
	if r.seen != nil {
		end, l.sum, ok = r.seen.read(r.body, r.at)
	} else {
		end, ok = stringEnd(r.body, r.at)
	}
	if l.span.End = end; ok && l.span.Len() > longString {
		*r.longs = append(*r.longs, l)
	}
	return end, ok
}

func literalEnd(b []byte, i int, literal string) (end int, ok bool) {
	end = i + len(literal)
	if end > len(b) || string(b[i:end]) != literal {
		return i, false
	}
	return end, true
}

// numberEnd is where the number that begins at i ends; if it is none, where it
// goes wrong.
func numberEnd(b []byte, i int) (end int, ok bool) {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i, ok = digits(b, i); !ok {
		return i, false
	}
	if i < len(b) && b[i] == '.' {
		if i, ok = digits(b, i+1); !ok {
			return i, false
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digits(b, i)
	}
	return i, true
}

// digits passes over one digit or more.
func digits(b []byte, i int) (end int, ok bool) {
	for end = i; end < len(b) && b[end] >= '0' && b[end] <= '9'; end++ {
	}
	return end, end > i
}

// stringEnd is where the string that begins at i ends, past its quote; if it is
// none, where it goes wrong. Eight bytes are looked at at a time.
func stringEnd(b []byte, i int) (end int, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	for i++; i < len(b); {
		for ; i+8 <= len(b); i += 8 {
			if f := special(binary.LittleEndian.Uint64(b[i:])); f != 0 {
				i += bits.TrailingZeros64(f) / 8
				break
			}
		}
		if i == len(b) {
			break
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, true
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return i, false
			}
			i += n
		case c < 0x20:
			return i, false
		default:
			i++
		}
	}
	return i, false
}

const (
	everyOne  = 0x0101010101010101
	everyHigh = 0x8080808080808080
)

// special has the high bit of the first byte among eight that is a quote, a
// backslash or a control character. Bits above it mean nothing: a subtraction
// may have borrowed. 0: there is none.
func special(w uint64) uint64 {
	quote, slash := w^(everyOne*'"'), w^(everyOne*'\\')
	return ((quote-everyOne)&^quote | (slash-everyOne)&^slash | (w-everyOne*0x20)&^w) & everyHigh
}

// escapeLen is the length of the escape at the start of s, 0 if it is none.
func escapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case 'n', 't', '"', '\\', '/', 'b', 'f', 'r':
		return 2
	case 'u':
		if _, ok := hex4(s); ok {
			return 6
		}
	}
	return 0
}
