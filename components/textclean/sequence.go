package textclean

import "strings"

// sequence is a control sequence at the start of a text.
type sequence struct {
	length int
	final  byte   // of a CSI; 0 for every other kind
	params string // of a CSI
}

// maxSequence bounds a sequence, in bytes: what is longer is no sequence.
const maxSequence = 4096

// readSequence reads the control sequence that text begins with: CSI, OSC, DCS,
// SOS, PM and APC strings, charset and other two- and three-byte escapes, each
// with ESC or its C1 character.
func readSequence(text string) (s sequence, ok bool) {
	kind, n := byte(0), 0
	switch {
	case len(text) > 1 && text[0] == 0x1b:
		kind, n = text[1], 2
	case len(text) > 1 && text[0] == 0xc2 && text[1] >= 0x80 && text[1] <= 0x9f:
		kind, n = text[1]-0x40, 2
	default:
		return s, false
	}
	switch kind {
	case '[':
		return readCSI(text, n)
	case ']', 'P', 'X', '^', '_':
		return readString(text, n)
	}
	for kind >= 0x20 && kind <= 0x2f && n < len(text) && n < 8 {
		kind = text[n]
		n++
	}
	if kind < 0x30 || kind > 0x7e {
		return s, false
	}
	return sequence{length: n}, true
}

func readCSI(text string, n int) (s sequence, ok bool) {
	start := n
	for n < len(text) && n < maxSequence && text[n] >= 0x30 && text[n] <= 0x3f {
		n++
	}
	s.params = text[start:n]
	for n < len(text) && n < maxSequence && text[n] >= 0x20 && text[n] <= 0x2f {
		n++
	}
	if n >= len(text) || text[n] < 0x40 || text[n] > 0x7e {
		return s, false
	}
	s.final, s.length = text[n], n+1
	if n > start+len(s.params) {
		s.final = 0 // with intermediates it is another function
	}
	return s, true
}

// readString reads a string that BEL or ST ends, on one line. A control inside
// ends the attempt, so that the work stays linear: a sequence that starts there is
// read on its own.
func readString(text string, n int) (s sequence, ok bool) {
	for i := n; i < len(text) && i < maxSequence; i++ {
		switch c := text[i]; {
		case c == '\a':
			return sequence{length: i + 1}, true
		case c == 0x1b:
			return sequence{length: i + 2}, strings.HasPrefix(text[i:], "\x1b\\")
		case c == 0xc2 && i+1 < len(text) && text[i+1] >= 0x80 && text[i+1] <= 0x9f:
			return sequence{length: i + 2}, text[i+1] == 0x9c
		case c < ' ' && c != '\t':
			return s, false
		}
	}
	return s, false
}

// count reads the first parameter of a sequence, with a value for none; -1 is
// one that is out of bounds.
func (s sequence) count(none int) int {
	first, _, _ := strings.Cut(s.params, ";")
	if first == "" {
		return none
	}
	n := 0
	for _, c := range []byte(first) {
		if c < '0' || c > '9' || n > maxColumn {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
