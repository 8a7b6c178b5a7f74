package promptcache

import (
	"sort"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

// Bounds of the tracker.
const (
	// MaxThreads is how many threads of one conversation are told apart.
	MaxThreads = 64
	// MaxModels is how many models of one thread are told apart; the one that
	// answered longest ago is forgotten first.
	MaxModels = 8
	// MaxConversations is how many conversations are tracked by default; the
	// least recently seen is forgotten first.
	MaxConversations = 20_000
	// ColdMargin is added to the cache's time to live before it is called cold.
	ColdMargin = 60 * time.Second
	// TTL5m and TTL1h are the lifetimes that a request can ask of Anthropic's cache.
	// OpenAI's automatic cache can't be asked for a lifetime; it promises 5 to 10
	// minutes without use (OpenAI's prompt caching guide), so the shorter one is
	// what is certain. See docs/decisions/0003.
	TTL5m = 5 * time.Minute
	TTL1h = time.Hour
)

// Tracker remembers, in counts, times and digests, what was forwarded. It is
// safe for concurrent use.
type Tracker struct {
	mu     sync.Mutex
	convs  *lru.Cache[store.Key, *conversation]
	onDrop func(pin any)
}

// NewTracker tracks at most max conversations (0: MaxConversations). onDrop, if
// not nil, is called with the pin of each conversation that is forgotten or
// pinned anew; it must not call back.
func NewTracker(max int, onDrop func(pin any)) *Tracker {
	if max <= 0 {
		max = MaxConversations
	}
	t := &Tracker{onDrop: onDrop}
	t.convs, _ = lru.NewWithEvict[store.Key, *conversation](max, func(_ store.Key, c *conversation) {
		t.drop(c.pin)
	}) // the size is positive: no error
	return t
}

func (t *Tracker) drop(pin any) {
	if t.onDrop != nil && pin != nil {
		t.onDrop(pin)
	}
}

type conversation struct {
	pin     any
	threads []*thread
	primary bool // the first header-less thread exists
}

type thread struct {
	id     string
	prints []link
	sizes  []uint32 // cumulative raw bytes, parallel to prints
	seen   time.Time
	rails  map[uint64]*rail // by the model's digest: switching models leaves two caches
}

// rail is what the provider holds of one thread for one model.
type rail struct {
	in, out []link
	marks   []EditMark
	last    time.Time // of the last 2xx answer's headers
	ttl     time.Duration
	sent    int  // messages sent, raw turns included
	raw     bool // the last turn went out as it came
	tokens  []uint32
}

// EditMark is what one component did to one message, as a digest. Marks are kept
// in order of the messages.
type EditMark struct {
	Message   uint32
	Component uint16 // its place in the conversation's generation
	Sum       uint32
}

// Pin returns what the conversation is pinned to. If it has no pin, or all its
// threads are cold, make is called and its result pinned. known says that the
// conversation had been seen.
func (t *Tracker) Pin(conv store.Key, now time.Time, make func() any) (pin any, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, known := t.convs.Get(conv)
	if !known {
		c = &conversation{}
		t.convs.Add(conv, c)
	}
	if c.pin == nil || c.allCold(now) {
		if fresh := make(); fresh != c.pin {
			t.drop(c.pin)
			c.pin = fresh
		} else if fresh != nil {
			t.drop(fresh) // the same pin is held once
		}
	}
	return c.pin, known
}

// Pinned returns the pin of a known conversation, and records nothing.
func (t *Tracker) Pinned(conv store.Key) (pin any, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, known := t.convs.Peek(conv)
	if !known {
		return nil, false
	}
	return c.pin, c.pin != nil
}

func (c *conversation) allCold(now time.Time) bool {
	any := false
	for _, th := range c.threads {
		for _, r := range th.rails {
			if !r.cold(now) {
				return false
			}
			any = true
		}
	}
	return any
}

// cold says that the provider's cache is known to have expired. A clock that
// went back, or no answer yet, is not cold.
func (r *rail) cold(now time.Time) bool {
	return !r.last.IsZero() && r.ttl > 0 && now.Sub(r.last) >= r.ttl+ColdMargin
}

// Turn is what the tracker knows about a request, and what the request will
// tell the tracker once it has been answered.
type Turn struct {
	// Thread is the thread's id within the conversation: "" for the first one.
	Thread string
	// New says that nothing was known of this thread and model: the first
	// contact, or a model that was not used before.
	New bool
	// Cold says that the provider's cache is known to have expired.
	Cold bool
	// Raw says that the turn before went out as it came.
	Raw bool
	// Same is how many leading messages were part of the last request as well.
	Same int
	// Sent is how many messages the last request had.
	Sent int
	// Tokens are the estimates noted for the first Same messages.
	Tokens []uint32

	tracker *Tracker
	conv    store.Key
	th      *thread
	model   uint64
	prints  []link
	sizes   []uint32
	in      []link
	prev    rail // a copy of the rail as it was
	ttl     time.Duration
}

// Begin finds the thread that a request continues. seed keys the fingerprints.
func (t *Tracker) Begin(conv store.Key, seed transcript.Sum, tr *transcript.Transcript, d transcript.Digests, agent string, now time.Time) *Turn {
	turn := &Turn{tracker: t, conv: conv, model: xxhash.Sum64String(tr.Model), prints: prints(seed, d), in: links(Chain(seed, d)), ttl: ttlOf(tr)}
	turn.sizes = make([]uint32, len(tr.Messages))
	total := 0
	for i, m := range tr.Messages {
		total += m.Span.Len()
		turn.sizes[i] = uint32(total)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.convs.Get(conv)
	if !ok {
		c = &conversation{}
		t.convs.Add(conv, c)
	}
	th, parent := c.find(turn, agent, now)
	turn.th, turn.Thread = th, th.id
	r := th.rails[turn.model]
	if r == nil && parent != nil {
		r = parent.rails[turn.model]
	}
	if r == nil {
		turn.New = true
		return turn
	}
	turn.prev = *r
	turn.ttl = max(turn.ttl, r.ttl)
	turn.Cold, turn.Raw, turn.Sent = r.cold(now), r.raw, r.sent
	turn.Same = max(common(r.in, turn.in)-1, 0)
	turn.Tokens = r.tokens[:min(len(r.tokens), turn.Same)]
	return turn
}

// find returns the thread that the turn continues, making one if there is none,
// and the thread that a new one shares at least half of its bytes with.
func (c *conversation) find(turn *Turn, agent string, now time.Time) (th, parent *thread) {
	if agent != "" {
		for _, th := range c.threads {
			if th.id == "a:"+agent {
				return th, nil
			}
		}
		return c.add("a:"+agent, now), nil
	}
	var best *thread
	for _, th := range c.threads {
		n := len(th.prints)
		if n == 0 || n > len(turn.prints) || th.prints[n-1] != turn.prints[n-1] {
			continue
		}
		if best == nil || n > len(best.prints) || n == len(best.prints) && th.seen.After(best.seen) {
			best = th
		}
	}
	if best != nil {
		best.seen = now
		return best, nil
	}
	for _, th := range c.threads {
		if len(th.prints) == 0 && th.id == "" {
			th.seen = now
			return th, nil // the first thread, whose first request was never answered
		}
	}
	shared := 0
	for _, th := range c.threads {
		if n := common(th.prints, turn.prints); n > shared && 2*turn.sizes[n-1] >= turn.sizes[len(turn.sizes)-1] {
			shared, parent = n, th
		}
	}
	if !c.primary {
		c.primary = true
		return c.add("", now), parent
	}
	id := "p"
	if n := len(turn.prints); n > 0 {
		id = "p:" + hex(uint64(turn.prints[n-1]))
	}
	return c.add(id, now), parent
}

// add makes a thread and forgets the one that was seen longest ago if there are
// too many.
func (c *conversation) add(id string, now time.Time) *thread {
	if len(c.threads) >= MaxThreads {
		old := 0
		for i, th := range c.threads {
			if th.seen.Before(c.threads[old].seen) {
				old = i
			}
		}
		c.threads = append(c.threads[:old], c.threads[old+1:]...)
	}
	th := &thread{id: id, seen: now, rails: map[uint64]*rail{}}
	c.threads = append(c.threads, th)
	return th
}

// keep adds a rail, and forgets one if there are too many.
func (th *thread) keep(model uint64, r *rail) {
	if len(th.rails) >= MaxModels {
		var oldest uint64
		first := true
		for m, old := range th.rails {
			if o := th.rails[oldest]; first || old.last.Before(o.last) || old.last.Equal(o.last) && m < oldest {
				oldest, first = m, false
			}
		}
		delete(th.rails, oldest)
	}
	th.rails[model] = r
}

func hex(v uint64) string {
	const digits = "0123456789abcdef"
	var b [12]byte
	for i := range b {
		b[i] = digits[v>>(60-4*i)&15]
	}
	return string(b[:])
}

// ttlOf is how long the provider surely keeps what this request writes.
func ttlOf(t *transcript.Transcript) time.Duration {
	if t.AsksOneHour() {
		return TTL1h
	}
	return TTL5m
}

// Violation is a change of bytes in the prefix that both turns share.
type Violation struct {
	Message int // -1: tools or system
	// Component is the place of the component whose edits differ first, in the
	// conversation's generation; -1: no component's.
	Component int
}

// Compare finds the first element that came in as on the last turn but went out
// otherwise. out is the chain of the forwarded body with the same seed.
func (turn *Turn) Compare(out []transcript.Sum, marks []EditMark) (Violation, bool) {
	if turn.New {
		return Violation{}, false
	}
	same := common(turn.prev.in, turn.in)
	n := min(same, len(out), len(turn.prev.out))
	for i := range n {
		if linkOf(out[i]) != turn.prev.out[i] {
			return Violation{Message: i - 1, Component: differing(of(turn.prev.marks, i-1), of(marks, i-1))}, true
		}
	}
	return Violation{}, false
}

// of is the part of marks that belongs to one message.
func of(marks []EditMark, message int) []EditMark {
	at := func(m int) int {
		return sort.Search(len(marks), func(i int) bool { return int(marks[i].Message) >= m })
	}
	return marks[at(message):at(message+1)]
}

// differing names the component whose edits differ first.
func differing(before, after []EditMark) int {
	for i := range max(len(before), len(after)) {
		switch {
		case i >= len(before):
			return int(after[i].Component)
		case i >= len(after):
			return int(before[i].Component)
		case before[i] != after[i]:
			return int(after[i].Component)
		}
	}
	return -1
}

// Done notes that the request was answered with success, or that nobody knows
// whether it was. at is when the answer's headers came; zero if none came.
// Raw turns move neither chain.
func (turn *Turn) Done(out []transcript.Sum, marks []EditMark, tokens []uint32, raw bool, at time.Time) {
	t := turn.tracker
	t.mu.Lock()
	defer t.mu.Unlock()
	r := turn.th.rails[turn.model]
	if r == nil {
		cp := turn.prev
		r = &cp
		turn.th.keep(turn.model, r)
	}
	turn.th.prints, turn.th.sizes = turn.prints, turn.sizes
	r.ttl = max(r.ttl, turn.ttl)
	if at.After(r.last) {
		r.last = at
	}
	r.sent, r.raw = len(turn.prints), raw
	if !raw {
		r.in, r.out, r.marks, r.tokens = turn.in, links(out), marks, tokens
	}
}

// Stats are the tracker's numbers.
type Stats struct{ Conversations int }

// Stats returns the tracker's numbers.
func (t *Tracker) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{Conversations: t.convs.Len()}
}
