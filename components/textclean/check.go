package textclean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sameScreen says that a second, simpler reading sees the same visible lines in
// both texts. It shares no code with what cleans: a state machine over characters
// instead of places in the text, which knows rows of characters and no pieces.
func sameScreen(before, after string) bool {
	var r reader
	for before != "" || after != "" {
		a, restA, endA := strings.Cut(before, "\n")
		b, restB, endB := strings.Cut(after, "\n")
		if endA != endB {
			return false
		}
		if a != b && !r.same(a, b) {
			return false
		}
		before, after = restA, restB
	}
	return true
}

// states of the reader.
type state uint8

const (
	ground     state = iota
	escape           // after ESC
	charset          // after ESC and an intermediate
	csi              // in the parameters of a CSI
	csiBetween       // in its intermediates
	text             // in an OSC, DCS, SOS, PM or APC string
	textEscape       // after ESC in one
)

// reader shows lines. Its buffers are used again for each line.
type reader struct {
	row, shown []rune
	col        int
	budget     int // of characters that are made up or copied
	state      state
	pending    []rune // the sequence being read, shown if it turns out to be none
	first      int    // first parameter of a CSI
	closed     bool   // it is complete
}

// same compares a line with its cleaned form: what is visible of the first must
// be the second, and the second must show itself. White space at the end does
// not count.
func (r *reader) same(before, after string) bool {
	if coloured(strings.TrimRight(before, "\r"), strings.TrimRight(after, "\r")) {
		return true
	}
	after = strings.TrimRight(after, " \r")
	r.read(strings.TrimRight(before, "\r"))
	if !r.shows(after) {
		return false
	}
	if controls(after) {
		r.read(after)
		return r.shows(after)
	}
	return true
}

// coloured says that a line is the other with nothing but CSI sequences in it that
// leave the cursor where it is, which is what most lines are.
func coloured(line, plain string) bool {
	for {
		n := 0
		for n < len(line) && (line[n] >= ' ' && line[n] != 0xc2 || line[n] == '\t') {
			n++
		}
		if !strings.HasPrefix(plain, line[:n]) {
			return false
		}
		if line, plain = line[n:], plain[n:]; line == "" {
			return plain == ""
		}
		if !strings.HasPrefix(line, "\x1b[") {
			return false
		}
		n = 2
		for n < len(line) && n < 64 && (line[n] >= '0' && line[n] <= '9' || line[n] == ';' || line[n] == '?') {
			n++
		}
		if n == len(line) {
			return false
		}
		switch final := line[n]; {
		case final == 'm', final == 'h', final == 'l', final == 'K' && (n == 2 || n == 3 && line[2] == '0'):
			line = line[n+1:]
		default:
			return false
		}
	}
}

// controls says that a text may have something that is not drawn as it is.
func controls(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case 0x1b, '\r', '\b', '\a', 0xc2:
			return true
		}
	}
	return false
}

// shows compares what is visible with a text.
func (r *reader) shows(want string) bool {
	if r.budget < 0 {
		return false // it would take too long to tell
	}
	row := r.row
	if blank(row) && !blank(r.shown) {
		row = r.shown
	}
	n := len(row)
	for n > 0 && (row[n-1] == ' ' || row[n-1] == '\r') {
		n--
	}
	i := 0
	for _, c := range want {
		if i >= n || row[i] != c {
			return false
		}
		i++
	}
	return i == n
}

func blank(row []rune) bool {
	for _, c := range row {
		if !unicode.IsSpace(c) {
			return false
		}
	}
	return true
}

// read draws a line.
func (r *reader) read(line string) {
	r.row, r.shown, r.col, r.state = r.row[:0], r.shown[:0], 0, ground
	r.budget = 16 * (len(line) + 1)
	for line != "" && r.budget >= 0 {
		if n := printing(line); n > 0 && r.state == ground {
			r.print(line[:n])
			line = line[n:]
			continue
		}
		c, n := utf8.DecodeRuneInString(line)
		r.step(c)
		line = line[n:]
	}
	r.giveUp()
}

// printing is how many ASCII characters a line begins with that are drawn as they
// are.
func printing(line string) int {
	n := 0
	for n < len(line) && line[n] >= ' ' && line[n] < 0x7f {
		n++
	}
	return n
}

// print draws ASCII characters.
func (r *reader) print(text string) {
	if r.col > len(r.row) {
		r.write(rune(text[0]))
		text = text[1:]
	}
	if r.budget < 0 {
		return
	}
	over := r.row[r.col:min(r.col+len(text), len(r.row))]
	for i := range over {
		over[i] = rune(text[i])
	}
	for i := len(over); i < len(text); i++ {
		r.row = append(r.row, rune(text[i]))
	}
	r.col += len(text)
}

// write draws one character.
func (r *reader) write(c rune) {
	switch c {
	case '\r':
		r.col = 0
	case '\b':
		r.col = max(0, r.col-1)
	case '\a':
	default:
		if r.budget -= max(r.col-len(r.row), 0); r.budget < 0 {
			return
		}
		for len(r.row) <= r.col {
			r.row = append(r.row, ' ')
		}
		r.row[r.col] = c
		r.col++
	}
}

// giveUp draws what began like a sequence and is none. Its first character is
// drawn; the others are read again, since a sequence may start there.
func (r *reader) giveUp() {
	if r.state == ground {
		return
	}
	rest := append([]rune(nil), r.pending[1:]...)
	r.state = ground
	r.write(r.pending[0])
	for _, c := range rest {
		r.step(c)
	}
	r.giveUp()
}

func (r *reader) step(c rune) {
	if r.state == ground {
		r.start(c)
		return
	}
	r.pending = append(r.pending, c)
	if len(r.pending) > 4000 {
		r.giveUp()
		return
	}
	switch r.state {
	case escape:
		r.second(c)
	case charset:
		r.finish(c >= 0x30 && c <= 0x7e, c >= 0x20 && c <= 0x2f)
	case csi, csiBetween:
		r.parameter(c)
	case text:
		switch {
		case c == '\a', c == 0x9c:
			r.state = ground
		case c == 0x1b:
			r.state = textEscape
		case c < ' ' && c != '\t', c >= 0x80 && c <= 0x9f:
			r.giveUp()
		}
	case textEscape:
		r.finish(c == '\\', false)
	case ground:
	}
}

// finish ends a sequence, goes on with it, or gives it up.
func (r *reader) finish(done, more bool) {
	switch {
	case done:
		r.state = ground
	case !more:
		r.giveUp()
	}
}

// start reads a character outside of sequences.
func (r *reader) start(c rune) {
	switch {
	case c == 0x1b:
		r.state, r.pending = escape, append(r.pending[:0], c)
	case c >= 0x80 && c <= 0x9f:
		r.state, r.pending = escape, append(r.pending[:0], c)
		r.second(c - 0x40)
	default:
		r.write(c)
	}
}

// second reads the character that says what kind of sequence it is.
func (r *reader) second(c rune) {
	switch c {
	case '[':
		r.state, r.first, r.closed = csi, 0, false
	case ']', 'P', 'X', '^', '_':
		r.state = text
	default:
		r.state = charset
		r.finish(c >= 0x30 && c <= 0x7e, c >= 0x20 && c <= 0x2f)
	}
}

// parameter reads on in a CSI.
func (r *reader) parameter(c rune) {
	switch {
	case c >= '0' && c <= '9' && r.state == csi:
		if !r.closed {
			r.first = min(r.first*10+int(c-'0'), 1<<20)
		}
	case c >= 0x30 && c <= 0x3f && r.state == csi:
		r.closed = true
	case c >= 0x20 && c <= 0x2f:
		r.state = csiBetween
	case c >= 0x40 && c <= 0x7e:
		if r.state == csi {
			r.act(c)
		}
		r.state = ground
	default:
		r.giveUp()
	}
}

// act follows the sequences that move in a line or erase in it.
func (r *reader) act(final rune) {
	n := max(1, r.first)
	switch final {
	case 'G', '`':
		r.col = n - 1
	case 'C', 'a':
		r.col += n
	case 'D':
		r.col = max(0, r.col-n)
	case 'K':
		if r.first == 0 && r.col >= len(r.row) {
			return // there is nothing to erase
		}
		if r.budget -= len(r.row); r.budget < 0 {
			return
		}
		if !blank(r.row) {
			r.shown = append(r.shown[:0], r.row...)
		}
		switch r.first {
		case 0:
			r.row = r.row[:min(r.col, len(r.row))]
		case 1:
			for i := 0; i < len(r.row) && i <= r.col; i++ {
				r.row[i] = ' '
			}
		default:
			r.row = r.row[:0]
		}
	}
}
