package reader

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Line is a line of a result as a reader understands it: its number, if the
// result shows line numbers, and its text.
type Line struct {
	Number int // -1: none
	Text   string
}

// Read reads all results of a body, in order. Results of several parts have no
// lines.
func Read(body []byte) ([][]Line, error) {
	t, err := parse(body)
	if err != nil {
		return nil, err
	}
	r := &book{t: t, pages: map[int]page{}}
	var out [][]Line
	for i, res := range t.results {
		p, err := r.restore(res.Text)
		if err != nil {
			return nil, fmt.Errorf("result %d of call %d: %w", i, res.Call, err)
		}
		if res.Call > 0 {
			r.pages[res.Call] = p
		}
		out = append(out, number(p.lines))
	}
	return out, nil
}

// TextOf answers what the text of line n is. A result that shows two files has
// two lines n.
func TextOf(lines []Line, n int) (texts []string) {
	for _, l := range lines {
		if l.Number == n {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// NumbersOf answers which lines have a text.
func NumbersOf(lines []Line, text string) (numbers []int) {
	for _, l := range lines {
		if l.Number >= 0 && l.Text == text {
			numbers = append(numbers, l.Number)
		}
	}
	return numbers
}

// book is the results read so far.
type book struct {
	t     *transcript
	pages map[int]page // by call
}

// page is a result.
type page struct {
	seen  []string // lines as they are forwarded
	lines []string // as the tool printed them
	here  []bool   // by line: it stands in the result itself, and not elsewhere
}

// put adds printed lines.
func (p *page) put(here bool, lines ...string) {
	for _, l := range lines {
		p.lines, p.here = append(p.lines, l), append(p.here, here)
	}
}

// The forms of the marks.
var (
	thinned  = regexp.MustCompile(`^\[trimtab lines (\d+)-(\d+): every (?:2nd|5th|10th|20th) number shown\]$`)
	whole    = regexp.MustCompile(`^\[trimtab (?:same as #(\d+)(?:: [^\]]*)?, unchanged|identical output to #(\d+))(?:; #n counts tool calls from the start)?\]$`)
	byLines  = regexp.MustCompile(`^\[trimtab (?:lines (\d+)-(\d+)|(\d+) lines?): same as (?:argument (\w+) of call )?#(\d+) lines (\d+)-(\d+)(?:; #n counts tool calls from the start)?\]$`)
	byQuotes = regexp.MustCompile(`^\[trimtab (?:lines (\d+)-(\d+)|(\d+) lines?): same as (?:argument (\w+) of call )?#(\d+) from "([^"\]]{1,24})" to "([^"\]]{1,24})"(?:; #n counts tool calls from the start)?\]$`)
	heads    = regexp.MustCompile(`^\[trimtab paths: \./ = ([^\]]+)\]$`)
	grouped  = regexp.MustCompile(`^\[trimtab (\d+) lines: rows grouped by (path|directory)\]$`)
	gutters  = regexp.MustCompile(`^( *)(\d+)(\t|→|\| |\. |:)(.*)$`)
)

var errMark = errors.New("a mark that the page does not know")

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// restore writes a result's lines out as the tool printed them.
func (b *book) restore(text string) (out page, err error) {
	in := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	out.seen = in
	head := ""
	put := func(line string) {
		if head != "" && strings.HasPrefix(line, "./") {
			line = head + line[2:]
		}
		out.put(true, line)
	}
	for i := 0; i < len(in); i++ {
		line := in[i]
		if !strings.HasPrefix(line, "[trimtab ") {
			put(line)
			continue
		}
		if m := heads.FindStringSubmatch(line); m != nil {
			head = m[1]
		} else if m := whole.FindStringSubmatch(line); m != nil {
			p := b.pages[max(atoi(m[1]), atoi(m[2]))]
			if p.lines == nil || slices.Contains(p.here, false) {
				return out, errors.New("points at what is not there")
			}
			out.put(false, p.lines...)
		} else if m := thinned.FindStringSubmatch(line); m != nil {
			n := atoi(m[2]) - atoi(m[1]) + 1
			if i+n >= len(in) {
				return out, errors.New("too few lines after a mark")
			}
			out.put(true, fill(in[i+1:i+1+n], atoi(m[1]))...)
			i += n
		} else if m := grouped.FindStringSubmatch(line); m != nil {
			used, rows := ungroup(in[i+1:], atoi(m[1]), m[2] == "path")
			for _, r := range rows {
				put(r)
			}
			i += used
		} else if m := byLines.FindStringSubmatch(line); m != nil {
			found, form := b.numbered(atoi(m[5]), atoi(m[6]), atoi(m[7]))
			if found == nil {
				return out, errors.New("numbers that are not there, or twice")
			}
			out.put(false, again(found, m, out.lines, form)...)
			err = checkCount(found, m)
		} else if m := byQuotes.FindStringSubmatch(line); m != nil {
			found, err := b.quoted(m)
			if err != nil {
				return out, err
			}
			if err := checkCount(found, m); err != nil {
				return out, err
			}
			out.put(false, again(found, m, out.lines, nil)...)
		} else {
			return out, errMark
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// checkCount compares the lines found with what the mark says.
func checkCount(found []string, m []string) error {
	n := atoi(m[3])
	if m[1] != "" {
		n = atoi(m[2]) - atoi(m[1]) + 1
	}
	if n != len(found) {
		return fmt.Errorf("%d lines where the mark says %d", len(found), n)
	}
	return nil
}

// again writes found texts with the numbers of this result, if it has any: in
// the form of the line before, or of the lines found.
func again(texts, m, before []string, form []string) []string {
	if m[1] == "" {
		return texts
	}
	first := atoi(m[1])
	if n := len(before); n > 0 {
		g := gutters.FindStringSubmatch(before[n-1])
		if g != nil && atoi(g[2]) == first-1 && (form == nil || g[3] != ":" || form[3] != ":" || spaceless(g[4])) {
			form = g
		}
	}
	return renumber(texts, first, form)
}

// spaceless says that a text shows that a colon stands alone.
func spaceless(text string) bool {
	text = strings.TrimSuffix(text, "\r")
	return text != "" && text[0] != ' '
}

// renumber writes gutters in the form of one that was seen: blanks, number,
// separator, text. A colon takes a space with it if the text begins with one.
func renumber(texts []string, first int, g []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		number := strconv.Itoa(first + i)
		if g != nil {
			g = g[len(g)-4:]
			width, fill := len(g[0])+len(g[1]), " "
			if g[0] == "" && strings.HasPrefix(g[1], "0") && len(g[1]) > 1 {
				fill = "0"
			} else if g[0] == "" {
				width = 0
			}
			for len(number) < width {
				number = fill + number
			}
			number += g[2]
			if g[2] == ":" && strings.HasPrefix(g[3], " ") {
				number += " "
			}
		}
		out[i] = number + t
	}
	return out
}

// fill puts the left out numbers of a thinned run back.
func fill(lines []string, first int) []string {
	g := gutters.FindStringSubmatch(lines[0])
	if g == nil {
		return lines
	}
	space := g[3] == ":"
	for i, l := range lines {
		if s := gutters.FindStringSubmatch(l); s != nil && atoi(s[2]) == first+i && s[3] == ":" &&
			strings.TrimSuffix(s[4], "\r") != "" && s[4][0] != ' ' {
			space = false
		}
	}
	g[4] = ""
	if space {
		g[4] = " "
	}
	out := []string{lines[0]}
	for i, l := range lines[1:] {
		n := first + 1 + i
		if s := gutters.FindStringSubmatch(l); s != nil && atoi(s[2]) == n {
			padded := renumber([]string{""}, n, []string{"", g[1], g[2], "", ""})[0]
			out = append(out, padded+strings.TrimPrefix(strings.TrimLeft(l, " "), s[2]))
			continue
		}
		out = append(out, renumber([]string{l}, n, g)[0])
	}
	return out
}

// numbered finds the lines from one number to another of a result, and the form
// of their gutter: none if any other line could be taken for one of them.
func (b *book) numbered(call, from, to int) (texts, form []string) {
	p := b.pages[call]
	start, count := -1, 0
	for i, l := range p.lines {
		g := gutters.FindStringSubmatch(l)
		if g == nil || atoi(g[2]) < from || atoi(g[2]) > to {
			continue
		}
		if start < 0 {
			start = i
		}
		if !p.here[i] || i != start+count || atoi(g[2]) != from+count {
			return nil, nil
		}
		count++
	}
	if count != to-from+1 {
		return nil, nil
	}
	form = gutters.FindStringSubmatch(p.lines[start])
	space := form[3] == ":" && p.spaced(start)
	form[4] = ""
	if space {
		form[4] = " "
	}
	for _, l := range p.lines[start : start+count] {
		text := gutters.FindStringSubmatch(l)[4]
		if space {
			text = strings.TrimPrefix(text, " ")
		}
		texts = append(texts, text)
	}
	return texts, form
}

// spaced says that no line of the numbered lines around line i that stand
// together lacks a space after its colon, but for blank ones.
func (p *page) spaced(i int) bool {
	at := func(k int) (g []string) {
		if k < 0 || k >= len(p.lines) || !p.here[k] {
			return nil
		}
		return gutters.FindStringSubmatch(p.lines[k])
	}
	first := at(i)
	for _, step := range []int{-1, 1} {
		for k := i; ; k += step {
			g := at(k)
			if g == nil || g[3] != ":" || atoi(g[2]) != atoi(first[2])+k-i {
				break
			}
			if spaceless(g[4]) {
				return false
			}
		}
	}
	return true
}

// quoted finds the lines from one quote to another, among what is forwarded.
func (b *book) quoted(m []string) ([]string, error) {
	texts := [][]string{b.pages[atoi(m[5])].seen}
	if m[4] != "" {
		texts = nil
		for _, s := range arguments(b.t.calls[atoi(m[5])-1].Args, m[4]) {
			texts = append(texts, strings.Split(strings.TrimSuffix(s, "\n"), "\n"))
		}
	}
	var hits [][]string // the lines from a hit on
	for _, lines := range texts {
		for i, l := range lines {
			if strings.Contains(l, m[6]) {
				hits = append(hits, lines[i:])
			}
		}
	}
	if len(hits) != 1 {
		return nil, fmt.Errorf("the first quote is in %d lines", len(hits))
	}
	lines := hits[0]
	one := m[3] == "1" || m[1] != "" && m[1] == m[2]
	for i, l := range lines {
		if strings.HasPrefix(l, "[trimtab ") {
			break
		}
		if strings.Contains(l, m[7]) && (i > 0 || one) {
			return lines[:i+1], nil
		}
	}
	return nil, errors.New("the second quote does not follow")
}

// arguments finds all strings under a name.
func arguments(v any, name string) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if s, ok := x.(string); ok && k == name {
				out = append(out, s)
			}
			out = append(out, arguments(x, name)...)
		}
	case []any:
		for _, x := range v {
			out = append(out, arguments(x, name)...)
		}
	}
	return out
}

// ungroup puts grouped rows back.
func ungroup(in []string, count int, path bool) (used int, rows []string) {
	row := regexp.MustCompile(`^\d+([:-])`)
	heading := ""
	for used < len(in) && len(rows) < count {
		line := in[used]
		used++
		next := ""
		if used < len(in) {
			next = in[used]
		}
		m := row.FindStringSubmatch(line)
		switch {
		case path && m != nil && heading != "":
			rows = append(rows, heading+m[1]+line)
		case path && m == nil && row.MatchString(next):
			heading = line
		case !path && heading != "" && strings.HasPrefix(line, "\t"):
			rows = append(rows, heading+line[1:])
		case !path && strings.HasSuffix(line, "/") && strings.HasPrefix(next, "\t"):
			heading = line
		default:
			heading = ""
			rows = append(rows, line)
		}
	}
	return used, rows
}

// number understands the gutters of printed lines: six and more that count up by
// one with one separator.
func number(raw []string) []Line {
	out := make([]Line, len(raw))
	for i, l := range raw {
		out[i] = Line{-1, l}
	}
	for i := 0; i < len(raw); {
		g := gutters.FindStringSubmatch(raw[i])
		if g == nil {
			i++
			continue
		}
		j, space := i, true
		for ; j < len(raw); j++ {
			h := gutters.FindStringSubmatch(raw[j])
			if h == nil || h[3] != g[3] || atoi(h[2]) != atoi(g[2])+j-i {
				break
			}
			if t := strings.TrimSuffix(h[4], "\r"); t != "" && t[0] != ' ' {
				space = false
			}
		}
		for k := i; k < j && j-i >= 6; k++ {
			h := gutters.FindStringSubmatch(raw[k])
			out[k] = Line{atoi(h[2]), h[4]}
			if g[3] == ":" && space {
				out[k].Text = strings.TrimPrefix(h[4], " ")
			}
		}
		i = max(j, i+1)
	}
	return out
}
