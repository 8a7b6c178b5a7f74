package textclean

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trimtab-io/trimtab/pipeline"
)

// maxColumn bounds cursor movements: a line that goes further is left alone.
const maxColumn = 2000

// cell is one column of a line: a character of the text, or a space that the
// cursor jumped over.
type cell struct {
	from, to int // in the text; equal for a space
}

// builder collects pieces, joining neighbours.
type builder struct{ pieces []pipeline.Piece }

func (b *builder) keep(from, to int) {
	if from == to {
		return
	}
	if n := len(b.pieces); n > 0 && b.pieces[n-1].Kind == pipeline.Keep && b.pieces[n-1].To == from {
		b.pieces[n-1].To = to
		return
	}
	b.pieces = append(b.pieces, pipeline.Piece{Kind: pipeline.Keep, From: from, To: to})
}

func (b *builder) space() {
	b.pieces = append(b.pieces, pipeline.Piece{Kind: pipeline.Literal, Text: " "})
}

// clean renders each line as a terminal leaves it.
func clean(text string) []pipeline.Piece {
	var b builder
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += at
		}
		body := at + len(strings.TrimRight(text[at:end], "\r")) // returns before a line feed end the line
		if noisy(text[at:body]) {
			b.line(text, at, body)
		} else {
			b.keep(at, body)
		}
		next := min(end+1, len(text))
		b.keep(body, next)
		at = next
	}
	return b.pieces
}

// line renders text[from:to], or keeps it as it is if it can't be followed.
func (b *builder) line(text string, from, to int) {
	if strings.IndexByte(text[from:to], '\r') >= 0 && !redraws(text[from:to]) {
		b.keep(from, to)
		return
	}
	if b.still(text, from, to) {
		return
	}
	s := screen{text: text}
	if !s.draw(from, to) {
		b.keep(from, to)
		return
	}
	for _, c := range s.result() {
		if c.from == c.to {
			b.space()
		} else {
			b.keep(c.from, c.to)
		}
	}
}

// still keeps what is between the sequences of a line in which the cursor never
// moves back; it is false, and does nothing, for every other line.
func (b *builder) still(text string, from, to int) bool {
	n := len(b.pieces)
	var last pipeline.Piece
	if n > 0 {
		last = b.pieces[n-1]
	}
	for i := from; i < to; {
		j := i + nextControl(text[i:to])
		if j < i {
			b.keep(i, to)
			return true
		}
		seq, ok := readSequence(text[j:to])
		switch {
		case ok && !moves(seq):
			b.keep(i, j)
			i = j + seq.length
		case !ok && (text[j] == 0x1b || text[j] == 0xc2):
			b.keep(i, j+1)
			i = j + 1
		case text[j] == '\a':
			b.keep(i, j)
			i = j + 1
		default:
			if b.pieces = b.pieces[:n]; n > 0 {
				b.pieces[n-1] = last
			}
			return false
		}
	}
	return true
}

// nextControl is where the next byte is that may begin something a terminal
// consumes, or -1.
func nextControl(s string) int {
	for i := range len(s) {
		switch s[i] {
		case 0x1b, 0xc2, '\a', '\b', '\r':
			return i
		}
	}
	return -1
}

// screen is one line of a terminal.
type screen struct {
	text  string
	cells []cell
	col   int
	shown []cell // what stood there before the last erasure
}

// result is what is visible, or, if all was erased at last, what was.
func (s *screen) result() []cell {
	if s.blank(s.cells) && !s.blank(s.shown) {
		return s.shown
	}
	return s.cells
}

func (s *screen) blank(cells []cell) bool {
	for _, c := range cells {
		if strings.TrimSpace(s.text[c.from:c.to]) != "" {
			return false
		}
	}
	return true
}

// draw follows the text; it is false where columns can't be told.
func (s *screen) draw(from, to int) bool {
	moved := strings.ContainsAny(s.text[from:to], "\r\b")
	for i := from; i < to; {
		c := s.text[i]
		switch {
		case c == '\r':
			s.col = 0
			i++
		case c == '\b':
			s.col = max(s.col-1, 0)
			i++
		case c == '\a':
			i++
		case c == 0x1b || c == 0xc2:
			if seq, ok := readSequence(s.text[i:to]); ok {
				if !s.control(seq) {
					return false
				}
				moved = moved || moves(seq)
				i += seq.length
				continue
			}
			fallthrough
		default:
			_, n := utf8.DecodeRuneInString(s.text[i:to])
			s.put(i, i+n)
			i += n
		}
	}
	return !moved || s.simple(from, to)
}

// moves says that a sequence moves the cursor in its line or erases in it.
func moves(seq sequence) bool {
	switch seq.final {
	case 'G', '`', 'C', 'a', 'D', 'K', 'P', 'X', '@':
		return true
	}
	return false
}

// simple says that every character takes one column, so that the cells are
// where a terminal has them.
func (s *screen) simple(from, to int) bool {
	for _, r := range s.text[from:to] {
		switch {
		case r == '\t', r == utf8.RuneError, unicode.Is(unicode.M, r), r == 0x200d, r >= 0xfe00 && r <= 0xfe0f:
			return false
		case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
			r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f000):
			return false
		}
	}
	return true
}

// put writes a character at the cursor.
func (s *screen) put(from, to int) {
	s.pad()
	if s.col < len(s.cells) {
		s.cells[s.col] = cell{from, to}
	} else {
		s.cells = append(s.cells, cell{from, to})
	}
	s.col++
}

// pad fills the columns that the cursor jumped over.
func (s *screen) pad() {
	for len(s.cells) < s.col {
		s.cells = append(s.cells, cell{})
	}
}

// control follows a sequence; it is false where the line can't be followed.
func (s *screen) control(seq sequence) bool {
	n := seq.count(1)
	if moves(seq) && (n < 0 || n > maxColumn || s.col > maxColumn*4) {
		return false
	}
	switch seq.final {
	case 'G', '`':
		s.col = max(n-1, 0)
	case 'C', 'a':
		s.col += max(n, 1)
	case 'D':
		s.col = max(s.col-max(n, 1), 0)
	case 'K':
		s.erase(seq.count(0))
	case 'P', 'X', '@':
		return false
	}
	return true
}

// erase follows CSI K: to the end, from the start, or all of the line.
func (s *screen) erase(how int) {
	if !s.blank(s.cells) {
		s.shown = append(s.shown[:0], s.cells...)
	}
	switch how {
	case 0:
		s.cells = s.cells[:min(s.col, len(s.cells))]
	case 1:
		for i := range min(s.col+1, len(s.cells)) {
			s.cells[i] = cell{}
		}
	default:
		s.cells = s.cells[:0]
	}
}

// redraws says that the parts between carriage returns are states of one line
// and not lines of their own: most of them have a word or a form in common with
// the part before.
func redraws(line string) bool {
	parts := strings.FieldsFunc(line, func(r rune) bool { return r == '\r' })
	if len(parts) < 3 {
		return true
	}
	alike := 0
	for i := 1; i < len(parts); i++ {
		if similar(parts[i-1], parts[i]) {
			alike++
		}
	}
	return 2*alike >= len(parts)-1
}

// similar compares the letters of two states, at most the first 200 bytes.
func similar(a, b string) bool {
	a, b = letters(a), letters(b)
	if a == "" || b == "" {
		return true
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	m := 0
	for m < len(a) && m < len(b) && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	return 3*max(n, m) >= min(len(a), len(b))
}

// letters are the ASCII letters of the start of a text, escape sequences aside.
func letters(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < 200; {
		if seq, ok := readSequence(s[i:]); ok {
			i += seq.length
			continue
		}
		if c := s[i] | 0x20; c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		}
		i++
	}
	return b.String()
}
