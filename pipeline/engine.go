package pipeline

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/redact"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

// Options are what an Engine is made of.
type Options struct {
	// Secret keys everything that is kept. Replicas that share a store share it.
	Secret []byte
	// Store holds facts and texts, at most; each profile's level takes from it.
	Store store.Store
	// Verifier checks what reversible components write; required if there are any.
	Verifier Verifier
	// Model writes the texts that generated components ask for; nil: nothing new is
	// generated, and what was generated is replayed.
	Model func(ctx context.Context, prompt string) (reply string, err error)
	// MemoBytes bounds the memo of outcomes; 0 means 64 MiB.
	MemoBytes int
	// MaxConversations bounds the tracker; 0 means promptcache.MaxConversations.
	MaxConversations int
	// MaxGenerations bounds how many generations may be alive; above it new
	// conversations are pinned to no rewriting. 0 means 64.
	MaxGenerations int
}

// Engine rewrites requests. It is safe for concurrent use.
type Engine struct {
	opt     Options
	keyer   store.Keyer
	seed    transcript.Sum
	hasher  transcript.Hasher
	seen    *transcript.Seen
	tracker *promptcache.Tracker
	memo    *memo

	redactor *redact.Detector // of what is written anywhere

	mu       sync.Mutex // guards alive and Apply
	alive    map[string]*Generation
	profiles atomic.Pointer[profileSet]
}

type profileSet struct {
	byName map[string]*Generation
	def    string
}

// New returns an engine without profiles: it forwards everything as it came
// until Apply is called.
func New(opt Options) *Engine {
	if opt.MemoBytes <= 0 {
		opt.MemoBytes = 64 << 20
	}
	if opt.MaxGenerations <= 0 {
		opt.MaxGenerations = 64
	}
	e := &Engine{opt: opt, keyer: store.NewKeyer(opt.Secret), hasher: transcript.NewHasher(), memo: newMemo(opt.MemoBytes), redactor: redact.New(redact.Options{}), alive: map[string]*Generation{}}
	e.seen = transcript.NewSeen(e.hasher)
	k := e.keyer.Key([]byte("chain"))
	copy(e.seed[:], k[:])
	e.tracker = promptcache.NewTracker(opt.MaxConversations, func(pin any) {
		if g, ok := pin.(*Generation); ok {
			g.refs.Add(-1)
		}
	})
	e.profiles.Store(&profileSet{byName: map[string]*Generation{}})
	return e
}

// Apply makes the profiles the current ones: for conversations that begin, or
// whose caches have all gone cold. Others keep the generation they are pinned to.
func (e *Engine) Apply(profiles []Profile, def string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	set := &profileSet{byName: map[string]*Generation{}, def: def}
	for _, p := range profiles {
		g := newGeneration(p, e.keyer)
		if old, ok := e.alive[g.ID]; ok && old.Profile.Name == p.Name {
			g = old
		}
		set.byName[p.Name] = g
	}
	for id, g := range e.alive {
		if g.refs.Load() <= 0 {
			delete(e.alive, id)
		}
	}
	for _, g := range set.byName {
		e.alive[g.ID] = g
	}
	e.profiles.Store(set)
}

// Generations returns the ids of the current generations by profile, and how
// many are alive.
func (e *Engine) Generations() (current map[string]string, alive int) {
	current = map[string]string{}
	for name, g := range e.profiles.Load().byName {
		current[name] = g.ID
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return current, len(e.alive)
}

// current is the profile's generation, or nil.
func (e *Engine) current(profile string) *Generation {
	set := e.profiles.Load()
	if profile == "" {
		profile = set.def
	}
	return set.byName[profile]
}

// pin is the generation to pin a new conversation to; nil when too many are alive.
func (e *Engine) pin(g *Generation) any {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.alive[g.ID]; !ok {
		for id, old := range e.alive {
			if old.refs.Load() <= 0 {
				delete(e.alive, id)
			}
		}
		e.alive[g.ID] = g
	}
	if len(e.alive) > e.opt.MaxGenerations {
		return nil
	}
	g.refs.Add(1)
	return g
}

// Stats are the engine's numbers.
type Stats struct {
	Conversations, MemoEntries, MemoBytes, Generations int
}

// Stats returns the engine's numbers.
func (e *Engine) Stats() Stats {
	s := Stats{Conversations: e.tracker.Stats().Conversations}
	s.MemoEntries, s.MemoBytes = e.memo.stats()
	_, s.Generations = e.Generations()
	return s
}

// Rewrite works out what to forward. It never fails: whatever goes wrong, the
// exchange's body is the request's, and the report says why. The caller must
// call Close on the exchange, and Responded before it if it saw the answer.
func (e *Engine) Rewrite(ctx context.Context, req Request) (x *Exchange) {
	start := time.Now()
	x = &Exchange{body: req.Body, report: Report{BytesBefore: len(req.Body), BytesAfter: len(req.Body)}}
	defer func() {
		if p := recover(); p != nil {
			x.pass(EnginePanicked)
		}
		x.report.Engine = time.Since(start)
	}()
	e.rewrite(ctx, req, x)
	return x
}

func (e *Engine) rewrite(ctx context.Context, req Request, x *Exchange) {
	d := transcript.Detect(req.Path, req.AnthropicVersion)
	if d == transcript.None {
		x.pass(NotLLM)
		return
	}
	x.report.Dialect = d
	t, err := e.seen.Parse(d, req.Body)
	switch {
	case errors.Is(err, transcript.ErrSyntax):
		x.pass(BadJSON)
		return
	case err != nil:
		x.pass(UnknownShape)
		return
	}
	x.report.Model, x.report.Stream = modelName(t.Model), t.Stream
	x.report.Messages, x.report.Results = len(t.Messages), len(t.Results)

	g := e.current(req.Profile)
	if g == nil {
		x.pass(UnknownProfile)
		return
	}
	x.report.Profile = g.Profile.Name
	conv := e.conversation(req, t)
	x.report.Conversation = hex.EncodeToString(conv[:6])
	counting := transcript.CountsTokens(req.Path)
	known := false
	if counting {
		if pin, ok := e.tracker.Pinned(conv); ok {
			g, known = pin.(*Generation), true
		}
	} else {
		var pin any
		pin, known = e.tracker.Pin(conv, req.Now, func() any { return e.pin(g) })
		if pin == nil {
			x.pass(NoGeneration)
			return
		}
		g = pin.(*Generation)
	}
	x.report.Generation = g.ID
	if g.Profile.Limits.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.Profile.Limits.Deadline)
		defer cancel()
	}
	r := &run{e: e, ctx: ctx, req: req, g: g, t: t, x: x, conv: conv, known: known, counting: counting}
	r.do()
}

// maxModel is the longest model name that is reported, in bytes.
const maxModel = 100

// modelName is what is reported of the name that a client wrote: names of models
// are short and plain, and anything else may be anybody's text.
func modelName(name string) string {
	if len(name) > maxModel {
		return "other"
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c > '~' {
			return "other"
		}
	}
	return name
}

// conversation is the key of the conversation that the request belongs to.
func (e *Engine) conversation(req Request, t *transcript.Transcript) store.Key {
	return e.keyer.Key(identity(req, t)...)
}

// identity names the conversation that the request belongs to. It is never made
// of system text: clients put nonces there.
func identity(req Request, t *transcript.Transcript) [][]byte {
	tenant, dialect := []byte(req.Tenant), []byte(t.Dialect)
	for _, id := range []struct{ kind, id string }{
		{"header", req.Session}, {"session", t.Hints.Session}, {"task", t.Hints.TaskID}, {"cachekey", t.Hints.PromptCacheKey},
	} {
		if id.id != "" {
			return [][]byte{[]byte("conversation"), tenant, []byte(id.kind), []byte(id.id)}
		}
	}
	return [][]byte{[]byte("conversation"), tenant, dialect, []byte("first"), bytes.TrimSpace(t.Hints.FirstUser)}
}
