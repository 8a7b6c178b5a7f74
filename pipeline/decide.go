package pipeline

import (
	"encoding/binary"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

// factKey names the decision of component c on a leaf. There is no thread in
// it: a wrong guess of the thread would lose decisions. Where the same call id
// comes with the same bytes again, which it is counts: some clients repeat ids,
// and what was cut once may be what the model asks for now.
func (r *run) factKey(c int, l *leaf) store.Key {
	if !r.counted {
		r.occurrences()
		r.counted = true
	}
	h, name, id := r.e.hasher, []byte(r.g.described[c].Name), ""
	call := r.t.Results[l.result].Call
	if call >= 0 {
		id = r.t.Calls[call].ID // the block names it as well
	}
	place := transcript.Sum{15: 3}
	binary.LittleEndian.PutUint32(place[:], uint32(l.part))
	binary.LittleEndian.PutUint32(place[4:], uint32(l.occurrence))
	if call >= 0 {
		place[14] = 1
	}
	key := h.Chain(h.Chain(h.Chain(transcript.Sum(r.conv), h.Sum(name)), l.block), place)
	if v, ok := r.e.memo.get(key); ok {
		if k, ok := v.(factName); ok {
			return store.Key(k)
		}
	}
	exact := r.e.keyer.Key(r.t.Body[l.span.Start:l.span.End])
	k := r.e.keyer.Key([]byte("decision"), r.conv[:], name, []byte(id), exact[:], binary.LittleEndian.AppendUint32([]byte{byte(l.part)}, uint32(l.occurrence)))
	r.e.memo.put(key, factName(k))
	return k
}

// factName is a remembered key of a decision, which is the same in every process.
type factName store.Key

func (factName) size() int { return 96 }

// decided are the components that decide and may keep what they decide.
func (r *run) decided() []int {
	var out []int
	for i, c := range r.g.Profile.Components {
		if _, ok := c.(Decided); ok && r.kept() != nil {
			out = append(out, i)
		}
	}
	return out
}

// kept is where decisions are kept at the profile's level; nil: nowhere.
func (r *run) kept() store.Facts { return r.e.opt.Store.At(r.g.Profile.Level).Facts }

// replay puts recorded decisions in force, before any component looks at
// anything: no gate and no order can make an old rewrite disappear.
func (r *run) replay() {
	r.replayTexts()
	comps := r.decided()
	if len(comps) == 0 || len(r.leaves) == 0 {
		return
	}
	keys := make([]store.Key, 0, len(comps)*len(r.leaves))
	for _, c := range comps {
		for _, l := range r.leaves {
			keys = append(keys, r.factKey(c, l))
		}
	}
	facts, found, err := r.kept().Lookup(r.ctx, r.req.Now, keys)
	if err != nil {
		r.countRewrite("facts_unreadable", 1)
		return
	}
	for i := range comps {
		for j, l := range r.leaves {
			if k := i*len(r.leaves) + j; found[k] && l.decision == nil {
				l.decision = &decision{component: comps[i], fact: facts[k]}
			}
		}
	}
}

// occurrences numbers the leaves that are the same call id and bytes.
func (r *run) occurrences() {
	type same struct {
		block transcript.Sum
		part  int
	}
	seen := make(map[same]int, len(r.leaves))
	for _, l := range r.leaves {
		k := same{l.block, l.part}
		l.occurrence = seen[k]
		seen[k]++
	}
}

// renderDecision writes the block as the decision in force says.
func (r *run) renderDecision(l *leaf, p *plan, text string) {
	r.gatePure(p, GateDecided)
	c := l.decision.component
	b := r.block(l, text)
	redacted := r.redact(l, p, b)
	b.Text = redacted.text
	edit, gate := r.askRender(c, b, l.decision)
	next, gate := r.accept(redacted, edit, gate, false)
	if gate != "" {
		p.outcomes[c].gate = gate
		r.seal(l, p, redacted, redacted)
		return
	}
	p.outcomes[c] = acted(redacted, next)
	r.seal(l, p, next, redacted)
}

func (r *run) askRender(c int, b Block, d *decision) (e Edit, g Gate) {
	defer func() {
		if recover() != nil {
			e, g = Edit{}, GatePanic
		}
	}()
	if gen, ok := r.g.Profile.Components[c].(Generated); ok {
		return gen.Render(b, d.text)
	}
	return r.g.Profile.Components[c].(Decided).Render(b, Decision{Wording: int(d.fact.Wording), Params: d.fact.Params})
}

// decide lets the components take new decisions, prices and records them. It is
// true if any came into force, so that all later blocks must be worked out again.
func (r *run) decide() bool {
	r.undecided()
	if r.counting || r.turn == nil || r.g.Profile.Mode == Observe {
		return false
	}
	if !r.turn.Cold && (r.turn.Raw || r.turn.New && r.lastAssistant() >= 0) {
		return false // what the provider holds is not known: decisions are only replayed
	}
	comps := r.decided()
	any := r.generate()
	for _, c := range comps {
		v := r.view()
		ds, gates := r.askDecide(r.g.Profile.Components[c].(Decided), v)
		r.declined(c, gates)
		if len(ds) > 0 && r.record(c, v, ds) {
			any = true
		}
	}
	return any
}

// undecided counts the components that the level keeps from being asked.
func (r *run) undecided() {
	for i, c := range r.g.Profile.Components {
		_, decides := c.(Decided)
		_, generates := c.(Generated)
		if decides && r.kept() == nil || generates && r.texts() == nil {
			r.declined(i, map[Gate]int{GateLevel: max(len(r.leaves), 1)})
		}
	}
}

func (r *run) askDecide(c Decided, v View) (ds []Decision, gates map[Gate]int) {
	defer func() {
		if recover() != nil {
			ds, gates = nil, map[Gate]int{GatePanic: 1}
		}
	}()
	return c.Decide(v)
}

// view is what a deciding component may look at: the blocks that the provider is
// not known to hold. No other can be decided on, so no other is listed.
func (r *run) view() View {
	v := View{Cold: r.turn.Cold, FirstNew: r.turn.Same, LastAssistant: r.lastAssistant(), Messages: len(r.t.Messages)}
	if v.Cold {
		v.FirstNew = 0
	}
	for i, l := range r.leaves {
		if r.t.Results[l.result].Message < v.FirstNew {
			continue
		}
		b := r.block(l, r.decode(l))
		v.Blocks = append(v.Blocks, ViewBlock{
			Block: b, Message: r.t.Results[l.result].Message, Tokens: l.plan.outTokens, Decided: l.decision != nil,
			HasMark: HasMark(b.Text), Untouchable: r.untouchable(l), leaf: i,
		})
	}
	return v
}

// record prices the decisions, records the ones that pay, and puts in force
// what the store says is in force.
func (r *run) record(c int, v View, ds []Decision) bool {
	ds = r.pays(c, v, ds)
	puts := make([]store.Put, len(ds))
	for i, d := range ds {
		puts[i] = store.Put{
			Key:  r.factKey(c, r.leaves[v.Blocks[d.Block].leaf]),
			Fact: store.Fact{Wording: uint16(d.Wording), Params: d.Params},
		}
	}
	if len(puts) == 0 {
		return false
	}
	inForce, kept, err := r.kept().Commit(r.ctx, r.req.Now, puts)
	if err != nil {
		r.declined(c, map[Gate]int{GateRefused: len(puts)})
		return false
	}
	any := false
	for i, d := range ds {
		l := r.leaves[v.Blocks[d.Block].leaf]
		if !kept[i] {
			r.declined(c, map[Gate]int{GateRefused: 1})
			continue
		}
		if l.decision == nil {
			l.decision = &decision{component: c, fact: inForce[i], fresh: true}
			any = true
		}
	}
	return any
}

// pays drops the decisions that cost more than they save: what points at a cut
// block becomes literal again.
func (r *run) pays(c int, v View, ds []Decision) []Decision {
	chosen := map[int]bool{} // by leaf
	saved := map[int]int{}
	for _, d := range ds {
		if n, ok := r.saves(c, v, d); ok {
			leaf := v.Blocks[d.Block].leaf
			chosen[leaf], saved[leaf] = true, n
		} else {
			r.declined(c, map[Gate]int{GateNoGain: 1})
		}
	}
	for changed := true; changed; {
		changed = false
		cost := r.dependents(chosen)
		for b := range chosen {
			if saved[b] <= cost[b] {
				delete(chosen, b)
				r.declined(c, map[Gate]int{GateNotPriced: 1})
				changed = true
			}
		}
	}
	out := ds[:0:0]
	for _, d := range ds {
		if d.Block >= 0 && d.Block < len(v.Blocks) && chosen[v.Blocks[d.Block].leaf] {
			out = append(out, d)
		}
	}
	return out
}

// dependents sums, for each chosen leaf, the tokens by which leaves that are not
// chosen would grow again.
func (r *run) dependents(chosen map[int]bool) map[int]int {
	cost := map[int]int{}
	for i, l := range r.leaves {
		if chosen[i] || l.decision != nil {
			continue
		}
		for _, u := range l.plan.uses {
			if !u.Source.Argument && len(r.t.Results[u.Source.Index].Texts) > 0 {
				cost[r.first[u.Source.Index]+u.Source.Part] += u.SavedTokens
			}
		}
	}
	return cost
}

// saves is how many tokens the decision takes off what would go out without it.
func (r *run) saves(c int, v View, d Decision) (int, bool) {
	if d.Block < 0 || d.Block >= len(v.Blocks) || v.Blocks[d.Block].Untouchable != "" || v.Blocks[d.Block].Decided {
		return 0, false
	}
	l := r.leaves[v.Blocks[d.Block].leaf]
	trial := *l
	trial.decision = &decision{component: c, fact: store.Fact{Wording: uint16(d.Wording), Params: d.Params}}
	trial.plan = nil
	p := r.work(&trial)
	return l.plan.outTokens - p.outTokens, p.outTokens < l.plan.outTokens && p.outBytes < l.plan.outBytes
}

// declined counts a component's declines of this turn.
func (r *run) declined(c int, gates map[Gate]int) {
	if r.gates == nil {
		r.gates = make([]map[Gate]int, len(r.g.described))
	}
	if r.gates[c] == nil {
		r.gates[c] = map[Gate]int{}
	}
	for g, n := range gates {
		r.gates[c][g] += n
	}
}
