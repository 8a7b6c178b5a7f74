package textclean

import (
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
)

// builder collects pieces, joining neighbours.
type builder struct {
	pipeline.Pieces
	screen screen // its buffers are used again for each line
}

// blanks are what spaces are cut from.
const blanks = "                                                                "

// spaces adds n spaces that the cursor jumped over.
func (b *builder) spaces(n int) {
	text := blanks
	if n > len(blanks) {
		text = strings.Repeat(" ", n)
	}
	b.Literal(text[:n])
}

// clean renders each line as a terminal leaves it.
func clean(text string) pipeline.Pieces {
	b := builder{Pieces: make(pipeline.Pieces, 0, 16+min(strings.Count(text, "\x1b"), len(text)/8))}
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
			b.Keep(at, body)
		}
		next := min(end+1, len(text))
		b.Keep(body, next)
		at = next
	}
	return b.Pieces
}

// line renders text[from:to], or keeps it as it is if it can't be followed, or if
// what is visible is no shorter.
func (b *builder) line(text string, from, to int) {
	if strings.IndexByte(text[from:to], '\r') >= 0 && !redraws(text[from:to]) {
		b.Keep(from, to)
		return
	}
	if b.still(text, from, to) {
		return
	}
	cells, ok := b.screen.draw(text, from, to)
	if !ok {
		b.Keep(from, to)
		return
	}
	for i := 0; i < len(cells); {
		j := i
		for j < len(cells) && cells[j].from == cells[j].to {
			j++
		}
		if j > i {
			b.spaces(j - i)
		} else {
			j++
			b.Keep(int(cells[i].from), int(cells[i].to))
		}
		i = j
	}
}

// still keeps what is between the sequences of a line in which the cursor is
// always at the end; it is false, and does nothing, for every other line.
func (b *builder) still(text string, from, to int) bool {
	n := len(b.Pieces)
	var last pipeline.Piece
	if n > 0 {
		last = b.Pieces[n-1]
	}
	for i := from; i < to; {
		j := i + nextControl(text[i:to])
		if j < i {
			b.Keep(i, to)
			return true
		}
		seq, ok := readSequence(text[j:to])
		switch {
		case ok && (!moves(seq) || seq.final == 'K' && seq.count(0) == 0): // nothing is right of the cursor
			b.Keep(i, j)
			i = j + seq.length
		case !ok && (text[j] == 0x1b || text[j] == 0xc2):
			b.Keep(i, j+1)
			i = j + 1
		case text[j] == '\a':
			b.Keep(i, j)
			i = j + 1
		default:
			if b.Pieces = b.Pieces[:n]; n > 0 {
				b.Pieces[n-1] = last
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
		if c := s[i]; c < ' ' || c == 0xc2 {
			switch c {
			case 0x1b, 0xc2, '\a', '\b', '\r':
				return i
			}
		}
	}
	return -1
}

// redraws says that the parts between carriage returns are states of one line
// and not lines of their own: most of them have a word or a form in common with
// the part before.
func redraws(line string) bool {
	var room [2][maxLetters]byte
	parts, alike := 0, 0
	var last []byte
	for line != "" {
		part, rest, _ := strings.Cut(line, "\r")
		line = rest
		if part == "" {
			continue
		}
		now := letters(room[parts%2][:0], part)
		if parts++; parts > 1 && similar(last, now) {
			alike++
		}
		last = now
	}
	return parts < 3 || 2*alike >= parts-1
}

// similar compares the letters of two states.
func similar(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
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

// maxLetters is how many letters of a state are looked at.
const maxLetters = 200

// letters appends the ASCII letters of the start of a text, escape sequences
// aside.
func letters(dst []byte, s string) []byte {
	for i := 0; i < len(s) && len(dst) < maxLetters; {
		c := s[i]
		if c == 0x1b || c == 0xc2 {
			if seq, ok := readSequence(s[i:]); ok {
				i += seq.length
				continue
			}
		}
		if c |= 0x20; c >= 'a' && c <= 'z' {
			dst = append(dst, c)
		}
		i++
	}
	return dst
}
