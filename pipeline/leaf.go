package pipeline

import (
	"encoding/binary"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

// listLeaves lists the text parts of all tool results, in body order.
func (r *run) listLeaves() {
	r.calls = make([]*call, len(r.t.Calls))
	r.first = make([]int, len(r.t.Results))
	texts, n := 0, 0
	for _, res := range r.t.Results {
		n += len(res.Texts)
	}
	all := make([]leaf, n)
	r.leaves = make([]*leaf, 0, n)
	for i, res := range r.t.Results {
		r.first[i] = len(r.leaves)
		block := r.dig.Messages[res.Message].Sum
		if res.Block >= 0 {
			block = r.dig.Messages[res.Message].Blocks[res.Block]
		}
		for j, l := range res.Texts {
			texts += l.Span.Len()
			at := &all[len(r.leaves)]
			*at = leaf{
				result: i, part: j, span: l.Span, block: block,
				over: texts > r.g.Profile.Limits.LinearOver || l.Span.Len() > r.g.Profile.Limits.LinearBlock,
			}
			r.leaves = append(r.leaves, at)
		}
	}
}

// keyLeaves gives each leaf the digest of everything that its outcome may depend on:
// the generation, the facts of the request, the messages before it, the blocks
// before it in its message, and the decisions in force up to it.
func (r *run) keyLeaves() {
	h := r.e.hasher
	var facts transcript.Sum
	copy(facts[:], r.t.Dialect)
	if r.facts.ProviderEdits {
		facts[15] |= 1
	}
	if r.facts.EditsByLine {
		facts[15] |= 2
	}
	chain := h.Chain(r.g.seed, facts)
	r.pass = pass{chains: make([]transcript.Sum, len(r.dig.Messages))}
	li := 0
	for m, d := range r.dig.Messages {
		inside, decisions := chain, []transcript.Sum(nil)
		for b := 0; li < len(r.leaves) && r.t.Results[r.leaves[li].result].Message == m; li++ {
			l := r.leaves[li]
			last := r.t.Results[l.result].Block
			if last < 0 {
				inside = h.Chain(inside, l.block)
			}
			for ; b <= last; b++ {
				inside = h.Chain(inside, d.Blocks[b])
			}
			if l.decision != nil {
				s := l.decision.sum()
				inside, decisions = h.Chain(inside, s), append(decisions, s)
			}
			l.key = inside // what follows in the message does not matter
			if l.part > 0 {
				l.key = h.Chain(l.key, transcript.Sum{byte(l.part), byte(l.part >> 8), 1})
			}
		}
		chain = h.Chain(chain, d.Sum)
		for _, s := range decisions {
			chain = h.Chain(chain, s)
		}
		r.chains[m] = chain
	}
}

func (d *decision) sum() transcript.Sum {
	var b [37]byte
	b[0] = byte(d.component)
	binary.LittleEndian.PutUint16(b[1:], d.fact.Kind)
	binary.LittleEndian.PutUint16(b[3:], d.fact.Wording)
	for i, p := range d.fact.Params {
		binary.LittleEndian.PutUint64(b[5+8*i:], uint64(p))
	}
	k := store.NewKeyer(nil).Key(b[:], []byte(d.text))
	return transcript.Sum(k)
}

// runPure works out the outcome of each block, in order. It is false if the
// deadline passed.
func (r *run) runPure() bool {
	r.acted = make([]int, len(r.g.described))
	for _, l := range r.leaves {
		if !r.recall(l) {
			if r.ctx.Err() != nil {
				return false
			}
			r.learn(l)
		}
		for i := range l.plan.outcomes {
			if l.plan.outcomes[i].acted {
				r.acted[i]++
			}
		}
	}
	return true
}

// recall takes a block's outcome from the memo, if it is known.
func (r *run) recall(l *leaf) bool {
	v, ok := r.e.memo.get(l.key)
	if !ok {
		return false
	}
	p, ok := v.(*plan)
	if !ok || len(p.outcomes) != len(r.g.described) {
		return false
	}
	l.plan = p
	return true
}

// learn works a block's outcome out, and remembers it unless it is a model's
// words, which are no outcome in numbers.
func (r *run) learn(l *leaf) {
	l.plan = r.work(l)
	if l.decision == nil || l.decision.text == "" {
		l.plan = r.e.memo.put(l.key, l.plan).(*plan)
	}
}

// decode returns the leaf's received text.
func (r *run) decode(l *leaf) string {
	if !l.decoded {
		l.text, l.lossy = transcript.Decode(r.t.Body[l.span.Start:l.span.End])
		l.decoded = true
	}
	return l.text
}

// work runs the components on one block.
func (r *run) work(l *leaf) *plan {
	text := r.decode(l)
	p := &plan{
		textLen: len(text), inTokens: r.estimate(l), inBytes: l.span.Len() - 2,
		outcomes: make([]outcome, len(r.g.described)),
	}
	p.outTokens, p.outBytes = p.inTokens, p.inBytes
	p.kept = kept(nil, len(text))
	if g := r.untouchable(l); g != "" {
		r.gatePure(p, g)
		return p
	}
	if l.decision != nil {
		r.renderDecision(l, p, text)
	} else {
		r.rewrite(l, p, text)
	}
	return p
}

// gatePure notes one gate for all pure components.
func (r *run) gatePure(p *plan, g Gate) {
	for i, c := range r.g.Profile.Components {
		if _, ok := c.(Pure); ok {
			p.outcomes[i].gate = g
		}
	}
}

// untouchable says why no component may edit the block at all.
func (r *run) untouchable(l *leaf) Gate {
	res := r.t.Results[l.result]
	switch {
	case res.Mixed:
		return GateNonText
	case res.Call < 0:
		return GateNoCall
	case r.g.excludes(r.t.Calls[res.Call].Name):
		return GateExcluded
	}
	return ""
}

// attempt is the state of a block between components.
type attempt struct {
	text   string  // as it stands
	pieces []Piece // over the received text; nil: unchanged
	tokens int
	bytes  int
	uses   []Use
}

// rewrite runs the pure components in order and checks what they wrote.
func (r *run) rewrite(l *leaf, p *plan, text string) {
	b := r.block(l, text)
	now := r.redact(l, p, b)
	redacted := now
	before := r.prefix(l)
	base, reversible := now, false // as the reversible components were given it
	for i, c := range r.g.Profile.Components {
		pure, ok := c.(Pure)
		d := r.g.described[i]
		if !ok || d.Redacts {
			continue
		}
		switch {
		case l.over && !d.Linear:
			p.outcomes[i].gate = GateBudget
			continue
		case b.Parts > 1 && !d.EachPart:
			p.outcomes[i].gate = GateManyParts
			continue
		}
		b.Text = now.text
		past := r.withNotes(before, i, pure)
		past.Acted = r.acted[i]
		edit, gate := r.ask(pure, b, past)
		next, gate := r.accept(now, edit, gate, false)
		if gate != "" {
			p.outcomes[i].gate = gate
			continue
		}
		p.outcomes[i] = acted(now, next)
		now = next
		if d.Reversible {
			reversible = true
		} else {
			base = now
		}
	}
	if reversible && !r.verified(b, now, base, before) {
		r.revert(p, func(d Description) bool { return d.Reversible }, GateVerify)
		now = base
	}
	r.seal(l, p, now, redacted)
}

// redact runs the components that take out what must not go out, over the received
// text. It is the text that all others are given.
func (r *run) redact(l *leaf, p *plan, b Block) attempt {
	now := attempt{text: b.Text, tokens: p.inTokens, bytes: jsonLen(b.Text)}
	for i, c := range r.g.Profile.Components {
		pure, ok := c.(Pure)
		if !ok || !r.g.described[i].Redacts {
			continue
		}
		b.Text = now.text
		edit, gate := r.ask(pure, b, Prefix{})
		next, gate := r.accept(now, edit, gate, true)
		if gate != "" {
			p.outcomes[i].gate = gate
			continue
		}
		p.outcomes[i] = acted(now, next)
		now = next
	}
	return now
}

// acted is the outcome of an edit.
func acted(before, after attempt) outcome {
	return outcome{acted: true, savedTokens: int32(before.tokens - after.tokens), savedBytes: int32(before.bytes - after.bytes)}
}

// accept applies an edit that a component did not decline, if it is sound and
// shortens the text, or may make it longer.
func (r *run) accept(now attempt, e Edit, declined Gate, longer bool) (attempt, Gate) {
	if declined != "" {
		return now, declined
	}
	if len(e.Pieces) == 0 {
		return now, GateNothing
	}
	if err := check(e.Pieces, now.text, r.sourceText); err != nil {
		return now, GateContract
	}
	text := render(e.Pieces, now.text, r.sourceText)
	next := attempt{text: text, tokens: tokens.Estimate(text), bytes: jsonLen(text), uses: append(now.uses, e.Uses...)}
	switch {
	case strings.TrimSpace(text) == "":
		return now, GateEmpty
	case !longer && (next.tokens >= now.tokens || next.bytes >= now.bytes):
		return now, GateNoGain
	}
	next.pieces = compose(now.pieces, e.Pieces)
	return next, ""
}

// ask runs one component on one block; a panic is its own affair.
func (r *run) ask(c Pure, b Block, before Prefix) (e Edit, g Gate) {
	defer func() {
		if recover() != nil {
			e, g = Edit{}, GatePanic
		}
	}()
	return c.Rewrite(b, before)
}

// verified asks the verifier for the text that the reversible components got.
func (r *run) verified(b Block, now, base attempt, before Prefix) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if r.e.opt.Verifier == nil {
		return false
	}
	b.Text = now.text
	restored, err := r.e.opt.Verifier.Verify(b, before)
	return err == nil && restored == base.text
}

// revert takes the outcomes of some components back.
func (r *run) revert(p *plan, of func(Description) bool, g Gate) {
	for i, d := range r.g.described {
		if p.outcomes[i].acted && of(d) {
			p.outcomes[i] = outcome{gate: g}
		}
	}
}

// seal settles a block. What can't be written, or does not shorten it, is taken back;
// what is redacted stays redacted all the same.
func (r *run) seal(l *leaf, p *plan, now, redacted attempt) {
	gate := r.settle(l, p, now, redacted.pieces == nil)
	if gate != "" && redacted.pieces != nil {
		r.revert(p, func(d Description) bool { return !d.Redacts }, gate)
		gate = r.settle(l, p, redacted, false)
	}
	if gate != "" {
		r.revert(p, func(Description) bool { return true }, gate)
	}
}

// settle puts an attempt into the plan, or says why it can't be: with shorten, also
// that it has not strictly fewer tokens and fewer bytes than what was received.
func (r *run) settle(l *leaf, p *plan, a attempt, shorten bool) Gate {
	if a.pieces == nil {
		return ""
	}
	raw, refs, gate := compile(r.t, r.t.Body[l.span.Start:l.span.End], a.pieces)
	if gate != "" {
		return gate
	}
	n := length(raw)
	if shorten && (a.tokens >= p.inTokens || n >= p.inBytes) {
		return GateNoGain
	}
	p.pieces, p.refs, p.sum = raw, refs, digest(raw, refs)
	p.kept = kept(a.pieces, p.textLen)
	p.outTokens, p.outBytes, p.uses = a.tokens, n, a.uses
	return ""
}

// block is the leaf as components see it.
func (r *run) block(l *leaf, text string) Block {
	res := r.t.Results[l.result]
	b := Block{
		Text: text, Received: text, Result: l.result, Part: l.part, Parts: len(res.Texts),
		IsError: res.IsError, Lossy: l.lossy, Offset: r.offset(l.result), Request: r.facts,
	}
	var c classify.Call
	if res.Call >= 0 {
		b.Call = r.callOf(res.Call)
		c = b.Call.Class()
	}
	b.Class = classify.OfResult(c, text, res.IsError)
	return b
}

// offset estimates the received tokens before a result: all messages before its
// own, and the results before it in its own. Each is worked out once.
func (r *run) offset(result int) int {
	for i := len(r.offsets); i <= result; i++ {
		m := r.t.Results[i].Message
		n := r.before[m]
		if i > 0 && r.t.Results[i-1].Message == m {
			n = r.offsets[i-1]
			for j := range r.t.Results[i-1].Texts {
				n += r.received(r.leaves[r.first[i-1]+j])
			}
		}
		r.offsets = append(r.offsets, n)
	}
	return r.offsets[result]
}

// received is the estimate of a leaf's received text, remembered if possible.
func (r *run) received(l *leaf) int {
	if l.plan != nil {
		return l.plan.inTokens
	}
	return r.estimate(l)
}

// callOf is call i as components see it.
func (r *run) callOf(i int) Call {
	c := r.t.Calls[i]
	return Call{Ordinal: c.Ordinal, Name: c.Name, Class: func() classify.Call { return r.classified(i).call }}
}

// classified decodes and classifies call i on first use.
func (r *run) classified(i int) *call {
	if r.calls[i] == nil {
		args, freeform := r.t.Arguments(i)
		r.calls[i] = &call{args: args, call: classify.OfCall(r.t.Calls[i].Name, args, freeform)}
	}
	return r.calls[i]
}
