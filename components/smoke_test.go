package components

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/replay"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

func TestSmoke(t *testing.T) {
	files, _ := filepath.Glob("../../shared/corpus/dev/conversations/*.json.gz")
	var in, out, cold, ed int
	ec, _ := replay.ExactCounter()
	counter := promptcache.NewBlockCounter(ec)
	prices := promptcache.BuiltInPrices()
	bill := map[string]float64{}
	gates := map[pipeline.Gate]int{}
	for _, f := range files {
		c, err := replay.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := New("mask", nil)
		cs, _ := New("cachesplit", nil)
		e := pipeline.New(pipeline.Options{Secret: []byte("s"), Store: store.Store{Level: store.Metadata, Facts: memory.NewFacts(memory.FactsOptions{})}})
		e.Apply([]pipeline.Profile{{Name: "default", Components: []pipeline.Component{m, cs}, Level: store.Metadata}}, "default")
		var now time.Time
		simA, simB := promptcache.NewSimulator(counter), promptcache.NewSimulator(counter)
		card := prices.CardFor(c.Wire.Provider(), c.Model)
		for k := range c.Turns {
			now = time.UnixMilli(int64(c.Turns[k].At*1000))
			b := c.Body(k)
			x := e.Rewrite(context.Background(), pipeline.Request{Path: c.Endpoint, Body: b, Now: now})
			r := x.Report()
			if len(r.Violations) > 0 { t.Errorf("%s %d: %v", f, k, r.Violations) }
			if r.Reason != "" && r.Reason != pipeline.NothingToDo && r.Reason != pipeline.NoToolOutput { t.Errorf("%s %d: %v", f, k, r.Reason) }
			if r.Cold { cold++; for _, c := range r.Components[:1] { ed += c.Edits - c.Replayed; for g, n := range c.Gates { gates[g] += n } } }
			ua, err := simA.Bill(c.Wire, b, c.Turns[k].At)
			if err != nil { t.Fatal(err) }
			ub, err := simB.Bill(c.Wire, x.Body(), c.Turns[k].At)
			if err != nil { t.Fatal(err) }
			ua.Output, ub.Output = 0, 0
			w := string(c.Wire)
			bill[w+" a"] += card.Cost(ua); bill[w+" b"] += card.Cost(ub)
			bill["a"] += card.Cost(ua); bill["b"] += card.Cost(ub)
			in += r.TokensBefore; out += r.TokensAfter
			x.Responded(200, now)
			x.Close()
		}
		
	}
	t.Log(bill, bill["b"]/bill["a"])
	t.Log(cold, ed, gates)
	t.Logf("%d %d %.3f", in, out, float64(out)/float64(in))
}
