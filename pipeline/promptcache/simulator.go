package promptcache

import "fmt"

// Wire is the shape of a request body, as the simulator needs to know it.
type Wire string

// The wires whose providers are simulated.
const (
	WireAnthropic Wire = "anthropic"
	WireChat      Wire = "openai-chat"
	WireResponses Wire = "openai-responses"
)

// Provider is whose cache and billing rules hold on the wire.
func (w Wire) Provider() Provider {
	if w == WireAnthropic {
		return ProviderAnthropic
	}
	return ProviderOpenAI
}

// The rules of the providers' prompt caches, as their documentation gives them
// in November 2026.
const (
	// simMinimum is the shortest prefix that is cached, in tokens.
	simMinimum = 1024
	// simBreakpoints is how many breakpoints a request may carry; more are refused.
	simBreakpoints = 4
	// simLookback is how many positions a breakpoint looks for a prefix that
	// was written before, itself included.
	simLookback = 20
	// simFive and simHour are Anthropic's lifetimes in seconds.
	simFive, simHour = 300, 3600
	// simStep is the granularity of OpenAI's reads beyond the minimum.
	simStep = 128
	// simOpenAI is how long OpenAI's cache lives after its last use, in
	// seconds: the longest that its in-memory retention promises.
	simOpenAI = 3600
)

// Simulator bills request bodies as the provider would, keeping what its prompt
// cache would hold. It reads raw bodies with a parser of its own and shares
// nothing with the code that rewrites them, so that it can judge it. One
// Simulator is one organisation's cache; it is not safe for concurrent use.
//
// What it does not know: the provider's tokenizer, its templates, evictions
// under load and requests in flight. Its token counts are those of the given
// counter, so shares and comparisons mean something, and absolute counts little.
type Simulator struct {
	counter   *BlockCounter
	anthropic map[uint64]*anthropicEntry
	openai    map[string]*openaiNode
}

// NewSimulator returns a simulator with an empty cache.
func NewSimulator(counter *BlockCounter) *Simulator {
	return &Simulator{
		counter:   counter,
		anthropic: make(map[uint64]*anthropicEntry),
		openai:    make(map[string]*openaiNode),
	}
}

// Bill returns what the provider would charge for body if it answered it at the
// time now, in seconds of any epoch, and moves the cache on. Output is left at
// zero. The error says that the body can't be read; the cache is as before then.
func (s *Simulator) Bill(w Wire, body []byte, now float64) (Usage, error) {
	p, err := s.counter.read(w, body)
	if err != nil {
		return Usage{}, fmt.Errorf("simulator: %w", err)
	}
	if w == WireAnthropic {
		return s.billAnthropic(p, now), nil
	}
	return s.billOpenAI(p, now), nil
}

// Tokens counts the whole input of a request without touching any cache.
func (c *BlockCounter) Tokens(w Wire, body []byte) (int, error) {
	p, err := c.read(w, body)
	if err != nil {
		return 0, fmt.Errorf("simulator: %w", err)
	}
	n := 0
	for _, b := range p.blocks {
		n += b.tokens
	}
	return n, nil
}
