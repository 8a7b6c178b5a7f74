package tokens

import "unicode/utf8"

// Version changes whenever an estimate changes.
const Version = 1

// Estimate is the estimated number of tokens of text: the sum over its lines.
func Estimate(text string) int {
	total, start := 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			total += line(text[start : i+1])
			start = i + 1
		}
	}
	if start < len(text) {
		total += line(text[start:])
	}
	return total
}

// line is the estimate of one line, its terminator included: the cost of its
// features in thousandths of a token, rounded.
func line(s string) int {
	var f features
	f.count(s)
	sum := 0
	for i, n := range f {
		sum += int(n) * weights[i]
	}
	return max((sum+500)/1000, 1)
}

// The features of a line.
const (
	newline   = iota
	short     // pieces of words of 1 to 4 letters
	medium    // 5 to 8
	long      // 9 to 12
	longer    // each further 4 letters
	joined    // pieces that follow a letter, digit or underscore directly
	capitals  // letters of runs of capitals
	digits    // groups of up to 3 digits
	punct     // runs of punctuation
	morePunct // further characters of such a run
	indent    // runs of white space of 2 and more
	wide      // characters of scripts without spaces
	other     // other characters outside ASCII
	featureCount
)

// weights are thousandths of a token for each feature, fitted by least squares
// against o200k on the tool results and messages of recorded conversations (see
// the calibration test).
var weights = [featureCount]int{
	newline: 0, short: 1050, medium: 1053, long: 1566, longer: 2345, joined: 0, capitals: 31,
	digits: 1362, punct: 646, morePunct: 158, indent: 1877, wide: 800, other: 231,
}

type features [featureCount]int32

// classes of ASCII bytes.
const (
	cPunct = iota
	cLower
	cUpper
	cDigit
	cSpace
	cNewline
	cHigh
)

var class = classTable()

func classTable() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = cLower
		case c >= 'A' && c <= 'Z':
			t[c] = cUpper
		case c >= '0' && c <= '9':
			t[c] = cDigit
		case c == ' ' || c == '\t':
			t[c] = cSpace
		case c == '\n' || c == '\r':
			t[c] = cNewline
		case c >= utf8.RuneSelf:
			t[c] = cHigh
		}
	}
	return t
}

// count adds the features of s in one pass.
func (f *features) count(s string) {
	prev := uint8(cNewline)
	for i := 0; i < len(s); {
		c := class[s[i]]
		j := i + 1
		switch c {
		case cLower, cUpper:
			j = f.word(s, i, prev)
			c = cLower
		case cDigit:
			for j < len(s) && class[s[j]] == cDigit {
				j++
			}
			f[digits] += int32((j - i + 2) / 3)
		case cSpace:
			for j < len(s) && class[s[j]] == cSpace {
				j++
			}
			if j-i > 1 || s[i] == '\t' {
				f[indent]++
			}
		case cNewline:
			for j < len(s) && class[s[j]] == cNewline {
				j++
			}
			f[newline]++
		case cPunct:
			for j < len(s) && class[s[j]] == cPunct {
				j++
			}
			f[punct]++
			f[morePunct] += int32(j - i - 1)
		default:
			j = f.high(s, i)
		}
		prev, i = c, j
	}
}

// word counts one piece of a word: small letters after at most one capital, or
// a run of capitals.
func (f *features) word(s string, i int, prev uint8) int {
	j := i
	for j < len(s) && class[s[j]] == cUpper {
		j++
	}
	if up := j - i; up > 1 {
		if j < len(s) && class[s[j]] == cLower {
			j-- // the last capital begins the next piece
		}
		f[capitals] += int32(j - i)
		f[short]++
	} else {
		for j < len(s) && class[s[j]] == cLower {
			j++
		}
		switch n := j - i; {
		case n <= 4:
			f[short]++
		case n <= 8:
			f[medium]++
		default:
			f[long]++
			if n > 12 {
				f[longer] += int32((n - 9) / 4)
			}
		}
	}
	if prev == cLower || prev == cDigit {
		f[joined]++
	}
	return j
}

// high counts one character outside ASCII.
func (f *features) high(s string, i int) int {
	r, n := utf8.DecodeRuneInString(s[i:])
	if r >= 0x2e80 && r < 0xa000 || r >= 0xac00 && r < 0xd7b0 || r >= 0x3040 && r < 0x3100 {
		f[wide]++
	} else {
		f[other]++
	}
	return i + n
}
