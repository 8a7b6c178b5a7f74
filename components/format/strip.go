package format

import (
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// minEmbedded is the length in bytes, quotes included, from which a string is
// looked at for a document in it.
const minEmbedded = 64

// stripper collects the pieces of a text that stay.
type stripper struct {
	text  string
	lines int // the depth down to which a line break behind a comma stays
	kept  []pipeline.Piece
}

func (s *stripper) keep(from, to int) {
	if from >= to {
		return
	}
	if n := len(s.kept); n > 0 && s.kept[n-1].To == from {
		s.kept[n-1].To = to
		return
	}
	s.kept = append(s.kept, pipeline.Piece{Kind: pipeline.Keep, From: from, To: to})
}

// document keeps what is no white space between the tokens of the document
// [from, to), which is valid, and what the line breaks are worth.
func (s *stripper) document(from, to int) {
	var depth int
	var last byte // the last byte that was no white space
	object := s.text[from] == '{'
	for i := from; i < to; {
		c := s.text[i]
		switch c {
		case ' ', '\t', '\r', '\n':
			start := i
			for i < to && blank(s.text[i]) {
				i++
			}
			if last == ',' && depth <= s.lines {
				s.keepBreak(start, i)
			}
			continue
		case '"':
			end := stringEnd(s.text, i)
			if !object || depth != 1 || last != ':' || end-i < minEmbedded || !s.embedded(i, end) {
				s.keep(i, end)
			}
			i = end
		case '{', '[':
			depth++
			s.keep(i, i+1)
			i++
		case '}', ']':
			depth--
			s.keep(i, i+1)
			i++
		default:
			s.keep(i, i+1)
			i++
		}
		last = c
	}
}

// keepBreak keeps the first line break of a run of white space.
func (s *stripper) keepBreak(from, to int) {
	for i := from; i < to; i++ {
		if s.text[i] == '\n' {
			s.keep(i, i+1)
			return
		}
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// stringEnd is where the JSON string that begins at i ends, quotes included.
func stringEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// embedded keeps the string [from, to) without the white space of the document
// that is its text. It says whether there is one.
func (s *stripper) embedded(from, to int) bool {
	raw := []byte(s.text[from:to])
	text, lossy := transcript.Decode(raw)
	start := 0
	for start < len(text) && blank(text[start]) {
		start++
	}
	end := len(text)
	for end > start && blank(text[end-1]) {
		end--
	}
	if lossy || start == end || !opens(text[start]) || !transcript.Valid([]byte(text[start:end])) {
		return false
	}
	inner := stripper{text: text, lines: -1}
	inner.document(start, end)
	s.keep(from, from+1)
	cursor := transcript.NewCursor(raw)
	for _, p := range inner.kept {
		// A piece begins and ends between characters, so that both are found.
		a, _ := cursor.Seek(p.From)
		b, _ := cursor.Seek(p.To)
		s.keep(from+1+a, from+1+b)
	}
	s.keep(to-1, to)
	return true
}
