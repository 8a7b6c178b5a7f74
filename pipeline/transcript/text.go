package transcript

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode returns the text of a raw JSON string, quotes included, that a JSON
// parser has accepted. lossy says that a lone surrogate or a byte that is not
// UTF-8 was replaced by U+FFFD, so that the text is not an exact decoding.
func Decode(raw []byte) (text string, lossy bool) {
	if len(raw) < 2 {
		return "", false
	}
	raw = raw[1 : len(raw)-1]
	if plain(raw) {
		return string(raw), false
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		if j := run(raw, i); j > i {
			b.Write(raw[i:j])
			i = j
			continue
		}
		r, n, bad := char(raw[i:])
		b.WriteRune(r)
		lossy = lossy || bad
		i += n
	}
	return b.String(), lossy
}

// plain says that raw decodes to itself: no escape and nothing but ASCII.
func plain(raw []byte) bool { return run(raw, 0) == len(raw) }

// run returns the end of the run of ASCII bytes without escapes that begins at i.
func run(raw []byte, i int) int {
	for ; i+8 <= len(raw); i += 8 {
		w := binary.LittleEndian.Uint64(raw[i:])
		slash := w ^ (everyOne * '\\')
		if f := ((slash-everyOne)&^slash | w) & everyHigh; f != 0 {
			return i + bits.TrailingZeros64(f)/8
		}
	}
	for i < len(raw) && raw[i] != '\\' && raw[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// char decodes the character at the start of raw: its rune, its raw length, and
// whether it stands for something that is no character.
func char(raw []byte) (r rune, n int, bad bool) {
	if raw[0] != '\\' {
		r, n = utf8.DecodeRune(raw)
		return r, n, r == utf8.RuneError && n <= 1
	}
	if len(raw) < 2 {
		return utf8.RuneError, 1, true
	}
	switch raw[1] {
	case 'n':
		return '\n', 2, false
	case 't':
		return '\t', 2, false
	case 'r':
		return '\r', 2, false
	case 'b':
		return '\b', 2, false
	case 'f':
		return '\f', 2, false
	case 'u':
		return escape(raw)
	default: // quote, backslash, slash
		return rune(raw[1]), 2, false
	}
}

// escape decodes a \u escape, or two that make one character.
func escape(raw []byte) (r rune, n int, bad bool) {
	hi, ok := hex4(raw)
	if !ok {
		return utf8.RuneError, 2, true
	}
	if !utf16.IsSurrogate(hi) {
		return hi, 6, false
	}
	if lo, ok := hex4(raw[6:]); ok {
		if full := utf16.DecodeRune(hi, lo); full != utf8.RuneError {
			return full, 12, false
		}
	}
	return utf8.RuneError, 6, true
}

// hex4 reads \uXXXX.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range raw[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// Cursor maps offsets of a decoded text to offsets of the raw JSON string, from
// left to right in one pass.
type Cursor struct {
	// Bad lists the text offsets passed over so far at which a character that is
	// none was replaced.
	Bad []int

	raw      []byte // without quotes
	at, text int    // the same place in raw and in the text
}

// NewCursor starts at the beginning of the raw JSON string, quotes included.
func NewCursor(raw []byte) *Cursor {
	if len(raw) < 2 {
		return &Cursor{}
	}
	return &Cursor{raw: raw[1 : len(raw)-1]}
}

// Seek moves to the text offset, which must not be left of the last one, and
// returns the raw offset within the quotes. ok is false if the offset is past
// the end or inside a character.
func (c *Cursor) Seek(text int) (raw int, ok bool) {
	if text < c.text {
		return c.at, false
	}
	for c.text < text && c.at < len(c.raw) {
		if j := run(c.raw, c.at); j > c.at {
			n := min(j-c.at, text-c.text)
			c.at += n
			c.text += n
			continue
		}
		r, n, bad := char(c.raw[c.at:])
		if bad {
			c.Bad = append(c.Bad, c.text)
		}
		c.at += n
		c.text += utf8.RuneLen(r)
	}
	return c.at, c.text == text
}

// Escape appends s as the inside of a JSON string, with the fewest escapes.
func Escape(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
