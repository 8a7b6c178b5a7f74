package cmdfilter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
)

// Explanation says what a set makes of an output, and why.
type Explanation struct {
	Filters   []string      // that were applied; one, or one for each part between echoes
	Gate      pipeline.Gate // why the output stays as it is; empty if it was changed
	Failed    bool          // it counts as the output of a failed command
	Before    int           // estimated tokens
	After     int
	Forwarded string // what goes out
	Lines     []ExplainedLine
}

// ExplainedLine is one line of the output.
type ExplainedLine struct {
	Text string
	// By names the stage that cut or shortened the line; empty if it is kept. A line
	// that a stage would cut may be kept since its mark would be longer.
	By string
	// Cut is false if By only shortened it.
	Cut bool
}

// Explain says what a set makes of the output of a command.
func (s *Set) Explain(command, output string, failed bool) Explanation {
	got := s.forward(command, output, failed)
	e := Explanation{Gate: got.gate, Failed: got.failed, Before: got.before, After: got.after, Forwarded: got.text}
	for _, f := range got.filters {
		e.Filters = append(e.Filters, f.ID)
	}
	t := got.result.text
	if t == nil {
		return e
	}
	for i, l := range t.lines {
		x := ExplainedLine{Text: l.view}
		switch {
		case t.cut[i] != 0:
			x.By, x.Cut = t.by(i).place(), true
		case t.skip != nil && t.skip[i] > 0:
			x.By = t.reasons[t.skipBy[i]-1].stage.place()
		}
		e.Lines = append(e.Lines, x)
	}
	return e
}

// place names a stage and where it is written.
func (s *stage) place() string {
	if s.line == 0 {
		return s.what
	}
	return fmt.Sprintf("%s (%s), line %d", verbNames()[s.verb], s.what, s.line)
}

// For lists the commands that the filter is for, as one writes them.
func (f *Filter) For() string {
	var list []string
	for i := range f.match {
		m := &f.match[i]
		for _, p := range m.progs {
			if len(m.subs) == 0 {
				list = append(list, p)
			}
			for _, sub := range m.subs {
				list = append(list, p+" "+strings.Join(sub, " "))
			}
		}
		if len(m.output) > 0 {
			list = append(list, "output like it")
		}
		if m.any {
			list = append(list, "any other command")
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}
