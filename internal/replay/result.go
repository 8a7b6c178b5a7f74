package replay

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// Result is what one conversation, or all of them, came to. The sums are over
// requests: a block that is sent in forty of them counts forty times.
type Result struct {
	Total         bool   `json:"total,omitzero"`
	Conversation  string `json:"conversation,omitzero"`
	Provider      string `json:"provider,omitzero"`
	Agent         string `json:"agent,omitzero"`
	Model         string `json:"model,omitzero"`
	Conversations int    `json:"conversations,omitzero"` // in the total
	Turns         int    `json:"turns"`

	TokensBefore int `json:"tokens_before"` // o200k tokens of the whole input
	TokensAfter  int `json:"tokens_after"`
	BytesBefore  int `json:"bytes_before"`
	BytesAfter   int `json:"bytes_after"`

	// The simulated bill of the input in US dollars, output left out. Where the
	// model has no price, Price is `relative:PROVIDER` and the figure counts a
	// fresh token as a millionth of a dollar.
	CostBefore float64 `json:"cost_before"`
	CostAfter  float64 `json:"cost_after"`
	Price      string  `json:"price,omitzero"`
	// The same in units of one fresh token, by the provider's ratios alone.
	UnitsBefore float64 `json:"units_before"`
	UnitsAfter  float64 `json:"units_after"`
	TiersBefore Tiers   `json:"tiers_before"`
	TiersAfter  Tiers   `json:"tiers_after"`

	// PrefixViolations is what the engine says of itself. WarmRewrites and
	// InvalidBodies are measured on the bodies: blocks forwarded differently than
	// the turn before on a turn that is not cold, and bodies that break a rule
	// of the provider's that the received one did not.
	PrefixViolations int            `json:"prefix_violations"`
	WarmRewrites     int            `json:"warm_rewrites"`
	InvalidBodies    int            `json:"invalid_bodies"`
	ColdTurns        int            `json:"cold_turns"`
	Invalid          []string       `json:"invalid,omitzero"` // the first few rules broken
	Rewrites         map[string]int `json:"rewrites"`         // of a warm prefix, by the engine's counted cause
	Passed           map[string]int `json:"passed"`           // turns forwarded as they came, by reason

	Components map[string]ComponentResult `json:"components"`
	Gates      map[string]map[string]int  `json:"gates"`

	// Remaining is what is still forwarded, by kind of text, if it was asked for.
	Remaining map[string]Share `json:"remaining,omitzero"`

	// Engine time of a turn, in milliseconds: wall clock, and CPU where the
	// system can tell; and how many megabytes it took a second of wall clock.
	EngineP50    float64 `json:"engine_ms_p50"`
	EngineP99    float64 `json:"engine_ms_p99"`
	EngineCPUP50 float64 `json:"engine_cpu_ms_p50"`
	EngineCPUP99 float64 `json:"engine_cpu_ms_p99"`
	EngineMBs    float64 `json:"engine_mb_per_s"`

	// Agents are the sums by agent, in the total.
	Agents map[string]*AgentResult `json:"agents,omitzero"`

	wall, cpu []time.Duration
}

// Tiers are billed input tokens by tier.
type Tiers struct {
	Fresh   int `json:"fresh"`
	Read    int `json:"read"`
	Write5m int `json:"write_5m"`
	Write1h int `json:"write_1h"`
}

func (t *Tiers) add(u promptcache.Usage) {
	t.Fresh += u.Fresh
	t.Read += u.Read
	t.Write5m += u.Write5m
	t.Write1h += u.Write1h
}

func (t *Tiers) usage() promptcache.Usage {
	return promptcache.Usage{Fresh: t.Fresh, Read: t.Read, Write5m: t.Write5m, Write1h: t.Write1h, Known: true}
}

// ComponentResult is what one component did.
type ComponentResult struct {
	Edits       int `json:"edits"`       // over all requests
	FirstEdits  int `json:"first_edits"` // on blocks not forwarded before
	SavedTokens int `json:"saved_tokens"`
	FirstSaved  int `json:"first_saved_tokens"`
}

// AgentResult is the bill of one agent's conversations.
type AgentResult struct {
	Conversations int     `json:"conversations"`
	Turns         int     `json:"turns"`
	TokensBefore  int     `json:"tokens_before"`
	TokensAfter   int     `json:"tokens_after"`
	CostBefore    float64 `json:"cost_before"`
	CostAfter     float64 `json:"cost_after"`
}

func newResult() *Result {
	return &Result{
		Rewrites: map[string]int{}, Passed: map[string]int{},
		Components: map[string]ComponentResult{}, Gates: map[string]map[string]int{},
	}
}

// mostInvalid is how many broken rules are named.
const mostInvalid = 5

func (r *Result) invalid(rules ...string) {
	for _, rule := range rules {
		if len(r.Invalid) < mostInvalid {
			r.Invalid = append(r.Invalid, rule)
		}
	}
}

// finish works out what depends on all turns.
func (r *Result) finish() {
	r.EngineP50, r.EngineP99 = percentiles(r.wall)
	r.EngineCPUP50, r.EngineCPUP99 = percentiles(r.cpu)
	var sum time.Duration
	for _, d := range r.wall {
		sum += d
	}
	if sum > 0 {
		r.EngineMBs = float64(r.BytesBefore) / 1e6 / sum.Seconds()
	}
}

// percentiles returns the nearest-rank 50th and 99th percentile in milliseconds.
func percentiles(all []time.Duration) (p50, p99 float64) {
	if len(all) == 0 {
		return 0, 0
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	at := func(share float64) float64 {
		i := int(math.Ceil(share*float64(len(sorted)))) - 1
		return float64(sorted[i]) / float64(time.Millisecond)
	}
	return at(0.5), at(0.99)
}

// add puts a conversation's result into the total.
func (r *Result) add(c *Result) {
	r.Conversations++
	r.Turns += c.Turns
	r.TokensBefore += c.TokensBefore
	r.TokensAfter += c.TokensAfter
	r.BytesBefore += c.BytesBefore
	r.BytesAfter += c.BytesAfter
	r.CostBefore += c.CostBefore
	r.CostAfter += c.CostAfter
	r.UnitsBefore += c.UnitsBefore
	r.UnitsAfter += c.UnitsAfter
	r.TiersBefore.add(c.TiersBefore.usage())
	r.TiersAfter.add(c.TiersAfter.usage())
	r.PrefixViolations += c.PrefixViolations
	r.WarmRewrites += c.WarmRewrites
	r.InvalidBodies += c.InvalidBodies
	r.ColdTurns += c.ColdTurns
	for _, rule := range c.Invalid {
		r.invalid(c.Conversation + ": " + rule)
	}
	addCounts(r.Rewrites, c.Rewrites)
	addCounts(r.Passed, c.Passed)
	for name, x := range c.Components {
		r.Components[name] = x.plus(r.Components[name])
	}
	for name, gates := range c.Gates {
		r.gates(name, gates)
	}
	for name, x := range c.Remaining {
		if r.Remaining == nil {
			r.Remaining = map[string]Share{}
		}
		r.Remaining[name] = x.plus(r.Remaining[name])
	}
	r.wall = append(r.wall, c.wall...)
	r.cpu = append(r.cpu, c.cpu...)
	r.addAgent(c)
}

func (r *Result) addAgent(c *Result) {
	if r.Agents == nil {
		r.Agents = map[string]*AgentResult{}
	}
	name := agentName(c.Agent)
	a := r.Agents[name]
	if a == nil {
		a = &AgentResult{}
		r.Agents[name] = a
	}
	a.Conversations++
	a.Turns += c.Turns
	a.TokensBefore += c.TokensBefore
	a.TokensAfter += c.TokensAfter
	a.CostBefore += c.CostBefore
	a.CostAfter += c.CostAfter
}

func (r *Result) gates(component string, gates map[string]int) {
	if len(gates) == 0 {
		return
	}
	if r.Gates[component] == nil {
		r.Gates[component] = map[string]int{}
	}
	addCounts(r.Gates[component], gates)
}

func (c ComponentResult) plus(d ComponentResult) ComponentResult {
	return ComponentResult{
		Edits: c.Edits + d.Edits, FirstEdits: c.FirstEdits + d.FirstEdits,
		SavedTokens: c.SavedTokens + d.SavedTokens, FirstSaved: c.FirstSaved + d.FirstSaved,
	}
}

func addCounts(into, from map[string]int) {
	for k, n := range from {
		into[k] += n
	}
}

// agentName is an agent without its version.
func agentName(agent string) string {
	name, _, _ := strings.Cut(agent, " ")
	if name == "" {
		return "unknown"
	}
	return name
}
