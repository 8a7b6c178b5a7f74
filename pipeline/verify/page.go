package verify

import (
	"sort"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
)

// page is a text that is referred to, as it is forwarded: what a reader sees.
type page struct {
	lines  []string // as they are forwarded
	stands []bool   // by line: it is a line of the text, word for word

	decoded []string // with the numbers and paths that are left out
	holes   []hole   // what is left out and stands elsewhere, in order
}

// hole is where a mark stands for lines that are no part of the page.
type hole struct {
	at          int // in decoded: the line after it
	first, last int // the numbers of the lines, if last is not 0
}

// pages finds the texts of a source: the result of a call, or all arguments of
// one name.
func (d *decoder) pages(source string) ([]*page, error) {
	if out, ok := d.seen[source]; ok {
		return out, nil
	}
	name, argument := source, ""
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
	var out []*page
	for _, s := range d.before.Sources {
		if s.Call.Ordinal == ordinal && s.Argument == argument && s.Parts == 1 {
			out = append(out, newPage(s))
		}
	}
	if len(out) == 0 || argument == "" && len(out) > 1 {
		return nil, ErrSource
	}
	d.seen[name] = out
	return out, nil
}

// newPage reads a source as it is forwarded. References in it are not followed:
// what they stand for is not there. Marks that can't be read are holes too, and so
// are those in arguments, which have none of ours.
func newPage(s pipeline.Source) *page {
	p := &page{lines: strings.Split(strings.TrimSuffix(s.Forwarded(), "\n"), "\n")}
	p.stands = make([]bool, len(p.lines))
	d := decoder{page: p}
	for at := 0; at < len(p.lines); at = d.took {
		h, isHole := reference(p.lines[at])
		h.at = len(d.out)
		d.in, d.took = p.lines[at:], at
		if isHole || s.Argument != "" && strings.HasPrefix(p.lines[at], markStart) || d.next() != nil {
			d.out, d.took = d.out[:h.at], at+1
			p.holes = append(p.holes, h)
		}
	}
	p.decoded = d.out
	return p
}

const markStart = "[trimtab "

// reference reads a mark that stands for lines elsewhere, and their numbers.
func reference(line string) (h hole, ok bool) {
	mark, ok := strings.CutPrefix(line, markStart)
	if !ok {
		return h, false
	}
	if strings.HasPrefix(mark, "same as #") || strings.HasPrefix(mark, "identical output to #") {
		return h, true
	}
	left, _, ok := strings.Cut(mark, ": same as ")
	if ok {
		h.first, h.last, _ = numbers(left)
	}
	return h, ok
}

// byNumber finds count lines from a number on, and their gutter. Each number in
// the range must be that of one line only, whatever the other line is.
func byNumber(pages []*page, from, count int) (contents []string, form *gutterForm, err error) {
	var on *page
	start, hits := 0, 0
	for _, p := range pages {
		for _, h := range p.holes {
			if h.last > 0 && h.first < from+count && h.last >= from {
				return nil, nil, ErrNumber
			}
		}
		for i, line := range p.decoded {
			_, n, ok := formOf(line)
			if !ok || n < from || n >= from+count {
				continue
			}
			if hits == 0 {
				on, start = p, i
			}
			if p != on || n != from+hits || i != start+hits || hits > 0 && p.broken(i) {
				return nil, nil, ErrNumber
			}
			hits++
		}
	}
	if hits != count {
		return nil, nil, ErrNumber
	}
	f := on.form(start)
	for i, line := range on.decoded[start : start+count] {
		content, ok := strings.CutPrefix(line, f.line(from+i, ""))
		if !ok {
			return nil, nil, ErrNumber
		}
		contents = append(contents, content)
	}
	return contents, &f, nil
}

// broken says that lines are missing before line i.
func (p *page) broken(i int) bool {
	n := sort.Search(len(p.holes), func(h int) bool { return p.holes[h].at >= i })
	return n < len(p.holes) && p.holes[n].at == i
}

// form measures the gutter of the unbroken run that line i is in.
func (p *page) form(i int) gutterForm {
	own, number, _ := formOf(p.decoded[i])
	from, to := i, i+1
	for from > 0 && !p.broken(from) && continues(p.decoded[from-1], own, number-(i-from)-1) {
		from--
	}
	for to < len(p.decoded) && !p.broken(to) && continues(p.decoded[to], own, number+to-i) {
		to++
	}
	return measure(p.decoded[from:to])
}

// continues says that a line has a number, in the same form but for a colon's
// space.
func continues(line string, form gutterForm, number int) bool {
	own, n, ok := formOf(line)
	return ok && n == number && colonOf(own.separator) == colonOf(form.separator)
}

// byQuotes finds the lines from one quote to the other. The first must be in one
// line only of all that is forwarded, marks included.
func byQuotes(pages []*page, where string, count int) ([]string, error) {
	rest, ok := strings.CutPrefix(where, `from "`)
	q1, q2, ok2 := strings.Cut(rest, `" to "`)
	q2, ok3 := strings.CutSuffix(q2, `"`)
	if !ok || !ok2 || !ok3 || q1 == "" || q2 == "" {
		return nil, ErrMark
	}
	var on *page
	start, seen := 0, 0
	for _, p := range pages {
		for i, line := range p.lines {
			if strings.Contains(line, q1) {
				on, start = p, i
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
	for end < len(on.lines) && !strings.Contains(on.lines[end], q2) {
		end++
	}
	if end >= len(on.lines) || end-start+1 != count {
		return nil, ErrQuote
	}
	for _, stands := range on.stands[start : end+1] {
		if !stands {
			return nil, ErrQuote
		}
	}
	return on.lines[start : end+1], nil
}
