package demo

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// table prints the run. It remembers the first error of its writer.
type table struct {
	out io.Writer
	w   *tabwriter.Writer
}

func newTable(out io.Writer) *table {
	return &table{out: out, w: tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)}
}

func (t *table) head() {
	fmt.Fprintln(t.w, "turn\ttokens\twith trimtab\tread\twritten\tfresh\tcost $\twith trimtab\tsaved\t")
}

func (t *table) turn(n int, turn Turn) { t.row(fmt.Sprint(n), turn) }

func (t *table) row(name string, turn Turn) {
	u := turn.After
	fmt.Fprintf(t.w, "%s\t%d\t%d\t%d\t%d\t%d\t%.5f\t%.5f\t%s\t\n", name, turn.Before.Input(), u.Input(),
		u.Read, u.Write5m+u.Write1h, u.Fresh, turn.CostBefore, turn.CostAfter, percent(turn.CostBefore, turn.CostAfter))
}

func (t *table) sums(s *Summary) {
	t.row("all", s.Turn)
	_ = t.w.Flush() // a writer that fails is reported by flush
	fmt.Fprintf(t.out, "\n%s fewer tokens sent, %s less to pay for input, %s fewer bytes on the wire.\n",
		percent(float64(s.Before.Input()), float64(s.After.Input())), percent(s.CostBefore, s.CostAfter),
		percent(float64(s.BytesBefore), float64(s.BytesAfter)))
	fmt.Fprintf(t.out, "Blocks in the provider's cache that changed their form: %d. Provider's rules broken: %d.\n", s.Rewritten, len(s.Broken))
	for _, v := range s.Broken {
		fmt.Fprintf(t.out, "  %s\n", v)
	}
	fmt.Fprintf(t.out, "Read from the cache: %s of the input without trimtab, %s with it.\n", share(s.Before), share(s.After))
}

func share(u promptcache.Usage) string {
	return fmt.Sprintf("%.1f %%", 100*float64(u.Read)/float64(max(u.Input(), 1)))
}

// percent is how much smaller after is than before.
func percent(before, after float64) string {
	if before == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*(before-after)/before)
}

func (t *table) flush() error { return t.w.Flush() }
