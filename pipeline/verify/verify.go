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
// before it. It is safe for concurrent use, and its cost is linear in the texts
// that are referred to.
func (Verifier) Verify(b pipeline.Block, before pipeline.Prefix) (restored string, err error) {
	d := decoder{before: before, seen: map[string][][]string{}}
	text, terminated := strings.CutSuffix(b.Text, "\n")
	if text == "" && !terminated {
		return "", nil
	}
	d.in = strings.Split(text, "\n")
	for len(d.in) > 0 {
		if err := d.next(); err != nil {
			return "", err
		}
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
	head    string   // what a leading ./ stands for
	seen    map[string][][]string
}

// take removes n lines from the input.
func (d *decoder) take(n int) ([]string, error) {
	if n < 1 || n > len(d.in) {
		return nil, ErrShort
	}
	lines := d.in[:n]
	d.in = d.in[n:]
	return lines, nil
}

// literal puts a literal line out.
func (d *decoder) literal(line string) {
	if d.head != "" && strings.HasPrefix(line, "./") {
		line = d.head + line[2:]
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
	texts, err := d.texts("#" + ordinal)
	if err != nil {
		return err
	}
	d.out = append(d.out, texts[0]...)
	return nil
}

// texts finds the texts of a source as lines: the result of a call, or all
// arguments of one name.
func (d *decoder) texts(source string) ([][]string, error) {
	if out, ok := d.seen[source]; ok {
		return out, nil
	}
	name := source
	argument := ""
	if rest, ok := strings.CutPrefix(source, "argument "); ok {
		var call string
		if argument, call, ok = strings.Cut(rest, " of call "); !ok {
			return nil, ErrMark
		}
		source = call
	}
	ordinal, err := strconv.Atoi(strings.TrimPrefix(source, "#"))
	if err != nil || !strings.HasPrefix(source, "#") {
		return nil, ErrMark
	}
	var out [][]string
	for _, s := range d.before.Sources {
		if s.Call.Ordinal == ordinal && s.Argument == argument && s.Parts == 1 {
			out = append(out, strings.Split(strings.TrimSuffix(s.Text(), "\n"), "\n"))
		}
	}
	if len(out) == 0 || argument == "" && len(out) > 1 {
		return nil, ErrSource
	}
	d.seen[name] = out
	return out, nil
}

// run decodes a reference to a run of lines.
func (d *decoder) run(left, right string) error {
	source, where, ok := cutSource(right)
	if !ok {
		return ErrMark
	}
	texts, err := d.texts(source)
	if err != nil {
		return err
	}
	first, last, numbered := numbers(left)
	count := last - first + 1
	if !numbered {
		n, ok := strings.CutSuffix(left, " lines")
		if count, err = strconv.Atoi(n); !ok || err != nil || count < 1 {
			return ErrMark
		}
	}
	var contents []string
	var form *gutterForm
	if from, to, ok := numbers(where); ok {
		if to-from+1 != count {
			return ErrNumber
		}
		contents, form, err = byNumber(texts, from, count)
	} else {
		contents, err = byQuotes(texts, where, count)
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
	for i, c := range contents {
		d.out = append(d.out, form.line(first+i, c))
	}
	return nil
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

// byQuotes finds the lines from one quote to the other.
func byQuotes(texts [][]string, where string, count int) ([]string, error) {
	rest, ok := strings.CutPrefix(where, `from "`)
	q1, q2, ok2 := strings.Cut(rest, `" to "`)
	q2, ok3 := strings.CutSuffix(q2, `"`)
	if !ok || !ok2 || !ok3 || q1 == "" || q2 == "" {
		return nil, ErrMark
	}
	var text []string
	start, seen := 0, 0
	for _, t := range texts {
		for i, line := range t {
			if strings.Contains(line, q1) {
				text, start = t, i
				seen++
			}
		}
	}
	if seen != 1 {
		return nil, ErrQuote
	}
	end := start
	if count > 1 {
		end++
	}
	for end < len(text) && !strings.Contains(text[end], q2) {
		end++
	}
	if end >= len(text) || end-start+1 != count {
		return nil, ErrQuote
	}
	return text[start : end+1], nil
}
