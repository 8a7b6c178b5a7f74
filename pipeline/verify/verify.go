package verify

import (
	"errors"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
)

// Errors of Verify. A text that is not decoded is not forwarded either, so an
// error costs savings and nothing else.
var (
	ErrMark   = errors.New("verify: a mark has no known form")
	ErrShort  = errors.New("verify: a mark covers more lines than follow it")
	ErrSource = errors.New("verify: a reference names no text before it")
	ErrQuote  = errors.New("verify: a quote is not where the reference says")
	ErrNumber = errors.New("verify: a line number is not where it should be")
)

// Verifier implements pipeline.Verifier. It has no state.
type Verifier struct{}

var _ pipeline.Verifier = Verifier{}

// New makes a verifier.
func New() Verifier { return Verifier{} }

// Verify decodes b.Text, the final text of a block, with the texts that stand
// before it as they are forwarded. It is safe for concurrent use, and its cost is
// linear in the texts that are referred to.
func (Verifier) Verify(b pipeline.Block, before pipeline.Prefix) (restored string, err error) {
	d := decoder{before: before, seen: map[string][]*page{}}
	if b.Text == "" {
		return "", nil
	}
	text, terminated := strings.CutSuffix(b.Text, "\n")
	d.in = strings.Split(text, "\n")
	for len(d.in) > 0 {
		if err := d.next(); err != nil {
			return "", err
		}
	}
	if err := d.stated(); err != nil {
		return "", err
	}
	restored = strings.Join(d.out, "\n")
	if terminated {
		restored += "\n"
	}
	return restored, nil
}

// decoder is the state of one block.
type decoder struct {
	before  pipeline.Prefix
	in, out []string // lines without terminators
	took    int      // lines removed from in
	head    string   // what a leading ./ stands for
	seen    map[string][]*page
	said    []stretch // what references said the numbers of lines are
	page    *page     // what is decoded, if it is a page
}

// stretch are lines [from, to) of the output, numbered from first on.
type stretch struct{ from, to, first int }

// stated checks that no number that a reference states is that of another line
// too: two files in one result may have the same numbers.
func (d *decoder) stated() error {
	for _, s := range d.said {
		for i, line := range d.out {
			if i >= s.from && i < s.to {
				continue
			}
			if _, n, ok := formOf(line); ok && n >= s.first && n < s.first+s.to-s.from {
				return ErrNumber
			}
		}
	}
	return nil
}

// take removes n lines from the input.
func (d *decoder) take(n int) ([]string, error) {
	if n < 1 || n > len(d.in) {
		return nil, ErrShort
	}
	lines := d.in[:n]
	d.in = d.in[n:]
	d.took += n
	return lines, nil
}

// literal puts a literal line out.
func (d *decoder) literal(line string) {
	if d.head != "" && strings.HasPrefix(line, "./") {
		line = d.head + line[2:]
	}
	if d.page != nil && d.page.lines[d.took-1] == line {
		d.page.stands[d.took-1] = true
	}
	d.out = append(d.out, line)
}

// next decodes one line or one mark with the lines that belong to it.
func (d *decoder) next() error {
	lines, err := d.take(1)
	if err != nil {
		return err
	}
	mark, ok := strings.CutPrefix(lines[0], "[trimtab ")
	if !ok {
		d.literal(lines[0])
		return nil
	}
	mark, ok = strings.CutSuffix(mark, "]")
	if !ok {
		return ErrMark
	}
	if leaves(mark) {
		d.literal(lines[0])
		return nil
	}
	return d.mark(strings.TrimSuffix(mark, "; #n counts tool calls from the start"))
}

// mark decodes the inside of a mark.
func (d *decoder) mark(mark string) error {
	if head, ok := strings.CutPrefix(mark, "paths: ./ = "); ok {
		d.head = head
		return nil
	}
	if rest, ok := strings.CutPrefix(mark, "identical output to #"); ok {
		return d.whole(rest)
	}
	if rest, ok := strings.CutPrefix(mark, "same as #"); ok && strings.HasSuffix(rest, ", unchanged") {
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		return d.whole(rest[:n])
	}
	left, right, ok := strings.Cut(mark, ": same as ")
	if ok {
		return d.run(left, right)
	}
	if count, kind, ok := strings.Cut(mark, " lines: rows grouped by "); ok {
		return d.grouped(count, kind)
	}
	if left, right, ok := strings.Cut(mark, ": every "); ok && strings.HasSuffix(right, " number shown") {
		first, last, ok := numbers(left)
		if !ok {
			return ErrMark
		}
		return d.gutter(first, last)
	}
	return ErrMark
}

// numbers reads "lines a-b".
func numbers(s string) (first, last int, ok bool) {
	s, ok = strings.CutPrefix(s, "lines ")
	a, b, ok2 := strings.Cut(s, "-")
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	return first, last, ok && ok2 && err1 == nil && err2 == nil && first <= last
}

// whole decodes a reference to a whole result.
func (d *decoder) whole(ordinal string) error {
	pages, err := d.pages("#" + ordinal)
	if err != nil {
		return err
	}
	if len(pages[0].holes) > 0 {
		return ErrSource // not all of it stands there
	}
	d.out = append(d.out, pages[0].decoded...)
	return nil
}

// run decodes a reference to a run of lines.
func (d *decoder) run(left, right string) error {
	source, where, ok := cutSource(right)
	if !ok {
		return ErrMark
	}
	pages, err := d.pages(source)
	if err != nil {
		return err
	}
	first, last, numbered := numbers(left)
	count := last - first + 1
	if !numbered {
		if count, ok = lineCount(left); !ok {
			return ErrMark
		}
	}
	var contents []string
	var form *gutterForm
	if from, to, ok := numbers(where); ok {
		if to-from+1 != count {
			return ErrNumber
		}
		contents, form, err = byNumber(pages, from, count)
	} else {
		contents, err = byQuotes(pages, where, count)
	}
	if err != nil {
		return err
	}
	if !numbered {
		d.out = append(d.out, contents...)
		return nil
	}
	return d.renumber(contents, first, form)
}

// renumber puts lines out with the numbers of this block: in the form of the
// line before, if it is the one that the count starts from, else in the form of
// the lines referred to.
func (d *decoder) renumber(contents []string, first int, form *gutterForm) error {
	if n := len(d.out); n > 0 {
		prev := d.out[n-1]
		if form == nil || !strings.HasPrefix(prev, form.line(first-1, "")) {
			if own, number, ok := formOf(prev); ok && number == first-1 {
				form = &own
			}
		}
	}
	if form == nil {
		return ErrNumber
	}
	d.said = append(d.said, stretch{len(d.out), len(d.out) + len(contents), first})
	for i, c := range contents {
		d.out = append(d.out, form.line(first+i, c))
	}
	return nil
}

// lineCount reads "1 line" and "5 lines".
func lineCount(s string) (n int, ok bool) {
	if s == "1 line" {
		return 1, true
	}
	digits, ok := strings.CutSuffix(s, " lines")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 1
}

// cutSource splits "#12 lines 1-5" and "argument x of call #12 from ..." after
// the ordinal.
func cutSource(s string) (source, where string, ok bool) {
	i := strings.IndexByte(s, '#')
	if i < 0 {
		return "", "", false
	}
	j := strings.IndexByte(s[i:], ' ')
	if j < 0 {
		return "", "", false
	}
	return s[:i+j], s[i+j+1:], true
}
