package redact

import "math"

// class is a set of bytes.
type class [256]bool

// set makes a class of single bytes and of ranges such as a-z.
func set(s string) *class {
	var c class
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' {
			for b := int(s[i]); b <= int(s[i+2]); b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[s[i]] = true
	}
	return &c
}

// run is how many bytes of the class stand at a place.
func (c *class) run(text string, at int) int {
	i := at
	for i < len(text) && c[text[i]] {
		i++
	}
	return i - at
}

func word(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// freeBefore says that no word ends directly before a place. A line break or a tab
// that is written as an escape, as in JSON, is no word.
func freeBefore(text string, at int) bool {
	if at == 0 || !word(text[at-1]) {
		return true
	}
	if text[at-1] == 'm' { // the end of a colour's escape sequence
		i := at - 2
		for i > 0 && at-i < 16 && (text[i] == ';' || text[i] >= '0' && text[i] <= '9') {
			i--
		}
		if i > 0 && text[i] == '[' && text[i-1] == 0x1b {
			return true
		}
	}
	return at > 1 && text[at-2] == '\\' && (text[at-1] == 'n' || text[at-1] == 't' || text[at-1] == 'r')
}

func freeAfter(text string, at int) bool { return at >= len(text) || !word(text[at]) }

// shannon is the entropy of a text in bits for each byte.
func shannon(s string) float64 {
	var n [256]int
	for i := range len(s) {
		n[s[i]]++
	}
	bits := 0.0
	for _, k := range n {
		if k > 0 {
			p := float64(k) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// mixed counts the kinds of characters: lower case, upper case, digits.
func mixed(s string) (kinds int) {
	var lower, upper, digit int
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			lower = 1
		case c >= 'A' && c <= 'Z':
			upper = 1
		case c >= '0' && c <= '9':
			digit = 1
		}
	}
	return lower + upper + digit
}
