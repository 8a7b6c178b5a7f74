package pipeline

import (
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// envelope runs the envelope components and turns their typed operations into
// replaced spans. Outcomes are by component.
func (r *run) envelope() ([]replacement, map[int]outcome) {
	var reps []replacement
	outcomes := map[int]outcome{}
	var view *EnvelopeView
	for i, c := range r.g.Profile.Components {
		env, ok := c.(Envelope)
		if !ok {
			continue
		}
		if view == nil {
			view = r.envelopeView()
		}
		edits, gate := r.askEnvelope(env, *view)
		if gate == "" && len(edits) == 0 {
			gate = GateNothing
		}
		if gate != "" {
			outcomes[i] = outcome{gate: gate}
			continue
		}
		o := outcome{acted: true}
		for _, e := range edits {
			rep, ok := r.split(e, *view)
			if !ok {
				o = outcome{gate: GateContract}
				break
			}
			reps = append(reps, rep)
		}
		outcomes[i] = o
	}
	return reps, outcomes
}

func (r *run) askEnvelope(c Envelope, v EnvelopeView) (edits []EnvelopeEdit, g Gate) {
	defer func() {
		if recover() != nil {
			edits, g = nil, GatePanic
		}
	}()
	return c.RewriteEnvelope(v)
}

func (r *run) envelopeView() *EnvelopeView {
	v := &EnvelopeView{Dialect: string(r.t.Dialect)}
	for _, b := range r.t.System {
		sb := SystemBlock{Marked: len(b.Marks) > 0}
		if b.Text.Len() > 0 && !b.Bare {
			sb.Text, _ = transcript.Decode(r.t.Body[b.Text.Start:b.Text.End])
		}
		v.System = append(v.System, sb)
	}
	return v
}

// split makes two system blocks out of one: both keep every member they had, the
// second without breakpoint.
func (r *run) split(e EnvelopeEdit, v EnvelopeView) (replacement, bool) {
	if e.SplitSystem < 0 || e.SplitSystem >= len(r.t.System) {
		return replacement{}, false
	}
	b := r.t.System[e.SplitSystem]
	raw := r.t.Body[b.Text.Start:b.Text.End]
	at, ok := transcript.NewCursor(raw).Seek(e.At)
	text := v.System[e.SplitSystem].Text
	if b.Bare || !ok || e.At <= 0 || e.At >= len(text) || strings.TrimSpace(text[:e.At]) == "" || strings.TrimSpace(text[e.At:]) == "" {
		return replacement{}, false
	}
	cut := b.Text.Start + 1 + at
	head := transcript.Span{Start: b.Span.Start, End: b.Span.End}
	put := append([]byte(nil), r.t.Body[head.Start:cut]...)
	put = append(put, '"')
	put = append(put, r.t.Body[b.Text.End:head.End]...)
	put = append(put, ',')
	put = r.t.AppendWithout(put, b.Span, append([]transcript.Span{{Start: b.Text.Start + 1, End: cut}}, b.Marks...))
	return replacement{span: b.Span, put: put}, true
}
