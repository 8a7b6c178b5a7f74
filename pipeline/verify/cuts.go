package verify

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// leaves says that the inside of a mark states lines that were left out, shortened
// or masked, or objects that are written as rows. Such a mark restores nothing here:
// it stays a line of the text.
func leaves(mark string) bool {
	return strings.HasPrefix(mark, "cut ") || strings.HasPrefix(mark, "shortened ") || strings.HasPrefix(mark, "masked ") ||
		strings.HasPrefix(mark, "table of ")
}

// Cuts checks a forwarded text from which whole lines were left out against the
// text as it was received, knowing the marks alone:
//
//   - [trimtab cut N lines: ...]: N lines that followed each other, at this place
//   - [trimtab cut N lines from here on...]: N lines in all, from this place to the end
//   - [trimtab shortened N lines from here on: ...]: of N lines from this place on
//     only the end is left, or both ends around ...[M characters cut]...
//
// Two reasons behind the colon are checked too: "the K lines above, M more times"
// in the first form, and "same as the line above" in the second.
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
	return c.copies(out)
}

// copies checks that lines that are said to be like others stood in the received
// text as often as that.
func (c *cuts) copies(out []string) error {
	if len(c.same) == 0 {
		return nil
	}
	left := map[string]int{}
	for _, line := range c.in {
		left[line]++
	}
	for _, line := range out {
		left[line]--
	}
	for line, n := range c.same {
		if left[line] < n {
			return fmt.Errorf("%w: %.40q stood %d times less than the marks say", ErrNumber, line, n-left[line])
		}
	}
	return nil
}

// cuts is the state of Cuts.
type cuts struct {
	in      []string
	at      int            // the next received line
	missing int            // lines that marks count from here on and that were not met yet
	short   int            // lines that marks say to be shortened and that were not met yet
	same    map[string]int // lines that marks say to be copies of one line
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
		if got != line && (c.short == 0 || !shortened(got, line)) {
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

// shortened says that a line is the end of another one, or both ends around the
// number of characters between them.
func shortened(got, line string) bool {
	if line == "" || len(line) >= len(got) {
		return false
	}
	if strings.HasSuffix(got, line) {
		return true
	}
	for at := 0; ; {
		i := strings.Index(line[at:], "...[")
		if i < 0 {
			return false
		}
		head := line[:at+i]
		at += i + len("...[")
		digits, tail, ok := strings.Cut(line[at:], " characters cut]...")
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || len(head)+len(tail) > len(got) || !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) {
			continue
		}
		if utf8.RuneCountInString(got[len(head):len(got)-len(tail)]) == n {
			return true
		}
	}
}

// above checks that n lines from the next one on are copies of the count lines
// before it. What other marks count may lie between them.
func (c *cuts) above(count, n int) error {
	for k := 0; k <= c.missing; k++ {
		at := c.at + k
		if at < count || at+n > len(c.in) {
			continue
		}
		i := 0
		for i < n && c.in[at+i] == c.in[at+i-count] {
			i++
		}
		if i == n {
			c.at, c.missing = at, c.missing-k
			return nil
		}
	}
	return fmt.Errorf("%w: %d lines are no copies of the %d before them", ErrNumber, n, count)
}

// repeated reads "the K lines above, M more times]".
func repeated(s string) (count, times int, ok bool) {
	s, ok = strings.CutPrefix(s, "the ")
	what, s, ok2 := strings.Cut(s, " above, ")
	digits, ok3 := strings.CutSuffix(strings.TrimSuffix(s, "s]"), " more time")
	if d, one := strings.CutSuffix(s, " more time]"); one {
		digits, ok3 = d, true
	}
	times, err := strconv.Atoi(digits)
	count, ok4 := 1, what == "line"
	if !ok4 {
		count, ok4 = lineCount(what)
	}
	return count, times, ok && ok2 && ok3 && ok4 && err == nil
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
			break
		}
		c.missing += n
		if rest == " from here on: same as the line above]" {
			if c.at == 0 {
				return ErrMark
			}
			if c.same == nil {
				c.same = map[string]int{}
			}
			c.same[c.in[c.at-1]] += n
		}
	case verb == "cut" && strings.HasPrefix(rest, ": "):
		if count, times, ok := repeated(rest[2:]); ok {
			if count*times != n {
				return ErrNumber
			}
			if err := c.above(count, n); err != nil {
				return err
			}
		}
		if c.at += n; c.at > len(c.in) {
			return ErrShort
		}
	default:
		return ErrMark
	}
	return nil
}
