package document

import (
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// maxPreamble is how many lines may stand before a document, as Codex's header and
// an echoed command do.
const maxPreamble = 10

// Find finds the document that begins one of the first lines and is the rest of the
// text, but for white space at the end. brackets are those that may open it, "[{" or
// one of them; indented says that blanks may stand before it. to is 0 if there is
// none; shaped then says that something looked like one.
func Find(text, brackets string, indented bool) (from, to int, shaped bool) {
	end := len(strings.TrimRight(text, " \t\r\n"))
	if end == 0 || strings.IndexByte(brackets, text[end-1]-closing) < 0 {
		return 0, 0, false
	}
	for range maxPreamble + 1 {
		for indented && from < end && (text[from] == ' ' || text[from] == '\t') {
			from++
		}
		if strings.IndexByte(brackets, text[from]) >= 0 && text[end-1] == text[from]+closing {
			if transcript.Valid([]byte(text[from:end])) {
				return from, end, true
			}
			shaped = true
		}
		i := strings.IndexByte(text[from:end], '\n')
		if i < 0 {
			break
		}
		from += i + 1
	}
	return 0, 0, shaped
}

// closing is how far a closing bracket or brace is from the opening one in ASCII.
const closing = 2

// Skip is the offset of the next byte from i on that is no white space. One must
// follow.
func Skip(text string, i int) int {
	for Blank(text[i]) {
		i++
	}
	return i
}

// Blank says that a byte is white space between tokens.
func Blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// StringEnd is the offset behind the string, quotes included, that begins at i.
func StringEnd(text string, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// ValueEnd is the offset behind the value that begins at i.
func ValueEnd(text string, i int) int {
	switch text[i] {
	case '"':
		return StringEnd(text, i)
	case '{', '[':
		for depth := 0; ; {
			switch text[i] {
			case '"':
				i = StringEnd(text, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if i++; depth == 0 {
				return i
			}
		}
	}
	for i < len(text) && text[i] != ',' && text[i] != ']' && text[i] != '}' && !Blank(text[i]) {
		i++
	}
	return i
}
