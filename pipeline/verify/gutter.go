package verify

import (
	"strconv"
	"strings"
)

// gutterForm is how line numbers are written.
type gutterForm struct {
	separator string
	fill      string // one character, or empty
	width     int
}

// line writes one line: its gutter and what follows it.
func (f gutterForm) line(number int, rest string) string {
	var room [96]byte
	b := f.padding(room[:0], number)
	b = strconv.AppendInt(b, int64(number), 10)
	b = append(b, f.separator...)
	return string(append(b, rest...))
}

// padding appends what stands before a number.
func (f gutterForm) padding(b []byte, number int) []byte {
	if f.fill == "" {
		return b
	}
	digits := 1
	for n := number; n >= 10; n /= 10 {
		digits++
	}
	for range f.width - digits {
		b = append(b, f.fill...)
	}
	return b
}

// separators are tried in this order: a colon with a space before a colon.
var separators = [...]string{"\t", "→", "| ", ". ", ": ", ":"}

// formOf reads the gutter of one line on its own.
func formOf(line string) (f gutterForm, number int, ok bool) {
	blank := len(line) - len(strings.TrimLeft(line, " "))
	end := blank
	for end < len(line) && '0' <= line[end] && line[end] <= '9' {
		end++
	}
	digits := line[blank:end]
	if len(digits) == 0 || len(digits) > 9 {
		return f, 0, false
	}
	for _, s := range separators {
		if strings.HasPrefix(line[end:], s) {
			f.separator = s
			break
		}
	}
	switch {
	case f.separator == "":
		return f, 0, false
	case blank > 0:
		f.fill, f.width = " ", end
	case digits[0] == '0' && len(digits) > 1:
		if len(digits) != 5 || f.separator != "| " {
			return f, 0, false
		}
		f.fill, f.width = "0", end
	}
	if digits[0] == '0' && len(digits) > 1 && blank > 0 {
		return f, 0, false
	}
	number, err := strconv.Atoi(digits)
	return f, number, err == nil
}

// colonOf is the separator without what a colon's space may add.
func colonOf(separator string) string {
	if separator == ": " {
		return ":"
	}
	return separator
}

// gutter decodes a run whose numbers were thinned out.
func (d *decoder) gutter(first, last int) error {
	lines, err := d.take(last - first + 1)
	if err != nil {
		return err
	}
	form, number, ok := formOf(lines[0])
	if !ok || number != first {
		return ErrNumber
	}
	// A colon takes a space with it unless a shown line proves otherwise.
	if colonOf(form.separator) == ":" {
		form.separator = ": "
		for i, line := range lines {
			_, after, _ := strings.Cut(line, ":")
			own, n, ok := formOf(line)
			if ok && n == first+i && own.separator == ":" && strings.TrimSuffix(after, "\r") != "" {
				form.separator = ":"
				break
			}
		}
	}
	d.out = append(d.out, lines[0])
	for i, line := range lines[1:] {
		n := first + i + 1
		own, shown, ok := formOf(line)
		if !ok {
			d.out = append(d.out, form.line(n, line))
			continue
		}
		if shown != n || colonOf(own.separator) != colonOf(form.separator) || own.width > 0 {
			return ErrNumber
		}
		d.out = append(d.out, string(append(form.padding(nil, n), line...)))
	}
	return nil
}

// measure reads the gutter of lines that are numbered by one: the padding that the
// first has, and a space after a colon unless a line lacks it.
func measure(lines []string) gutterForm {
	f, _, _ := formOf(lines[0])
	if colonOf(f.separator) != ":" {
		return f
	}
	f.separator = ": "
	for _, line := range lines {
		own, _, _ := formOf(line)
		_, after, _ := strings.Cut(line, ":")
		if own.separator == ":" && strings.TrimSuffix(after, "\r") != "" {
			f.separator = ":"
			break
		}
	}
	return f
}
