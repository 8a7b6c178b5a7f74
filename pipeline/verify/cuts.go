package verify

import (
	"fmt"
	"strconv"
	"strings"
)

// leaves says that the inside of a mark states lines that were left out or
// shortened. Such a mark restores nothing: it stays a line of the text.
func leaves(mark string) bool {
	return strings.HasPrefix(mark, "cut ") || strings.HasPrefix(mark, "shortened ")
}

// Cuts checks a forwarded text from which whole lines were left out against the
// text as it was received, knowing the marks alone:
//
//   - [trimtab cut N lines: ...]: N lines that followed each other, at this place
//   - [trimtab cut N lines from here on...]: N lines in all, from this place to the end
//   - [trimtab shortened N lines from here on: ...]: of N lines from this place on
//     only the end is left
//
// Every other line must be a line of the received text, byte for byte and in
// order, and the numbers must add up to what is missing. Its cost is linear in the
// texts.
func Cuts(received, forwarded string) error {
	in, out := strings.Split(received, "\n"), strings.Split(forwarded, "\n")
	c := cuts{in: in}
	for i, line := range out {
		if err := c.line(line); err != nil {
			return fmt.Errorf("line %d of the forwarded text: %w", i+1, err)
		}
	}
	switch left := len(in) - c.at; {
	case left != c.missing:
		return fmt.Errorf("%w: marks count %d lines that are not missing", ErrNumber, c.missing-left)
	case c.short != 0:
		return fmt.Errorf("%w: %d more lines are said to be shortened than are", ErrNumber, c.short)
	}
	return nil
}

// cuts is the state of Cuts.
type cuts struct {
	in      []string
	at      int // the next received line
	missing int // lines that marks count from here on and that were not met yet
	short   int // lines that marks say to be shortened and that were not met yet
}

func (c *cuts) line(line string) error {
	inside, ok := strings.CutPrefix(line, "[trimtab ")
	if ok && leaves(inside) {
		return c.mark(inside)
	}
	// The line is the next received one, or, within what marks count from here on,
	// a later one.
	for k := 0; k <= c.missing && c.at+k < len(c.in); k++ {
		got := c.in[c.at+k]
		if got != line && (c.short == 0 || line == "" || len(line) >= len(got) || !strings.HasSuffix(got, line)) {
			continue
		}
		if got != line {
			c.short--
		}
		c.at, c.missing = c.at+k+1, c.missing-k
		return nil
	}
	return fmt.Errorf("%w: %.40q is not the line that is next", ErrNumber, line)
}

func (c *cuts) mark(inside string) error {
	verb, rest, _ := strings.Cut(inside, " ")
	digits, rest, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(digits)
	unit := "lines"
	if n == 1 {
		unit = "line"
	}
	rest, ok := strings.CutPrefix(rest, unit)
	if err != nil || n < 1 || !ok || !strings.HasSuffix(rest, "]") {
		return ErrMark
	}
	switch {
	case strings.HasPrefix(rest, " from here on"):
		if verb == "shortened" {
			c.short += n
		} else {
			c.missing += n
		}
	case verb == "cut" && strings.HasPrefix(rest, ": "):
		if c.at += n; c.at > len(c.in) {
			return ErrShort
		}
	default:
		return ErrMark
	}
	return nil
}
