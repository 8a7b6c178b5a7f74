package textclean

import (
	"math"
	"unicode"
	"unicode/utf8"
)

// maxColumn bounds cursor movements: a line that goes further is left alone.
const maxColumn = 2000

// cell is one column of a line: a character of the text, or a space that the
// cursor jumped over.
type cell struct {
	from, to int32 // in the text; equal for a space
}

// screen is one line of a terminal. It never has more columns than the line has
// bytes, and does not copy more than a multiple of them: a line of which more
// would be visible than was received is left alone.
type screen struct {
	text  string
	cells []cell
	shown []cell // what stood there before the last erasure
	col   int
	limit int // columns
	work  int // cells that erasures may still look at
}

// workFactor is how often erasures may look at as many columns as a line has
// bytes: each state of a redrawn line is looked at about twice.
const workFactor = 8

// draw follows text[from:to] and returns what is visible, or, if all was erased at
// last, what was. It is false where columns can't be told, and where what is
// visible is no shorter. The cells are valid until the next call.
func (s *screen) draw(text string, from, to int) (cells []cell, ok bool) {
	if to > math.MaxInt32 {
		return nil, false
	}
	s.text, s.cells, s.shown, s.col = text, s.cells[:0], s.shown[:0], 0
	s.limit, s.work = to-from, workFactor*(to-from)
	if !s.follow(from, to) {
		return nil, false
	}
	cells = s.cells
	if s.blank(cells) && !s.blank(s.shown) {
		cells = s.shown
	}
	n := 0
	for _, c := range cells {
		n += max(int(c.to-c.from), 1)
	}
	return cells, n < to-from
}

func (s *screen) blank(cells []cell) bool {
	for i, c := range cells {
		if c.from == c.to || s.text[c.from] == ' ' {
			continue
		}
		r, _ := utf8.DecodeRuneInString(s.text[c.from:c.to])
		if !unicode.IsSpace(r) {
			s.work -= i
			return false
		}
	}
	s.work -= len(cells)
	return true
}

// follow draws the text; it is false where columns can't be told.
func (s *screen) follow(from, to int) bool {
	moved, wide := false, false
	for i := from; i < to; {
		c := s.text[i]
		switch {
		case c >= ' ' && c < utf8.RuneSelf:
			j := i + 1
			for j < to && s.text[j] >= ' ' && s.text[j] < utf8.RuneSelf {
				j++
			}
			if !s.put(i, j) {
				return false
			}
			i = j
			continue
		case c == '\r':
			s.col, moved = 0, true
			i++
			continue
		case c == '\b':
			s.col, moved = max(s.col-1, 0), true
			i++
			continue
		case c == '\a':
			i++
			continue
		case c == 0x1b || c == 0xc2:
			if seq, ok := readSequence(s.text[i:to]); ok {
				if !s.control(seq) {
					return false
				}
				moved = moved || moves(seq)
				i += seq.length
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(s.text[i:to])
		wide = wide || !simple(r)
		if !s.putOne(i, i+n) {
			return false
		}
		i += n
	}
	return s.work >= 0 && !(moved && wide)
}

// moves says that a sequence moves the cursor in its line or erases in it.
func moves(seq sequence) bool {
	switch seq.final {
	case 'G', '`', 'C', 'a', 'D', 'K', 'P', 'X', '@':
		return true
	}
	return false
}

// simple says that a character takes one column, so that the cells are where a
// terminal has them.
func simple(r rune) bool {
	switch {
	case r == '\t', r == utf8.RuneError, unicode.Is(unicode.M, r), r == 0x200d, r >= 0xfe00 && r <= 0xfe0f:
		return false
	case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f000):
		return false
	}
	return true
}

// put writes text[from:to], which are ASCII characters, at the cursor.
func (s *screen) put(from, to int) bool {
	if !s.pad() {
		return false
	}
	at := int32(from)
	over := s.cells[s.col:min(s.col+to-from, len(s.cells))]
	for i := range over {
		over[i] = cell{at, at + 1}
		at++
	}
	for ; int(at) < to; at++ {
		s.cells = append(s.cells, cell{at, at + 1})
	}
	s.col += to - from
	return true
}

// putOne writes one character at the cursor.
func (s *screen) putOne(from, to int) bool {
	if !s.pad() {
		return false
	}
	c := cell{int32(from), int32(to)}
	if s.col < len(s.cells) {
		s.cells[s.col] = c
	} else {
		s.cells = append(s.cells, c)
	}
	s.col++
	return true
}

// pad fills the columns that the cursor jumped over; it is false if they would be
// more than the line has bytes.
func (s *screen) pad() bool {
	if s.col > s.limit {
		return false
	}
	for len(s.cells) < s.col {
		s.cells = append(s.cells, cell{})
	}
	return true
}

// control follows a sequence; it is false where the line can't be followed.
func (s *screen) control(seq sequence) bool {
	n := seq.count(1)
	if moves(seq) && (n < 0 || n > maxColumn) {
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
		return s.work >= 0
	case 'P', 'X', '@':
		return false
	}
	return true
}

// erase follows CSI K: to the end, from the start, or all of the line. Where there
// is nothing, nothing is erased.
func (s *screen) erase(how int) {
	if how == 0 && s.col >= len(s.cells) {
		return
	}
	if !s.blank(s.cells) {
		s.shown = append(s.shown[:0], s.cells...)
		s.work -= len(s.cells)
	}
	switch how {
	case 0:
		s.cells = s.cells[:s.col]
	case 1:
		n := min(s.col+1, len(s.cells))
		clear(s.cells[:n])
		s.work -= n
	default:
		s.cells = s.cells[:0]
	}
}
