package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/trimtab-io/trimtab/internal/figures"
)

// report is what a run came to.
type report struct {
	options   options
	began     time.Time
	envoy     string
	streams   streamFigures
	load      loadFigures
	faults    []int // by their place in the list
	processes int
	harm      harms
}

// readLog compares what Envoy says of each request with what was found out.
func (r *report) readLog(ctx context.Context, b *bed) error {
	want := int(r.load.Requests.Load())
	var err error
	for range 300 {
		if err = r.countLog(b.path("access.json")); err != nil || r.load.Logged >= want {
			break
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	l := &r.load
	if l.Logged != want {
		r.harm.add("the access log has %d requests, there were %d", l.Logged, want)
	}
	if l.Violations > 0 {
		r.harm.add("%d prefix violations", l.Violations)
	}
	if l.Unexplained > 0 {
		r.harm.add("%d requests went as they came and nobody says why", l.Unexplained)
	}
	return nil
}

type logEntry struct {
	Filter  map[string]any `json:"filter"`
	Trimtab *struct {
		Reason     string  `json:"reason"`
		Saved      float64 `json:"saved_tokens"`
		Violations float64 `json:"prefix_violations"`
	} `json:"trimtab"`
}

// failed says that the server failed in an exchange, as Envoy saw it.
func (e logEntry) failed() bool {
	for key, value := range e.Filter {
		if n, _ := value.(float64); key == "failed_open" && value == true || strings.HasSuffix(key, "call_status") && n != 0 {
			return true
		}
	}
	return false
}

func (r *report) countLog(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	l := &r.load
	l.Logged, l.FailedOpen, l.Violations, l.Unexplained = 0, 0, 0, 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e logEntry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("access log: %w: %s", err, lines.Bytes())
		}
		l.Logged++
		switch {
		case e.failed():
			l.FailedOpen++
		case e.Trimtab == nil || e.Trimtab.Reason == "" && e.Trimtab.Saved <= 0:
			l.Unexplained++
		}
		if e.Trimtab != nil {
			l.Violations += int(e.Trimtab.Violations)
		}
	}
	return lines.Err()
}

func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// text is the report as it stands in the documentation.
func (r *report) text() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("Run on %s, seed %d, on %s, with %s and Envoy %s.", r.began.UTC().Format("2 January 2006"), r.options.Seed, figures.Machine(), runtime.Version(), r.envoy)
	p("")
	if s := r.streams; s.First > 0 {
		p("**Open streams.** %d answers streamed at a time, one event every %s on each, after requests of %d KB that were rewritten.", s.Open, r.options.Every, s.Body>>10)
		p("")
		p("| memory of trimtab | |")
		p("|---|---|")
		p("| after %s | %s |", r.options.First, mib(s.First))
		p("| after %s | %s |", r.options.Second, mib(s.Second))
		p("| factor (at most %.1f) | %.2f |", maxGrowth, s.growth())
		p("| Envoy's, for comparison | %s |", mib(s.Envoy))
		p("")
	}
	if r.load.Took > 0 {
		r.loadText(p)
	}
	if n := r.harm.total(); n > 0 {
		p("**%d things went wrong.** The first of them:", n)
		p("")
		for _, line := range r.harm.first() {
			p("- %s", line)
		}
	} else {
		p("**Nothing was lost.** Every request arrived once, as it was sent or exactly as a process that never died would have rewritten it; every answer came back whole.")
	}
	return b.String()
}

func (r *report) loadText(p func(string, ...any)) {
	l := &r.load
	requests := l.Requests.Load()
	p("**Load with faults.** %d agents for %s, %.0f requests a second.", r.options.Workers, l.Took.Round(time.Second), float64(requests)/l.Took.Seconds())
	p("")
	p("| requests | |")
	p("|---|---|")
	p("| in all, in %d conversations of three dialects | %d |", l.Conversations.Load(), requests)
	p("| answered as a stream | %d |", l.Streams.Load())
	p("| without a content-length | %d |", l.Unknown.Load())
	p("| over HTTP/2 | %d |", l.HTTP2.Load())
	p("| refused by the provider (400, 429, 500, 529) | %d |", l.Refused.Load())
	p("| left by the client before the answer's end | %d |", l.Left.Load())
	p("| rewritten | %d |", l.Rewritten.Load())
	p("| went as they came (trimtab was down, or had nothing to do) | %d |", l.Raw.Load())
	p("| trimtab failed in the middle or was not there, as Envoy logged it | %d |", l.FailedOpen)
	p("| bytes sent and forwarded | %s, %s |", mib(l.Sent.Load()), mib(l.Forwarded.Load()))
	p("| prefix violations | %d |", l.Violations)
	p("| harmed | %d |", r.harm.total())
	p("")
	p("| trimtab was | times |")
	p("|---|---|")
	for i, f := range faults() {
		if i < len(r.faults) {
			p("| %s | %d |", f.name, r.faults[i])
		}
	}
	p("")
	p("%d processes of trimtab came and went; the largest that ended in good order had %s. Envoy had %s after a quarter of the time and %s at the end.", r.processes, mib(l.Ended), mib(l.EnvoyBegin), mib(l.EnvoyEnd))
	p("")
}
