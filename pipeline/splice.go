package pipeline

import (
	"slices"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// replacement is a span of the body with what takes its place.
type replacement struct {
	span transcript.Span
	put  []byte
}

// splice writes the new body in one pass, and says what it changed. The body is
// nil if nothing changes.
func (r *run) splice(reps []replacement) (body []byte, changes []transcript.Change) {
	if len(reps) == 0 && !slices.ContainsFunc(r.leaves, func(l *leaf) bool { return l.plan.changed() }) {
		return nil, nil
	}
	grow := 0
	for _, rep := range reps {
		grow += len(rep.put)
	}
	slices.SortFunc(reps, func(a, b replacement) int { return a.span.Start - b.span.Start })
	in := r.t.Body
	for _, l := range r.leaves {
		if l.plan.changed() {
			grow += l.plan.outBytes - l.plan.inBytes
		}
	}
	out := make([]byte, 0, len(in)+grow)
	at, ri := 0, 0
	put := func(span transcript.Span, write func([]byte) []byte) {
		out = append(out, in[at:span.Start]...)
		n := len(out)
		out = write(out)
		changes = append(changes, transcript.Change{Span: span, Len: len(out) - n})
		at = span.End
	}
	flush := func(upTo int) {
		for ; ri < len(reps) && reps[ri].span.Start < upTo; ri++ {
			put(reps[ri].span, func(b []byte) []byte { return append(b, reps[ri].put...) })
		}
	}
	for _, l := range r.leaves {
		if !l.plan.changed() {
			continue
		}
		flush(l.span.Start)
		put(l.span, func(b []byte) []byte { return append(l.plan.write(append(b, '"'), r.t, l.span), '"') })
	}
	flush(len(in))
	return append(out, in[at:]...), changes
}

// marks are the digests of what each component did, in order of the messages.
func (r *run) marks() []promptcache.EditMark {
	n := 0
	for _, l := range r.leaves {
		if l.plan.changed() {
			n++
		}
	}
	out := make([]promptcache.EditMark, 0, n)
	for _, l := range r.leaves {
		if !l.plan.changed() {
			continue
		}
		m := uint32(r.t.Results[l.result].Message)
		for i, o := range l.plan.outcomes {
			if o.acted {
				out = append(out, promptcache.EditMark{Message: m, Component: uint16(i), Sum: uint32(l.plan.sum)})
			}
		}
	}
	return out
}

// report sums up what the components did.
func (r *run) report(envelope map[int]outcome) {
	x := r.x
	x.report.Components = make([]ComponentReport, len(r.g.described))
	saved := 0
	firstNew := 0
	if r.turn != nil && !r.turn.Cold {
		firstNew = r.turn.Same
	}
	for i, d := range r.g.described {
		x.report.Components[i] = ComponentReport{Name: d.Name, Gates: map[Gate]int{}}
	}
	for _, l := range r.leaves {
		saved += l.plan.inTokens - l.plan.outTokens
		old := r.t.Results[l.result].Message < firstNew
		for i, o := range l.plan.outcomes {
			c := &x.report.Components[i]
			switch {
			case o.acted:
				c.Edits++
				c.SavedTokens += int(o.savedTokens)
				c.SavedBytes += int(o.savedBytes)
				if old {
					c.Replayed++
				} else {
					c.FirstSavedTokens += int(o.savedTokens)
				}
			case o.gate != "" && !old:
				c.Gates[o.gate]++
			}
		}
	}
	for i, o := range envelope {
		c := &x.report.Components[i]
		if o.acted {
			c.Edits++
		} else if o.gate != "" {
			c.Gates[o.gate]++
		}
	}
	for i, gates := range r.gates {
		for g, n := range gates {
			x.report.Components[i].Gates[g] += n
		}
	}
	x.report.TokensAfter = x.report.TokensBefore - saved
}
