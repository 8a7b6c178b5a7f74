package classify

import "strings"

// Acts says that a call is a shell's and runs commands that do something: none of
// them is known to show a file, a search, a list, a difference, data that was asked
// for or a text that the call itself holds. A command line that can't be read is
// none.
func (c Call) Acts() bool {
	if c.Kind != Shell || !c.Command.Known || c.Command.Views || c.Command.Diffs || c.Numbers {
		return false
	}
	if !c.Command.Several {
		return c.Sub.acts()
	}
	if len(c.Command.Parts) == 0 {
		return false
	}
	for i := range c.Command.Parts {
		if s := c.Command.Parts[i].sub(); s != Printer && !s.acts() {
			return false
		}
	}
	return true
}

// acts says that a command does something and logs it.
func (s Sub) acts() bool {
	switch s {
	case Tester, Builder, Linter, Packer, HTTP, Cluster, Unknown:
		return true
	case NoSub, Viewer, Seeker, Lister, Differ, VCS, Data, Info, Printer:
	}
	return false
}

// ShowsFile says that the call shows or edits a file or shows a difference.
func (c Call) ShowsFile() bool {
	return c.Kind == Read || c.Kind == Edit || c.Sub == Viewer || c.Sub == Differ || c.Command.Views || c.Command.Diffs
}

// Shape is what a text looks like, line by line.
type Shape uint8

// The shapes. Loose is the zero value: none of the others.
const (
	Loose   Shape = iota
	Patch         // a difference
	Source        // code: indented, or with the punctuation of code at line ends
	Table         // rows of cells: CSV, TSV, columns between bars
	Listing       // rows that begin with a path and a line number, as searches print them
)

// Shares of the lines that are not blank, in percent, from which they make a shape,
// and the number of lines below which only a difference is told.
const (
	sourceShare  = 20
	tableShare   = 50
	listingShare = 50
	minShape     = 5
)

// ShapeOf looks at the lines of a text. Its cost is linear in the text.
func ShapeOf(text string) Shape {
	if strings.HasPrefix(text, "diff --git ") || strings.Contains(text, "\ndiff --git ") ||
		strings.HasPrefix(text, "@@ -") || strings.Contains(text, "\n@@ -") || strings.Contains(text, "\n+++ ") && strings.Contains(text, "--- ") {
		return Patch
	}
	lines, code, rows, hits := 0, 0, 0, 0
	var before [3]int // separators of the row before
	for rest := text; rest != ""; {
		line := rest
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		line = strings.TrimRight(line, " \r")
		if line == "" {
			continue
		}
		lines++
		if codeLine(line) {
			code++
		}
		if len(line) > maxRow {
			before = [3]int{}
			continue
		}
		cells := [3]int{strings.Count(line, ","), strings.Count(line, "\t"), strings.Count(line, "|")}
		for i, n := range cells {
			if n >= 2 && n == before[i] {
				rows++
				break
			}
		}
		before = cells
		if placed(line) {
			hits++
		}
	}
	switch {
	case lines < minShape:
		return Loose
	case code*100 >= lines*sourceShare:
		return Source
	case rows*100 >= lines*tableShare:
		return Table
	case hits*100 >= lines*listingShare:
		return Listing
	}
	return Loose
}

// maxRow bounds the length of a line that is looked at for cells.
const maxRow = 2000

// codeLine says that a line is indented, which logs are not, or ends as code does.
func codeLine(line string) bool {
	if line[0] == '\t' || len(line) > 1 && line[0] == ' ' && line[1] == ' ' {
		return true
	}
	switch line[len(line)-1] {
	case '{', '}', ';':
		return true
	}
	return false
}

// placed says that a line begins with a path and a line number.
func placed(line string) bool {
	i := strings.IndexByte(line, ':')
	if i <= 0 || i+1 >= len(line) || !isDigit(line[i+1]) || strings.IndexByte(line[:i], ' ') >= 0 {
		return false
	}
	return strings.IndexByte(line[:i], '.') >= 0 || strings.IndexByte(line[:i], '/') >= 0
}

// reports are words by which a line says that something went wrong or how it
// ended, in lower case.
func reports() []string {
	return []string{
		"error", "err!", "fatal", "panic", "exception", "traceback", "fail", "critical", "assert", "denied", "unauthorized", "forbidden",
		"not found", "no such", "cannot", "can't", "could not", "unable to", "undefined", "unresolved", "segmentation fault", "sigsegv",
		"killed", "out of memory", "overflow", "timeout", "timed out", "refused", "corrupt", "cve-", "vulnerab", "aborted",
		"core dumped", "conflict", "warning", "test result", "exit code", "exit status", "exited with", "passed",
	}
}

// Reporter finds lines that report a failure or an outcome. It is immutable.
type Reporter struct {
	at [1 << 10][]string // the words, by their first two letters
}

// NewReporter makes a reporter.
func NewReporter() *Reporter {
	r := &Reporter{}
	for _, w := range reports() {
		i := pair(w[0], w[1])
		r.at[i] = append(r.at[i], w)
	}
	return r
}

// pair folds two bytes into an index; letters fold with their capitals.
func pair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// In says that a line holds such a word. Its cost is linear in the line.
func (r *Reporter) In(line string) bool {
	for i := 0; i+1 < len(line); i++ {
		for _, w := range r.at[pair(line[i], line[i+1])] {
			if i+len(w) <= len(line) && strings.EqualFold(line[i:i+len(w)], w) && !denied(line[:i]) {
				return true
			}
		}
	}
	return false
}

// denied says that what stands before a word takes it back: "0 errors", "no errors".
func denied(before string) bool {
	if strings.HasSuffix(before, "no ") || strings.HasSuffix(before, "No ") {
		return true
	}
	return strings.HasSuffix(before, "0 ") && (len(before) < 3 || !isDigit(before[len(before)-3]))
}
