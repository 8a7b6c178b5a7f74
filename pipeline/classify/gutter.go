package classify

import (
	"strconv"
	"strings"
)

// Gutter is the form of the line numbers in front of a file's lines.
type Gutter struct {
	// Sep stands between number and content: "\t", "→", "| ", ". ", ": " or ":".
	Sep string
	// Pad fills numbers up to Width on the left: a space or a zero. Width is 0 if
	// nothing is filled.
	Pad   byte
	Width int
}

// Append appends the gutter of line n.
func (g Gutter) Append(dst []byte, n int) []byte {
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], int64(n), 10)
	for i := len(d); i < g.Width; i++ {
		dst = append(dst, g.Pad)
	}
	dst = append(dst, d...)
	return append(dst, g.Sep...)
}

// Numbered is a run of lines numbered by one, in one form.
type Numbered struct {
	// From and To are the half-open range of lines, counted from 0.
	From, To int
	// First is the number of the first line.
	First  int
	Gutter Gutter
	// Regular says that every gutter of the run is what Append writes, but for
	// blank lines of a ": " run, which may lack the space.
	Regular bool
}

// Last is the number of the run's last line.
func (r Numbered) Last() int { return r.First + r.To - r.From - 1 }

// MinNumbered is how many consecutively numbered lines make a gutter.
const MinNumbered = 6

// Separators of gutters as they are parsed. A colon's space is told by the run.
const (
	sepTab   = "\t"
	sepArrow = "→"
	sepBar   = "| "
	sepDot   = ". "
	sepSpace = ": "
	sepColon = ":"
)

// numberedLine is a line that could be a numbered one.
type numberedLine struct {
	number int
	start  int // of the digits
	end    int // of the digits
	sep    string
}

// parseNumbered reads [spaces]N<sep> at the start of a line. The separator of a
// colon is the colon alone.
func parseNumbered(line string) (n numberedLine, ok bool) {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	n.start = i
	for i < len(line) && isDigit(line[i]) {
		i++
	}
	n.end = i
	if i == n.start || i-n.start > 9 || i == len(line) {
		return n, false
	}
	switch line[i] {
	case '\t':
		n.sep = sepTab
	case ':':
		n.sep = sepColon
	case sepArrow[0]:
		n.sep = sepArrow
	case '|':
		n.sep = sepBar
	case '.':
		n.sep = sepDot
	default:
		return n, false
	}
	if len(n.sep) > 1 && !strings.HasPrefix(line[i:], n.sep) {
		return n, false
	}
	if line[n.start] == '0' && i > n.start+1 && (i-n.start != 5 || n.sep != sepBar || n.start > 0) {
		return n, false
	}
	for _, d := range []byte(line[n.start:i]) {
		n.number = n.number*10 + int(d-'0')
	}
	return n, true
}

// LooksNumbered says that a line could be taken for a numbered one in any of the
// known forms.
func LooksNumbered(line string) bool {
	_, ok := parseNumbered(line)
	return ok
}

// IsGutter says that a text is the gutter of a line, in any of the known forms.
func IsGutter(text string) bool {
	n, ok := parseNumbered(text)
	if !ok {
		return false
	}
	rest := text[n.end+len(n.sep):]
	return rest == "" || rest == " " && n.sep == sepColon
}

// NumberedRuns finds the gutters of a text given as lines without terminators:
// the maximal runs of at least least lines numbered by one with one separator.
// Runs whose separator prose uses too (a dot or a colon) count only if they are
// at least half of all lines: a numbered list in a text is no gutter.
func NumberedRuns(lines []string, least int) []Numbered {
	var runs []Numbered
	weak := map[string]int{}
	for i := 0; i < len(lines); {
		first, ok := parseNumbered(lines[i])
		if !ok {
			i++
			continue
		}
		j := i + 1
		for j < len(lines) {
			n, ok := parseNumbered(lines[j])
			if !ok || n.sep != first.sep || n.number != first.number+j-i {
				break
			}
			j++
		}
		if j-i >= least {
			r := newNumbered(lines, i, j, first)
			runs = append(runs, r)
			switch r.Gutter.Sep {
			case sepDot, sepSpace, sepColon:
				weak[r.Gutter.Sep] += j - i
			}
		}
		i = j
	}
	kept := runs[:0]
	for _, r := range runs {
		if n, isWeak := weak[r.Gutter.Sep]; !isWeak || 2*n >= len(lines) {
			kept = append(kept, r)
		}
	}
	return kept
}

// newNumbered measures the run of lines [i,j).
func newNumbered(lines []string, i, j int, first numberedLine) Numbered {
	r := Numbered{From: i, To: j, First: first.number, Gutter: Gutter{Sep: first.sep}, Regular: true}
	if line := lines[i]; line[0] == ' ' || line[0] == '0' {
		r.Gutter.Pad, r.Gutter.Width = line[0], first.end
	}
	if first.sep == sepColon {
		r.Gutter.Sep = colon(lines[i:j])
	}
	for k := i; k < j && r.Regular; k++ {
		r.Regular = r.Gutter.written(lines[k], r.First+k-i)
	}
	return r
}

// written says that a line, which is numbered n, has the gutter that Append
// writes, or is a blank one of a ": " run.
func (g Gutter) written(line string, n int) bool {
	start, content := g.places(n)
	if len(line) < content-len(g.Sep) {
		return false
	}
	for i := range start {
		if line[i] != g.Pad {
			return false
		}
	}
	if !isDigit(line[start]) || start > 0 && g.Pad == ' ' && isDigit(line[start-1]) {
		return false
	}
	return strings.HasPrefix(line[content-len(g.Sep):], g.Sep) || g.spaceless(line, content)
}

// places are where number n starts, its padding aside, and where the content
// starts.
func (g Gutter) places(n int) (start, content int) {
	d := 1
	for m := n; m >= 10; m /= 10 {
		d++
	}
	start = max(g.Width-d, 0)
	return start, start + d + len(g.Sep)
}

// colon tells ": " from ":": the space belongs to the separator if no line lacks
// it, blank ones aside.
func colon(lines []string) string {
	for _, line := range lines {
		if _, after, _ := strings.Cut(line, sepColon); strings.TrimSuffix(after, "\r") != "" && after[0] != ' ' {
			return sepColon
		}
	}
	return sepSpace
}

// spaceless says that a line is a blank one of a ": " run without the space.
func (g Gutter) spaceless(line string, content int) bool {
	return g.Sep == sepSpace && len(strings.TrimSuffix(line, "\r")) == content-1
}

// NumberOf is the number of a line that could be a numbered one.
func NumberOf(line string) (number int, ok bool) {
	n, ok := parseNumbered(line)
	return n.number, ok
}

// GutterOf takes apart line number of a regular run in form g: where the number
// starts without its padding, and where the content starts. Content is -1 for a
// blank line of a ": " run that lacks the space.
func GutterOf(line string, g Gutter, number int) (start, content int) {
	start, content = g.places(number)
	if g.spaceless(line, content) {
		content = -1
	}
	return start, content
}
