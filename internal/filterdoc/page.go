package filterdoc

import (
	"fmt"
	"strings"

	"github.com/trimtab-io/trimtab/components/cmdfilter"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
)

const head = `# Filters for the output of commands

Written from the filters and their fixtures by ` + "`go test ./internal/filterdoc -update`" + `. ` + "`trimtab filters explain \"COMMAND\" FILE`" + `
shows what they make of an output of yours.

A filter only leaves out whole lines, and a mark at the gap says how many and what they were. A command that failed goes out as it
is, up to a cap far above what a model reads. Tokens are the product's estimate.

`

// mostLines is how many lines of an example are shown from either end.
const mostLines = 14

// Markdown is the page: the filters in the order in which they are tried, by family,
// each with the first fixture that it changes.
func Markdown(filters []*cmdfilter.Filter, fixtures []cmdfilter.Fixture) string {
	var b strings.Builder
	b.WriteString(head)
	family := ""
	for _, f := range filters {
		name, _, _ := strings.Cut(f.ID, ".")
		if name != family {
			family = name
			fmt.Fprintf(&b, "## %s\n\n", family)
		}
		fmt.Fprintf(&b, "### %s\n\nFor %s. Leaves out: %s.\n\n", f.ID, code(f.For()), f.About)
		if x, ok := example(f.ID, fixtures); ok {
			fmt.Fprintf(&b, "`%s`, %d tokens:\n\n%s\nbecomes, with %d:\n\n%s\n", x.Command, tokens.Estimate(x.Input), fenced(x.Input), tokens.Estimate(x.Want), fenced(x.Want))
		} else {
			b.WriteString("Its output is left as it is.\n\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func code(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }

// example is the first fixture of a filter that shows what it does.
func example(id string, fixtures []cmdfilter.Fixture) (cmdfilter.Fixture, bool) {
	for _, x := range fixtures {
		if x.Filter == id && x.Want != x.Input {
			return x, true
		}
	}
	return cmdfilter.Fixture{}, false
}

// fenced is a text as a block of code, without its middle if it is long.
func fenced(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if n := len(lines) - 2*mostLines; n > 1 {
		lines = append(append(append([]string(nil), lines[:mostLines]...), fmt.Sprintf("(%d more lines of the example)", n)), lines[len(lines)-mostLines:]...)
	}
	var b strings.Builder
	b.WriteString("````\n")
	for _, l := range lines {
		b.WriteString(strings.Map(printable, l))
		b.WriteString("\n")
	}
	b.WriteString("````\n")
	return b.String()
}

// printable shows control characters as their pictures.
func printable(r rune) rune {
	if r < 0x20 && r != '\t' {
		return 0x2400 + r
	}
	return r
}
