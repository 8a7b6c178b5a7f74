package cmdfilter

import "strings"

// line is one line of a text.
type line struct {
	from, to int    // the bytes of the text, without the terminator
	view     string // what a terminal shows of it
}

// split cuts a text into lines. The terminator of a line is one newline; a text
// that ends in one has no empty last line.
func split(text string) []line {
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	controls := strings.IndexByte(text, 0x1b) >= 0 || strings.IndexByte(text, '\r') >= 0 || strings.IndexByte(text, '\b') >= 0
	for at := 0; at < len(text); {
		end, next := len(text), len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end, next = at+i, at+i+1
		}
		l := line{from: at, to: end, view: text[at:end]}
		if controls {
			l.view = shown(l.view)
		}
		lines = append(lines, l)
		at = next
	}
	return lines
}

// shown is what a terminal shows of a line: without escape sequences, and of what
// was written over with carriage returns the last. Expressions see lines as they
// are shown; what is kept of a line is its bytes.
func shown(s string) string {
	s = strings.TrimRight(s, "\r")
	if i := strings.LastIndexByte(s, '\r'); i >= 0 {
		s = s[i+1:]
	}
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != 0x1b {
			b = append(b, s[i])
			continue
		}
		i = escapeEnd(s, i)
	}
	return string(b)
}

// escapeEnd is the place of the last byte of the escape sequence that starts at i.
func escapeEnd(s string, i int) int {
	if i+1 >= len(s) {
		return i
	}
	switch s[i+1] {
	case '[': // up to a letter
		for i += 2; i < len(s) && (s[i] < '@' || s[i] > '~'); i++ {
		}
		return i
	case ']': // up to BEL or ESC \
		for i += 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 1
			}
		}
		return i
	case '(', ')', '#':
		return i + 2
	}
	return i + 1
}
