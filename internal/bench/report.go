package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/trimtab-io/trimtab/internal/figures"
)

// report is what the parts came to.
type report struct {
	began      time.Time
	envoy      string
	engine     []*engineCase
	components []*componentCase
	idle       []cost
	sizes      []*sizeCase
	streams    *streamFigures
	memory     *memoryFigures
}

// Targets besides those of the cases.
const (
	maxStream = 1.05        // of the ratio to a server that does nothing
	maxMemory = 400_000_000 // bytes
)

// page writes lines.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// verdict says what a figure has to be, and whether it is.
func verdict(met bool, format string, args ...any) string {
	word := "**missed**"
	if met {
		word = "met"
	}
	return "at most " + fmt.Sprintf(format, args...) + ": " + word
}

// text is the report as it stands in the documentation.
func (r *report) text() string {
	p := &page{}
	p.line("Measured on %s on %s, with %s%s, in %s. Preset `%s`, storage level `metadata`.", r.began.UTC().Format("2 January 2006"),
		figures.Machine(), runtime.Version(), r.withEnvoy(), time.Since(r.began).Round(time.Second), preset)
	p.line("")
	r.requestsText(p)
	r.streamsText(p)
	r.memoryText(p)
	r.engineText(p)
	r.componentsText(p)
	return strings.TrimRight(p.String(), "\n") + "\n"
}

func (r *report) withEnvoy() string {
	if r.envoy == "" {
		return ""
	}
	return " and Envoy " + r.envoy
}

func ms(d time.Duration) string {
	n := float64(d) / 1e6
	switch {
	case n < 9.995:
		return fmt.Sprintf("%.2f", n)
	case n < 99.95:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// size is a number of bytes as people say it.
func size(n int) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d KB", n/1000)
}

func mb(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

func (r *report) requestsText(p *page) {
	if r.sizes == nil {
		return
	}
	p.line("**Requests through Envoy**, from the client's first byte to the answer's last, in milliseconds.")
	p.line("")
	p.line("| request | without a server | server that does nothing | the same, body handed back | trimtab | trimtab to nothing | target |")
	p.line("|---|---|---|---|---|---|---|")
	for _, c := range r.sizes {
		for k, name := range [kinds]string{"first sight", "warm turn"} {
			took := c.took[k]
			ratio := median(ratios(took[trimtab], took[noop]))
			target := "-"
			if c.target[k] > 0 {
				target = verdict(ratio <= c.target[k], "%.1f", c.target[k])
			}
			p.line("| %s, %s | %s | %s | %s | %s | %.2f | %s |", size(c.size), name, ms(median(took[plain])), ms(median(took[noop])),
				ms(median(took[echo])), ms(median(took[trimtab])), ratio, target)
		}
	}
	p.line("")
	p.line("CPU of the two servers for these requests, in milliseconds.")
	p.line("")
	p.line("| request | server that does nothing | the same, body handed back | trimtab | requests in all | forwarded bytes | as they came |")
	p.line("|---|---|---|---|---|---|---|")
	for _, c := range r.sizes {
		for k, name := range [kinds]string{"first sight", "warm turn"} {
			rest := "| | |"
			if k == 0 && c.sent > 0 {
				rest = fmt.Sprintf("%d | %.0f %% | %d |", c.asked, 100*float64(c.got)/float64(c.sent), c.raw)
			}
			p.line("| %s, %s | %s | %s | %s | %s", size(c.size), name, ms(median(c.cpu[k][noop])), ms(median(c.cpu[k][echo])), ms(median(c.cpu[k][trimtab])), rest)
		}
	}
	p.line("")
}

func (r *report) streamsText(p *page) {
	f := r.streams
	if f == nil {
		return
	}
	p.line("**Streamed answers through Envoy**, from the provider's sending to the client's receipt, in milliseconds; %d streams of %d events on each way.", len(f.head[trimtab]), events)
	p.line("")
	p.line("| part of the answer | without a server | server that does nothing | the same, body handed back | trimtab | trimtab to nothing | target |")
	p.line("|---|---|---|---|---|---|---|")
	for _, row := range []struct {
		name   string
		of     map[string][]time.Duration
		target bool
	}{{"first byte", f.head, true}, {"event, median of a stream", f.event, true}, {"event, slowest of a stream", f.late, false}} {
		ratio := median(ratios(row.of[trimtab], row.of[noop]))
		target := "-"
		if row.target {
			target = verdict(ratio <= maxStream, "%.2f", maxStream)
		}
		p.line("| %s | %s | %s | %s | %s | %.2f | %s |", row.name, ms(median(row.of[plain])), ms(median(row.of[noop])),
			ms(median(row.of[echo])), ms(median(row.of[trimtab])), ratio, target)
	}
	p.line("")
}

func (r *report) memoryText(p *page) {
	m := r.memory
	if m == nil {
		return
	}
	p.line("**Memory.** %d conversations of %s, each seen once, %d at a time, in %s.", m.Seen, size(memoryBytes), agents, m.Took.Round(time.Second))
	p.line("")
	p.line("| resident memory of trimtab | | target |")
	p.line("|---|---|---|")
	p.line("| after the start | %s | - |", mb(m.Begin))
	p.line("| after the last conversation | %s | - |", mb(m.End))
	target := verdict(m.Most <= maxMemory && m.Seen == m.Wanted, "%s", mb(maxMemory))
	if m.Seen < m.Wanted {
		target += fmt.Sprintf(" (the machine was too slow for all %d)", m.Wanted)
	}
	p.line("| the most at any time | %s | %s |", mb(m.Most), target)
	p.line("")
}

func (r *report) engineText(p *page) {
	if r.engine == nil {
		return
	}
	p.line("**The engine alone**, CPU time of a request with all that the collector does for it.")
	p.line("")
	p.line("| request | CPU, ms | allocations | bytes saved | target |")
	p.line("|---|---|---|---|---|")
	for _, c := range r.engine {
		cpu, target := median(cpus(c.cost)), "-"
		if c.target > 0 {
			target = verdict(cpu <= c.target, "%s ms", ms(c.target))
		}
		p.line("| %s | %s | %d | %.0f %% | %s |", c.name, ms(cpu), median(allocs(c.cost)), 100*median(saved(c.cost)), target)
	}
	p.line("")
}

func (r *report) componentsText(p *page) {
	if r.components == nil {
		return
	}
	p.line("**Each component alone**, first sight of %s: CPU and allocations above an engine with a component that looks at nothing, which takes", size(componentBytes))
	kb := float64(componentBytes) / 1000
	p.line("%.0f ns per KB and %.1f allocations per KB. *Mixed* are reads, searches, test runs and logs; *its cases* are the texts of the component's own", float64(median(cpus(r.idle)))/kb, float64(median(allocs(r.idle)))/kb)
	p.line("test cases, repeated. Less than some 500 ns is noise.")
	p.line("")
	p.line("| component | mixed: ns per KB | allocations per KB | bytes saved | its cases: ns per KB | allocations per KB | bytes saved |")
	p.line("|---|---|---|---|---|---|---|")
	for _, c := range r.components {
		p.line("| `%s` | %s | %s |", c.name, above(c.talk, r.idle, kb), above(c.own, c.idle, kb))
	}
	p.line("")
}

// above is a cost without that of the idle component, by round.
func above(with, without []cost, kb float64) string {
	var ns, n []float64
	for i := range min(len(with), len(without)) {
		ns = append(ns, float64(with[i].CPU-without[i].CPU)/kb)
		n = append(n, (float64(with[i].Allocs)-float64(without[i].Allocs))/kb)
	}
	if ns == nil {
		return "- | - | -"
	}
	return fmt.Sprintf("%.0f | %.1f | %.0f %%", median(ns), median(n), 100*median(saved(with)))
}
