package format

import (
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/document"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// minEmbedded is the length in bytes, quotes included, from which a string is
// looked at for a document in it.
const minEmbedded = 64

// stripper collects the pieces of a text that stay.
type stripper struct {
	text  string
	lines int // the depth down to which a line break behind a comma stays
	kept  pipeline.Pieces
}

// document keeps what is no white space between the tokens of the document
// [from, to), which is valid, and what the line breaks are worth.
func (s *stripper) document(from, to int) {
	var depth int
	var last byte // the last byte that was no white space
	object := s.text[from] == '{'
	for i := from; i < to; {
		c, end := s.text[i], i+1
		switch c {
		case ' ', '\t', '\r', '\n':
			start := i
			for i < to && document.Blank(s.text[i]) {
				i++
			}
			if last == ',' && depth <= s.lines {
				s.keepBreak(start, i)
			}
			continue
		case '"':
			end = document.StringEnd(s.text, i)
			if object && depth == 1 && last == ':' && end-i >= minEmbedded && s.embedded(i, end) {
				i, last = end, c
				continue
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.kept.Keep(i, end)
		i, last = end, c
	}
}

// keepBreak keeps the first line break of a run of white space.
func (s *stripper) keepBreak(from, to int) {
	for i := from; i < to; i++ {
		if s.text[i] == '\n' {
			s.kept.Keep(i, i+1)
			return
		}
	}
}

// embedded keeps the string [from, to) without the white space of the document
// that is its text. It says whether there is one.
func (s *stripper) embedded(from, to int) bool {
	raw := []byte(s.text[from:to])
	text, lossy := transcript.Decode(raw)
	start := 0
	for start < len(text) && document.Blank(text[start]) {
		start++
	}
	end := len(text)
	for end > start && document.Blank(text[end-1]) {
		end--
	}
	if lossy || start == end || text[start] != '{' && text[start] != '[' || !transcript.Valid([]byte(text[start:end])) {
		return false
	}
	inner := stripper{text: text, lines: -1}
	inner.document(start, end)
	s.kept.Keep(from, from+1)
	cursor := transcript.NewCursor(raw)
	for _, p := range inner.kept {
		// A piece begins and ends between characters, so that both are found.
		a, _ := cursor.Seek(p.From)
		b, _ := cursor.Seek(p.To)
		s.kept.Keep(from+1+a, from+1+b)
	}
	s.kept.Keep(to-1, to)
	return true
}
