package pipeline

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Elision stands in a line for n characters of it. A mark before the line declares
// it: see verify.Cuts.
func Elision(n int) string { return "...[" + strconv.Itoa(n) + " characters cut]..." }

// ElisionMark stands before the first of n lines that have an elision.
func ElisionMark(n int) string {
	return MarkStart + "shortened " + CountLines(n) + " from here on: in the middle, where it says so]"
}

// Elided is the middle of a line that goes, in bytes of the text.
type Elided struct{ Line, From, To int }

// Elide keeps a text from at on up to what is elided, and says how much that is.
// It returns where the text goes on.
func (p *Pieces) Elide(text string, at int, e Elided) int {
	p.Keep(at, e.From)
	p.Literal(Elision(utf8.RuneCountInString(text[e.From:e.To])))
	return e.To
}

// minElided is how many characters are worth an elision.
const minElided = 64

// maxPath bounds the length in bytes of what is taken for a path.
const maxPath = 160

// Elide finds the middle of a line, in bytes, that has to go so that at most most
// characters stay, the elision included; share of them before it. Neither end falls
// into a character or into what may be a path with a line number. It is false if
// that is not worth it.
func Elide(line string, most int, share float64) (from, to int, ok bool) {
	if len(line) < most+minElided {
		return 0, 0, false
	}
	n := utf8.RuneCountInString(line)
	if n < most+minElided {
		return 0, 0, false
	}
	budget := max(most-len(Elision(n)), 0)
	head := int(float64(budget) * share)
	earliest := characters(line, head)
	latest := len(line) - lastCharacters(line, budget-head)
	from, to = earliest, latest
	for from > 0 && earliest-from < maxPath && insidePath(line, from) {
		from--
	}
	if insidePath(line, from) {
		from = earliest // one word as long as that is no path
	}
	for to < len(line) && to-latest < maxPath && insidePath(line, to) {
		to++
	}
	if insidePath(line, to) {
		to = latest
	}
	return from, to, from < to && utf8.RuneCountInString(line[from:to]) >= minElided
}

// insidePath says that a place in a line is between two bytes of what may be a
// path, a line number or a word. Bytes of other scripts are taken to be, so that
// any other place is one between characters.
func insidePath(line string, at int) bool {
	return at > 0 && at < len(line) && inPath(line[at-1]) && inPath(line[at])
}

func inPath(c byte) bool { return c > ' ' && strings.IndexByte("\"'`,;()[]{}<>|=", c) < 0 }

// characters is the length in bytes of the first n characters.
func characters(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// lastCharacters is the length in bytes of the last n characters.
func lastCharacters(s string, n int) int {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return len(s) - at
}
