package pipeline

import (
	"bytes"
	"context"
	"slices"

	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

// run is the work on one request.
type run struct {
	e        *Engine
	ctx      context.Context
	req      Request
	g        *Generation
	t        *transcript.Transcript
	x        *Exchange
	conv     store.Key
	known    bool // the conversation was pinned before
	counting bool // count_tokens: nothing is recorded

	// What the request says, before anything is decided: set at the start of do.
	dig    transcript.Digests
	turn   *promptcache.Turn // nil if nothing is recorded
	facts  RequestFacts
	leaves []*leaf
	first  []int // index in leaves of each result's first leaf
	before []int // estimated tokens before each message

	// Worked out where it is first asked for.
	calls   []*call
	offsets []int          // estimated tokens before each result, as far as asked for
	gates   []map[Gate]int // by component: declines of this turn besides the plans'
	counted bool           // the leaves' occurrences are numbered

	pass
}

// pass is what holds for one pass over the leaves with the decisions in force.
// keyLeaves begins one; new decisions make another one necessary.
type pass struct {
	chains    []transcript.Sum // of everything up to each message, decisions included
	acted     []int            // by component: how many leaves it changed so far
	sources   []*source
	listed    []Source  // parallel to sources
	upTo      []int     // how many sources stand before each result
	noted     [][]Index // by component, parallel to sources
	firstCall int       // of the message of the call last keyed
}

// leaf is one text part of a tool result on its way.
type leaf struct {
	result, part int
	occurrence   int // among leaves of the same call id and bytes
	span         transcript.Span
	block        transcript.Sum // digest of the block as received
	key          transcript.Sum // of everything its outcome depends on
	over         bool           // too much text before it or in it
	decision     *decision
	plan         *plan

	decoded bool
	text    string
	lossy   bool
	tokens  int // of the received text; 0: not estimated yet
}

// decision is a decision in force on a leaf.
type decision struct {
	component int
	fact      store.Fact
	text      string // of a generated component
	fresh     bool   // taken on this turn
}

// call is a call with what is worked out of it on first use.
type call struct {
	args []transcript.Arg
	call classify.Call
}

func (r *run) do() {
	r.dig = r.t.Digest(r.e.hasher)
	x := r.x
	if !r.counting {
		r.turn = r.e.tracker.Begin(r.conv, r.e.seed, r.t, r.dig, r.req.Agent, r.req.Now)
		x.turn, x.raw = r.turn, true
		x.report.Thread, x.report.Cold = r.turn.Thread, r.turn.Cold
		x.out = promptcache.Chain(r.e.seed, r.dig)
	}
	head := r.head()
	r.facts = RequestFacts{ProviderEdits: r.t.ProviderEdits, EditsByLine: head.editsByLine}
	r.listLeaves()
	r.measure(head.tokens)
	x.report.Arm = "treated"
	r.replay()
	r.keyLeaves()
	x.report.Outcomes = r.outcomes()
	switch {
	case r.req.Bypass:
		x.pass(Bypassed)
		return
	case len(r.g.Profile.Components) == 0:
		x.pass(ModeOff)
		r.moveChains()
		return
	case r.g.holdsOut(identity(r.req, r.t)...):
		x.report.Arm = "holdout"
		x.pass(HeldOut)
		r.moveChains()
		return
	}
	if r.g.Profile.Mode == Observe {
		x.report.Arm = "observe"
	}
	inTime := r.runPure()
	if inTime && r.decide() {
		r.keyLeaves()
		inTime = r.runPure()
	}
	if !inTime {
		x.pass(DeadlinePassed)
		r.countRewrite("deadline", 1)
		return
	}
	r.finish()
}

// moveChains marks a turn as one that went out as the law wants it, rewritten or
// not, so that it moves the chains.
func (r *run) moveChains() {
	if r.turn != nil {
		r.x.raw = false
	}
}

// finish splices, checks and reports.
func (r *run) finish() {
	x := r.x
	reps, envelope := r.envelope()
	body, changes := r.splice(reps)
	r.report(envelope)
	if body == nil {
		x.pass(NothingToDo)
		if len(r.t.Results) == 0 {
			x.pass(NoToolOutput)
		}
		r.moveChains()
		r.measureLaw(x.out)
		return
	}
	if !sound(r.e.seen, r.t.Body, body, changes) {
		x.pass(OutputInvalid)
		return
	}
	if r.g.Profile.Mode == Observe {
		after := x.report.TokensAfter
		x.pass(ObserveOnly)
		x.report.TokensAfter = after
		r.moveChains()
		return
	}
	x.body = body
	x.report.BytesAfter = len(body)
	x.report.Reason = Rewritten
	r.moveChains()
	x.out = promptcache.Chain(r.e.seed, r.t.After(r.e.hasher, r.dig, body, changes))
	r.measureLaw(x.out)
}

// measureLaw compares what goes out with what went out on the last turn.
func (r *run) measureLaw(out []transcript.Sum) {
	if r.turn == nil {
		return
	}
	x := r.x
	x.marks = r.marks()
	if r.turn.Raw && len(x.marks) > 0 {
		r.countRewrite("passthrough", 1)
	}
	if r.turn.New && len(x.marks) > 0 && !r.known && r.lastAssistant() >= 0 {
		r.countRewrite("adopted", 1)
	}
	v, broken := r.turn.Compare(out, x.marks)
	if !broken || r.turn.Cold {
		return
	}
	if r.decidedUpTo(v.Message) {
		r.countRewrite("decision", 1)
		return
	}
	if x.report.Violations == nil {
		x.report.Violations = map[string]int{}
	}
	name := "engine"
	if v.Component >= 0 && v.Component < len(r.g.described) {
		name = r.g.described[v.Component].Name
	}
	x.report.Violations[name]++
}

func (r *run) decidedUpTo(message int) bool {
	for _, l := range r.leaves {
		if l.decision != nil && l.decision.fresh && r.t.Results[l.result].Message <= message {
			return true
		}
	}
	return false
}

// lastAssistant is the index of the last assistant message, -1 if there is none.
func (r *run) lastAssistant() int {
	for i, m := range slices.Backward(r.t.Messages) {
		if m.Role == "assistant" {
			return i
		}
	}
	return -1
}

func (r *run) countRewrite(cause string, n int) {
	if r.x.report.Rewrites == nil {
		r.x.report.Rewrites = map[string]int{}
	}
	r.x.report.Rewrites[cause] += n
}

// measure estimates the tokens of each message, behind the head's. What is known of the last turn
// is taken over.
func (r *run) measure(head int) {
	n := len(r.t.Messages)
	r.before = make([]int, n)
	per := make([]uint32, n)
	total := head
	ri := 0
	for i := range r.t.Messages {
		first := ri
		for ri < len(r.t.Results) && r.t.Results[ri].Message == i {
			ri++
		}
		r.before[i] = total
		if r.turn != nil && i < len(r.turn.Tokens) {
			per[i] = r.turn.Tokens[i]
		} else {
			per[i] = uint32(r.messageTokens(i, first, ri))
		}
		total += int(per[i])
	}
	r.x.tokens = per
	r.x.report.TokensBefore, r.x.report.TokensAfter = total, total
}

// partTokens is what a part that is no text is taken to cost: images are billed
// by their size in pixels, about 1,500 tokens at most.
const partTokens = 1500

// messageTokens estimates one message, whose results are [first, last): its
// texts decoded, the rest as it stands.
func (r *run) messageTokens(i, first, last int) int {
	m := r.t.Messages[i]
	n, at := 0, m.Span.Start
	rest := func(to int) {
		if to > at {
			n += tokens.Estimate(string(r.t.Body[at:to]))
			at = to
		}
	}
	text := func(s transcript.Span, estimate func() int) {
		if s.Start >= at {
			rest(s.Start)
			n += estimate()
			at = s.End
		}
	}
	decoded := func(s transcript.Span) func() int {
		return func() int {
			t, _ := transcript.Decode(r.t.Body[s.Start:s.End])
			return tokens.Estimate(t)
		}
	}
	leaves := func(result int) {
		for j, l := range r.t.Results[result].Texts {
			text(l.Span, func() int { return r.estimate(r.leaves[r.first[result]+j]) })
		}
	}
	for j, b := range m.Blocks {
		isResult := first < last && r.t.Results[first].Block == j
		switch {
		case isResult && r.t.Results[first].Mixed:
			leaves(first)
			n += partTokens
			at = b.Span.End
		case isResult:
			leaves(first)
		case first < last && r.t.Results[first].Block < 0:
			leaves(first)
		case b.Text.Len() > 0:
			text(b.Text, decoded(b.Text))
		case binaryBlock(b.Type):
			rest(b.Span.Start)
			n += partTokens
			at = b.Span.End
		}
		if isResult {
			first++
		}
	}
	rest(m.Span.End)
	return n
}

// estimate is the estimate of a leaf's received text.
func (r *run) estimate(l *leaf) int {
	if l.tokens == 0 {
		l.tokens = tokens.Estimate(r.decode(l))
	}
	return l.tokens
}

func binaryBlock(typ string) bool {
	switch typ {
	case "image", "document", "image_url", "input_image", "input_file", "input_audio", "file", "reasoning", "redacted_thinking":
		return true
	}
	return bytes.HasSuffix([]byte(typ), []byte("_image"))
}
