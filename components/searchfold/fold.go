package searchfold

import (
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
)

// kind is how rows are grouped.
type kind uint8

const (
	none   kind = iota
	byPath      // hit rows under their path
	byDir       // hit rows under the directory of their path
	bare        // bare paths under their directory
)

func (k kind) mark(lines int) string {
	by := "path"
	if k != byPath {
		by = "directory"
	}
	return pipeline.MarkStart + strconv.Itoa(lines) + " lines: rows grouped by " + by + "]"
}

// fold groups the lines [from, to), cut[i] bytes of which go into the heading.
type fold struct {
	kind     kind
	from, to int
	cut      []int // by line from from on; 0: the line is left as it is
}

// view is a line as it stands after shortening.
func view(all string, l line) string {
	if l.dot {
		return dots + all[l.from:l.to]
	}
	return all[l.from:l.to]
}

// hit finds the path of a hit row: path SEP digits SEP rest, with one separator,
// a colon or a dash, at the first place where that holds and the path is not all
// digits. It returns the length of the path, 0 if there is none. A path with
// white space in it is taken for prose, where dates look like rows.
func hit(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' || s[i] == '\t' {
			return 0
		}
		if i == 0 || s[i] != ':' && s[i] != '-' {
			continue
		}
		j := i + 1
		for j < len(s) && isDigit(s[j]) {
			j++
		}
		if j > i+1 && j < len(s) && s[j] == s[i] && !allDigits(s[:i]) && !drive(s, i) {
			return i
		}
	}
	return 0
}

// drive says that the colon at i belongs to a drive letter.
func drive(s string, i int) bool { return i == 1 && s[i] == ':' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// bareDir is the length of the directory, with its slash, of a line that is a
// path and nothing else; 0 if it is none.
func bareDir(s string) int {
	if strings.ContainsAny(s, " \t:") || strings.HasPrefix(s, pipeline.MarkStart) {
		return 0
	}
	i := strings.LastIndexByte(s, '/')
	if i <= 0 || i == len(s)-1 {
		return 0
	}
	return i + 1
}

// fold finds the way to group the lines [from, to) that saves most bytes, and
// the tokens that it saves; a fold that saves none is none.
func (t *text) fold(lines []line, from, to int) (best fold, saved int) {
	views := make([]string, to-from)
	hits := make([]int, to-from)
	dirs := make([]int, to-from)
	bares := make([]int, to-from)
	for i := range views {
		s := view(t.all, lines[from+i])
		views[i] = s
		if hits[i] = hit(s); hits[i] > 0 {
			dirs[i] = strings.LastIndexByte(s[:hits[i]], '/') + 1
		}
		bares[i] = bareDir(s)
	}
	bytes := 0
	for _, c := range [...]struct {
		kind kind
		cut  []int
	}{{byPath, hits}, {byDir, dirs}, {bare, bares}} {
		f, ok := group(c.kind, views, c.cut)
		if !ok {
			continue
		}
		if n := f.weigh(views, func(s string) int { return len(s) }); n > bytes && f.inverts(views) {
			best, bytes = f, n
		}
	}
	if best.kind == none {
		return fold{}, 0
	}
	if saved = best.weigh(views, tokens.Estimate); saved <= 0 {
		return fold{}, 0
	}
	best.from, best.to = best.from+from, best.to+from
	return best, saved
}

// group cuts the lines down to what is grouped, from the first grouped row to
// the last. Rows under a directory are grouped in twos and more.
func group(k kind, views []string, cut []int) (f fold, ok bool) {
	cut = append([]int(nil), cut...)
	first, last, twice := -1, -1, false
	for i := 0; i < len(cut); {
		j := i + 1
		for j < len(cut) && cut[i] > 0 && cut[j] > 0 && views[j][:cut[j]] == views[i][:cut[i]] {
			j++
		}
		switch {
		case cut[i] == 0:
		case k != byPath && j-i < 2:
			cut[i] = 0
		default:
			twice = twice || j-i > 1
			if first < 0 {
				first = i
			}
			last = j
		}
		i = j
	}
	if !twice {
		return fold{}, false
	}
	return fold{kind: k, from: first, to: last, cut: cut[first:last]}, true
}

// opens says that line i of the fold begins a group.
func (f *fold) opens(views []string, i int) bool {
	if f.cut[i] == 0 {
		return false
	}
	return i == 0 || f.cut[i-1] == 0 || views[f.from+i][:f.cut[i]] != views[f.from+i-1][:f.cut[i-1]]
}

// row is what a grouped row is written as under its heading.
func (f *fold) row(s string, cut int) string {
	if f.kind == byPath {
		return s[cut+1:]
	}
	return "\t" + s[cut:]
}

// weigh is how much less the grouped lines measure than the lines as they are,
// the mark included.
func (f *fold) weigh(views []string, measure func(string) int) int {
	less := -measure(f.kind.mark(f.to-f.from) + "\n")
	for i, cut := range f.cut {
		if cut == 0 {
			continue
		}
		s := views[f.from+i]
		if f.opens(views, i) {
			less -= measure(s[:cut] + "\n")
		}
		less += measure(s) - measure(f.row(s, cut))
	}
	return less
}

// inverts says that the grouped lines read back as what they were: that no line
// left as it is looks like a heading or a row.
func (f *fold) inverts(views []string) bool {
	heading := ""
	starts := func(i int) bool { // line i is written like a row
		s := views[f.from+i]
		if f.cut[i] > 0 {
			return !f.opens(views, i)
		}
		if f.kind == byPath {
			return rowLike(s)
		}
		return strings.HasPrefix(s, "\t")
	}
	for i, cut := range f.cut {
		s := views[f.from+i]
		if cut > 0 {
			if f.opens(views, i) {
				heading = s[:cut]
				if f.kind == byPath && rowLike(heading) {
					return false
				}
			}
			if heading != s[:cut] {
				return false
			}
			continue
		}
		if starts(i) {
			return false
		}
		if f.kind == byPath && i+1 < len(f.cut) && starts(i+1) {
			return false
		}
		heading = ""
	}
	return true
}

// rowLike says that a line starts with digits and a colon or a dash.
func rowLike(s string) bool {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n > 0 && n < len(s) && (s[n] == ':' || s[n] == '-')
}

// pieces writes a layout.
func (t *text) pieces(l layout) pipeline.Pieces {
	var b pipeline.Pieces
	if l.head != "" {
		b.Literal(headMark)
		b.Keep(l.headAt, l.headAt+len(l.head))
		b.Literal("]\n")
	}
	next := 0
	for i := 0; i < len(t.lines); i++ {
		if next < len(l.folds) && l.folds[next].from == i {
			f := &l.folds[next]
			b.Literal(f.kind.mark(f.to-f.from) + "\n")
			t.folded(&b, l, f)
			i = f.to - 1
			next++
		} else {
			put(&b, l.lines[i])
		}
		end := len(t.all)
		if i+1 < len(t.lines) {
			end = t.lines[i+1].from
		}
		b.Keep(t.lines[i].to, end)
	}
	return b
}

// folded writes the lines of a fold, without the last terminator.
func (t *text) folded(b *pipeline.Pieces, l layout, f *fold) {
	views := make([]string, f.to)
	for i := f.from; i < f.to; i++ {
		views[i] = view(t.all, l.lines[i])
	}
	for i, cut := range f.cut {
		at := l.lines[f.from+i]
		if i > 0 {
			b.Keep(t.lines[f.from+i-1].to, t.lines[f.from+i].from)
		}
		if cut == 0 {
			put(b, at)
			continue
		}
		if at.dot {
			cut -= len(dots)
		}
		if f.opens(views, i) {
			put(b, line{from: at.from, to: at.from + cut, dot: at.dot})
			b.Literal("\n")
		}
		if f.kind == byPath {
			b.Keep(at.from+cut+1, at.to)
		} else {
			b.Literal("\t")
			b.Keep(at.from+cut, at.to)
		}
	}
}

// put writes a line.
func put(b *pipeline.Pieces, l line) {
	if l.dot {
		b.Literal(dots)
	}
	b.Keep(l.from, l.to)
}
