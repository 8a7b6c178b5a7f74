package tokens

import "unicode/utf8"

// Version changes whenever an estimate changes.
const Version = 1

// Estimate is the estimated number of tokens of text: the sum over its lines.
//
// The cost of a line is that of its features in thousandths of a token, rounded.
// A character's share depends on its class and on what it continues, which a
// table says: no branch of the loop depends on the text but at the end of a line
// and outside ASCII.
func Estimate(text string) int {
	total, sum, state, start := 0, 0, uint8(nothing), 0
	for i := 0; i < len(text); {
		c := table.class[text[i]]
		if c < cBreak {
			sum += int(table.cost[c][state&31])
			state = table.next[c][state&31]
			i++
			continue
		}
		state = nothing
		switch {
		case text[i] == '\n':
			total += max((sum+500)/1000, 1)
			sum, start = 0, i+1
		case c == cHigh:
			cost, n := high(text[i:])
			sum += cost
			i += n - 1
		}
		i++
	}
	if start < len(text) {
		total += max((sum+500)/1000, 1)
	}
	return total
}

// The weights of a line's features are thousandths of a token, fitted by least
// squares against o200k on the tool results and messages of recorded
// conversations (see the calibration test). Line breaks, and pieces that follow
// a letter, digit or underscore directly, turned out to cost nothing.
const (
	short     = 1050 // pieces of words of 1 to 4 letters
	medium    = 1053 // 5 to 8
	long      = 1566 // 9 to 12
	longer    = 2345 // each further 4 letters
	capitals  = 31   // letters of runs of capitals
	digits    = 1362 // groups of up to 3 digits
	punct     = 646  // runs of punctuation
	morePunct = 158  // further characters of such a run
	indent    = 1877 // runs of white space of 2 and more, and tabs
	wide      = 800  // characters of scripts without spaces
	other     = 231  // other characters outside ASCII
)

// The classes of bytes. The table knows those before cBreak.
const (
	cPunct = iota
	cLower
	cUpper
	cDigit
	cSpace
	cTab
	cBreak
	cHigh
)

// What a character may continue.
const (
	nothing       = iota
	capital                   // one capital
	capitalRun                // two capitals or more
	word                      // word+n: n+1 letters, small but for the first; of more than 16, 13 to 16
	number        = word + 16 // number+n: n+1 digits of a group of 3
	space         = number + 3
	white         = space + 1 // white space whose cost is counted
	punctuation   = white + 1
	continuations = 32
)

var table = newTable()

type machine struct {
	class [256]uint8
	next  [cBreak][continuations]uint8
	cost  [cBreak][continuations]uint16
}

func newTable() *machine {
	m := &machine{}
	for c := range m.class {
		switch {
		case c >= 'a' && c <= 'z':
			m.class[c] = cLower
		case c >= 'A' && c <= 'Z':
			m.class[c] = cUpper
		case c >= '0' && c <= '9':
			m.class[c] = cDigit
		case c == ' ':
			m.class[c] = cSpace
		case c == '\t':
			m.class[c] = cTab
		case c == '\n' || c == '\r':
			m.class[c] = cBreak
		case c >= utf8.RuneSelf:
			m.class[c] = cHigh
		}
	}
	for class := range m.next {
		for state := range continuations {
			next, cost := step(class, state)
			m.next[class][state], m.cost[class][state] = uint8(next), uint16(cost)
		}
	}
	return m
}

// step is what a character of a class adds after what it may continue, and what
// the next one may continue.
func step(class, after int) (next, cost int) {
	switch class {
	case cLower:
		return letter(after)
	case cUpper:
		switch after {
		case capital:
			return capitalRun, 2 * capitals
		case capitalRun:
			return capitalRun, capitals
		}
		return capital, short
	case cDigit:
		if after == number || after == number+1 {
			return after + 1, 0
		}
		return number, digits
	case cSpace, cTab:
		switch {
		case after == white:
			return white, 0
		case after == space || class == cTab:
			return white, indent
		}
		return space, 0
	}
	if after == punctuation {
		return punctuation, morePunct
	}
	return punctuation, punct
}

// letter is step for a small letter.
func letter(after int) (next, cost int) {
	switch {
	case after == capital:
		return word + 1, 0
	case after == capitalRun:
		return word + 1, short - capitals // its last capital begins this piece
	case after < word || after >= number:
		return word, short
	}
	switch next = after + 1; next - word + 1 {
	case 5:
		return next, medium - short
	case 9:
		return next, long - medium
	case 13:
		return next, longer
	case 17:
		return word + 12, longer
	}
	return next, 0
}

// high is the cost and length of one character outside ASCII.
func high(s string) (cost, n int) {
	r, n := utf8.DecodeRuneInString(s)
	if r >= 0x2e80 && r < 0xa000 || r >= 0xac00 && r < 0xd7b0 || r >= 0x3040 && r < 0x3100 {
		return wide, n
	}
	return other, n
}
