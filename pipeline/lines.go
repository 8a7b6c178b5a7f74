package pipeline

import (
	"strconv"
	"strings"
)

// Lines are the lines of a text. A text that ends in a newline has no empty line
// behind it.
type Lines struct {
	Text string
	ends []int // where each line ends, without its newline
}

// LinesOf finds the lines of a text.
func LinesOf(text string) Lines {
	l := Lines{Text: text, ends: make([]int, 0, strings.Count(text, "\n")+1)}
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		l.ends = append(l.ends, end)
		at = end + 1
	}
	return l
}

// Len is how many lines there are.
func (l Lines) Len() int { return len(l.ends) }

// Start is the offset at which line i begins.
func (l Lines) Start(i int) int {
	if i == 0 {
		return 0
	}
	return l.ends[i-1] + 1
}

// End is the offset at which line i ends, without its newline.
func (l Lines) End(i int) int { return l.ends[i] }

// Next is the offset behind line i and its newline, if it has one.
func (l Lines) Next(i int) int { return min(l.ends[i]+1, len(l.Text)) }

// Line is line i without its newline.
func (l Lines) Line(i int) string { return l.Text[l.Start(i):l.ends[i]] }

// CountLines says how many lines, as marks do: "1 line", "12 lines".
func CountLines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return strconv.Itoa(n) + " lines"
}
