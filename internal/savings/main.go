package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/trimtab-io/trimtab/internal/figures"
	"github.com/trimtab-io/trimtab/internal/replay"
)

const page = "docs/savings.md"

// run is one replay of all conversations.
type run struct{ preset, level string }

var (
	// runs have a row in the first table.
	runs = []run{
		{"safe", "off"},
		{"conservative", "off"},
		{"conservative", "metadata"},
		{"conservative", "everything"},
		{"balanced", "metadata"},
		{"balanced", "everything"},
		{"coding", "off"},
		{"mcp", "off"},
		{"house", "off"},
	}
	// detailed are those with tables of their own.
	detailed = map[run]bool{{"conservative", "metadata"}: true, {"balanced", "metadata"}: true}
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/savings CONVERSATIONS")
		os.Exit(2)
	}
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "savings:", err)
		os.Exit(1)
	}
}

func write(paths []string) error {
	var first, more strings.Builder
	first.WriteString("| preset | level | tokens sent | simulated bill | prefix violations | warm rewrites | invalid bodies | conversations dearer |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range runs {
		each, total, err := r.replay(paths)
		if err != nil {
			return err
		}
		fmt.Fprintf(&first, "| %s | %s | %s | **%s** | %d | %d | %d | %d |\n", r.preset, r.level,
			change(float64(total.TokensBefore), float64(total.TokensAfter)), change(total.CostBefore, total.CostAfter),
			total.PrefixViolations, total.WarmRewrites, total.InvalidBodies, dearer(each))
		if detailed[r] {
			r.tables(&more, total)
		}
	}
	return figures.Replace(page, "savings", first.String()+more.String())
}

// replay runs the product itself, so that what the page says is what it prints.
func (r run) replay(paths []string) (each []replay.Result, total replay.Result, err error) {
	args := append([]string{"replay", "--json", "--remaining", "--preset", r.preset, "--level", r.level}, paths...)
	cmd := exec.Command("bin/trimtab", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, total, fmt.Errorf("trimtab replay: %w", err)
	}
	for line := range bytes.Lines(out) {
		var x replay.Result
		if err := json.Unmarshal(line, &x); err != nil {
			return nil, total, err
		}
		if x.Total {
			total = x
		} else {
			each = append(each, x)
		}
	}
	return each, total, nil
}

// dearer counts the conversations that became dearer by more than 0.5 %, which is
// what a threshold of the provider's cache can cost.
func dearer(each []replay.Result) (n int) {
	for _, x := range each {
		if x.CostAfter > 1.005*x.CostBefore {
			n++
		}
	}
	return n
}

func change(before, after float64) string {
	return fmt.Sprintf("%.1f %%", 100*(after-before)/before)
}

func (r run) tables(b *strings.Builder, total replay.Result) {
	fmt.Fprintf(b, "\n## `%s` at *%s*, by agent\n\n| agent | conversations | turns | tokens before | after | bill before, $ | after, $ | saved |\n|---|---|---|---|---|---|---|---|\n", r.preset, r.level)
	agents := slices.SortedFunc(maps.Keys(total.Agents), func(x, y string) int {
		return total.Agents[y].TokensBefore - total.Agents[x].TokensBefore
	})
	row := func(name string, conversations, turns, tokens, left int, cost, paid float64) {
		fmt.Fprintf(b, "| %s | %d | %d | %s | %s | %.2f | %.2f | %.1f %% |\n", name, conversations, turns, number(tokens), number(left), cost, paid, 100*(cost-paid)/cost)
	}
	for _, name := range agents {
		a := total.Agents[name]
		row(name, a.Conversations, a.Turns, a.TokensBefore, a.TokensAfter, a.CostBefore, a.CostAfter)
	}
	row("**total**", total.Conversations, total.Turns, total.TokensBefore, total.TokensAfter, total.CostBefore, total.CostAfter)

	fmt.Fprintf(b, "\n## `%s` at *%s*, by component\n\n| component | blocks changed | of these first | tokens saved, all turns | of these first |\n|---|---|---|---|---|\n", r.preset, r.level)
	for _, name := range slices.SortedFunc(maps.Keys(total.Components), func(x, y string) int {
		return total.Components[y].SavedTokens - total.Components[x].SavedTokens
	}) {
		c := total.Components[name]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", name, number(c.Edits), number(c.FirstEdits), number(c.SavedTokens), number(c.FirstSaved))
	}

	fmt.Fprintf(b, "\n## What `%s` still forwards\n\nExact tokens by kind of text; *once* counts each different text once, the share is of all that is sent.\n\n| kind | texts | tokens once | in all requests | share |\n|---|---|---|---|---|\n", r.preset)
	for _, name := range replay.Largest(total.Remaining)[:min(25, len(total.Remaining))] {
		s := total.Remaining[name]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.1f %% |\n", name, number(s.Blocks), number(s.Once), number(s.Sent), 100*float64(s.Sent)/float64(total.TokensAfter))
	}
	if r.preset == "conservative" {
		r.gates(b, total)
	}
}

func (r run) gates(b *strings.Builder, total replay.Result) {
	fmt.Fprintf(b, "\n## What is left alone, and why\n\nThe gates of `%s` at *%s*, counted once per block:\n\n| component | gate | blocks |\n|---|---|---|\n", r.preset, r.level)
	for _, name := range slices.Sorted(maps.Keys(total.Gates)) {
		gates := total.Gates[name]
		for _, g := range slices.SortedFunc(maps.Keys(gates), func(x, y string) int { return gates[y] - gates[x] }) {
			fmt.Fprintf(b, "| %s | `%s` | %s |\n", name, g, number(gates[g]))
		}
	}
}

// number writes a number with a comma between thousands.
func number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
