package pipeline

import (
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/classify"
)

// MarkStart begins every mark: a whole line of printable ASCII that ends in a
// bracket and has none inside.
const MarkStart = "[trimtab "

// IsMark says that a line, without its terminator, is a mark by its grammar. Who
// wrote it is another question: see HasMark.
func IsMark(line string) bool {
	if len(line) <= len(MarkStart) || !strings.HasPrefix(line, MarkStart) || line[len(line)-1] != ']' {
		return false
	}
	for _, c := range []byte(line[:len(line)-1]) {
		if c < ' ' || c > '~' || c == ']' {
			return false
		}
	}
	return true
}

// HasMark says that a line of a text starts like a mark, after a gutter or after
// nothing. A received text that has one is somebody's text about marks, and gets
// none of ours.
func HasMark(text string) bool {
	start := 0 // of the line that at is in
	for at := 0; ; {
		i := strings.Index(text[at:], MarkStart)
		if i < 0 {
			return false
		}
		i += at
		if n := strings.LastIndexByte(text[at:i], '\n'); n >= 0 {
			start = at + n + 1
		}
		if start == i || classify.IsGutter(text[start:i]) {
			return true
		}
		at = i + len(MarkStart)
	}
}
