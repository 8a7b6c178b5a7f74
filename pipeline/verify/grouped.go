package verify

import (
	"strconv"
	"strings"
)

// grouped decodes rows that were grouped under a heading.
func (d *decoder) grouped(count, kind string) error {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return ErrMark
	}
	switch kind {
	case "path":
		return d.underPath(n)
	case "directory":
		return d.underDirectory(n)
	}
	return ErrMark
}

// rowNumber is the length of the digits of a row that starts with a line number
// and a colon or a dash; 0 if it is none.
func rowNumber(line string) int {
	n := 0
	for n < len(line) && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	if n == len(line) || line[n] != ':' && line[n] != '-' {
		return 0
	}
	return n
}

// underPath puts each row back behind its path: a line before a row is a
// heading, and a row takes the separator that it shows itself.
func (d *decoder) underPath(count int) error {
	path := ""
	for made := 0; made < count; {
		lines, err := d.take(1)
		if err != nil {
			return err
		}
		line := lines[0]
		n := rowNumber(line)
		switch {
		case n > 0 && path != "":
			d.literal(path + line[n:n+1] + line)
			made++
		case n == 0 && len(d.in) > 0 && rowNumber(d.in[0]) > 0:
			path = line
		default:
			path = ""
			d.literal(line)
			made++
		}
	}
	return nil
}

// underDirectory puts each indented line back behind its directory.
func (d *decoder) underDirectory(count int) error {
	dir := ""
	for made := 0; made < count; {
		lines, err := d.take(1)
		if err != nil {
			return err
		}
		line := lines[0]
		switch {
		case strings.HasPrefix(line, "\t") && dir != "":
			d.literal(dir + line[1:])
			made++
		case strings.HasSuffix(line, "/") && len(d.in) > 0 && strings.HasPrefix(d.in[0], "\t"):
			dir = line
		default:
			dir = ""
			d.literal(line)
			made++
		}
	}
	return nil
}
