package replay

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
)

// WriteJSON writes a result as one line.
func WriteJSON(w io.Writer, r *Result) error {
	b, err := json.Marshal(r, json.Deterministic(true), json.FormatNilMapAsNull(false))
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// Table prints results for people: a line for each conversation, then the
// totals by agent and by component.
type Table struct {
	w        *tabwriter.Writer
	relative bool
}

// NewTable returns a table that prints to w.
func NewTable(w io.Writer) *Table {
	t := &Table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.row("conversation", "turns", "MB", "after", "tokens", "after", "cost $", "after", "saved", "viol", "warm", "invalid", "ms p50", "p99")
	return t
}

func (t *Table) row(cells ...any) {
	for _, c := range cells {
		fmt.Fprintf(t.w, "%v\t", c)
	}
	fmt.Fprintln(t.w)
}

// Add prints one conversation's line, or the total's.
func (t *Table) Add(r *Result) {
	name := r.Conversation
	if r.Total {
		name = fmt.Sprintf("total of %d", r.Conversations)
	}
	cost := func(c float64) string { return fmt.Sprintf("%.3f", c) }
	if len(r.Price) > 9 && r.Price[:9] == "relative:" {
		t.relative = true
		name += " *"
	}
	t.row(name, r.Turns, megabytes(r.BytesBefore), megabytes(r.BytesAfter), r.TokensBefore, r.TokensAfter,
		cost(r.CostBefore), cost(r.CostAfter), percent(r.CostBefore, r.CostAfter),
		r.PrefixViolations, r.WarmRewrites, r.InvalidBodies,
		fmt.Sprintf("%.2f", r.EngineP50), fmt.Sprintf("%.2f", r.EngineP99))
}

func megabytes(n int) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

// percent is how much smaller after is than before.
func percent(before, after float64) string {
	if before == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*(before-after)/before)
}

// Total prints the last line and what it is made of.
func (t *Table) Total(r *Result) error {
	t.Add(r)
	t.row()
	t.row("agent", "conversations", "turns", "tokens", "after", "cost $", "after", "saved")
	for _, name := range slices.Sorted(maps.Keys(r.Agents)) {
		a := r.Agents[name]
		t.row(name, a.Conversations, a.Turns, a.TokensBefore, a.TokensAfter,
			fmt.Sprintf("%.3f", a.CostBefore), fmt.Sprintf("%.3f", a.CostAfter), percent(a.CostBefore, a.CostAfter))
	}
	t.row()
	t.row("component", "edits", "first", "tokens saved", "first")
	for _, name := range slices.Sorted(maps.Keys(r.Components)) {
		c := r.Components[name]
		t.row(name, c.Edits, c.FirstEdits, c.SavedTokens, c.FirstSaved)
	}
	if len(r.Remaining) > 0 {
		t.row()
		t.row("still forwarded", "texts", "tokens once", "in all requests", "share")
		for _, name := range Largest(r.Remaining) {
			s := r.Remaining[name]
			t.row(name, s.Blocks, s.Once, s.Sent, percent(float64(r.TokensAfter), float64(r.TokensAfter-s.Sent)))
		}
	}
	if err := t.w.Flush(); err != nil {
		return err
	}
	return t.notes(r)
}

func (t *Table) notes(r *Result) error {
	fmt.Fprintf(t.w, "\nengine: %.1f MB/s; CPU of a turn %.2f ms (p50), %.2f ms (p99)\n", r.EngineMBs, r.EngineCPUP50, r.EngineCPUP99)
	fmt.Fprintf(t.w, "in units of a fresh token, without prices: %.0f, after %.0f, saved %s\n", r.UnitsBefore, r.UnitsAfter, percent(r.UnitsBefore, r.UnitsAfter))
	if t.relative {
		fmt.Fprintln(t.w, "* no price is known: a fresh token counts as a millionth of a dollar, the rest in the provider's ratios")
	}
	counts := func(title string, of map[string]int) {
		for _, k := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintf(t.w, "%s %s: %d\n", title, k, of[k])
		}
	}
	counts("forwarded as it came,", r.Passed)
	counts("rewritten in a warm prefix,", r.Rewrites)
	for _, name := range slices.Sorted(maps.Keys(r.Gates)) {
		for _, gate := range slices.Sorted(maps.Keys(r.Gates[name])) {
			fmt.Fprintf(t.w, "declined by %s, %s: %d\n", name, gate, r.Gates[name][gate])
		}
	}
	for _, rule := range r.Invalid {
		fmt.Fprintf(t.w, "INVALID %s\n", rule)
	}
	return t.w.Flush()
}
