package replay

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Options say what to replay through, and how to price it.
type Options struct {
	// Engine makes the engine that one conversation goes through: conversations
	// are independent, so that their order and number change nothing.
	Engine func() (*pipeline.Engine, error)
	Prices *promptcache.Prices
	// Count counts tokens for the simulated bill. It is called from several
	// goroutines.
	Count func(string) int
	// Bodies is a folder to write the forwarded bodies to, or empty.
	Bodies string
	// Remaining asks for what is still forwarded, by kind of text.
	Remaining bool
	// Workers is how many conversations run at once; 0 means GOMAXPROCS.
	Workers int
}

// Files expands folders to the conversations below them, `*.json.gz`, sorted.
// Files are taken as they are given.
func Files(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			all = append(all, path)
			continue
		}
		var found []string
		err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(p, ".json.gz") {
				found = append(found, p)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no *.json.gz below it", path)
		}
		slices.Sort(found)
		all = append(all, found...)
	}
	return all, nil
}

// Run replays the conversations and calls each with every result, in the order
// of the files, and returns the total. The first error ends it.
func Run(ctx context.Context, opt Options, files []string, each func(*Result) error) (*Result, error) {
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	counter := promptcache.NewBlockCounter(opt.Count)
	type outcome struct {
		result *Result
		err    error
	}
	outcomes := make([]chan outcome, len(files))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	next := make(chan int)
	done := make(chan struct{})
	for range opt.Workers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range next {
				r, err := replayFile(ctx, opt, counter, files[i])
				outcomes[i] <- outcome{r, err}
			}
		}()
	}
	go func() {
		defer close(next)
		for i := range files {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	total := newResult()
	total.Total = true
	err := func() error {
		for i := range files {
			select {
			case o := <-outcomes[i]:
				if o.err != nil {
					return o.err
				}
				total.add(o.result)
				if err := each(o.result); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}()
	cancel()
	for range opt.Workers {
		<-done
	}
	total.finish()
	return total, err
}

func replayFile(ctx context.Context, opt Options, counter *promptcache.BlockCounter, path string) (*Result, error) {
	c, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := Replay(ctx, opt, counter, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Replay runs one conversation, turn by turn, as if the provider had answered
// each request with success at its recorded time.
func Replay(ctx context.Context, opt Options, counter *promptcache.BlockCounter, c *Conversation) (*Result, error) {
	engine, err := opt.Engine()
	if err != nil {
		return nil, err
	}
	bodies, err := newBodyWriter(opt.Bodies, c.ID)
	if err != nil {
		return nil, err
	}
	p := &player{
		c: c, engine: engine, result: newResult(), warmth: Warmth{Wire: c.Wire},
		before: promptcache.NewSimulator(counter), after: promptcache.NewSimulator(counter),
	}
	if opt.Remaining {
		p.weigher = newWeigher(opt.Count)
		p.result.Remaining = p.weigher.sum
	}
	p.describe()
	for k := range c.Turns {
		if err := ctx.Err(); err != nil {
			return nil, bodies.abort(err)
		}
		forwarded, err := p.turn(ctx, k)
		if err != nil {
			return nil, bodies.abort(fmt.Errorf("turn %d: %w", k, err))
		}
		if err := bodies.write(forwarded); err != nil {
			return nil, bodies.abort(err)
		}
	}
	p.price(opt.Prices)
	p.result.finish()
	return p.result, bodies.close()
}

// player is one conversation while it is replayed.
type player struct {
	c             *Conversation
	engine        *pipeline.Engine
	result        *Result
	warmth        Warmth
	before, after *promptcache.Simulator
	weigher       *weigher // nil: not asked for
}

func (p *player) describe() {
	r, c := p.result, p.c
	r.Conversation, r.Provider, r.Agent, r.Model = c.ID, string(c.Wire), c.Agent, c.Model
}

// turn replays one request and returns what was forwarded.
func (p *player) turn(ctx context.Context, k int) ([]byte, error) {
	body := p.c.Body(k)
	at := p.c.Turns[k].At
	now := when(at)
	x, wall, cpu := p.rewrite(ctx, pipeline.Request{
		Path: p.c.Endpoint, AnthropicVersion: p.c.Wire == promptcache.WireAnthropic, Body: body, Now: now,
	})
	defer x.Close()
	x.Responded(200, now)
	forwarded := x.Body()

	r := p.result
	r.Turns++
	r.wall, r.cpu = append(r.wall, wall), append(r.cpu, cpu)
	r.BytesBefore += len(body)
	r.BytesAfter += len(forwarded)
	if err := p.bill(body, forwarded, at); err != nil {
		return nil, err
	}
	rewritten, cold := p.warmth.Turn(body, forwarded, at)
	r.WarmRewrites += rewritten
	if cold {
		r.ColdTurns++
	}
	p.judge(k, body, forwarded)
	if p.weigher != nil {
		p.weigher.turn(transcript.Dialect(p.c.Wire), forwarded)
	}
	p.report(x.Report())
	return forwarded, nil
}

// when is a time of the file as a time.
func when(at float64) time.Time {
	whole, part := math.Modf(at)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}

// rewrite runs the engine and times it: wall clock, and CPU of this thread.
func (p *player) rewrite(ctx context.Context, req pipeline.Request) (x *pipeline.Exchange, wall, cpu time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpu0, start := threadCPU(), time.Now()
	x = p.engine.Rewrite(ctx, req)
	return x, time.Since(start), threadCPU() - cpu0
}

func (p *player) bill(body, forwarded []byte, at float64) error {
	before, err := p.before.Bill(p.c.Wire, body, at)
	if err != nil {
		return err
	}
	after, err := p.after.Bill(p.c.Wire, forwarded, at)
	if err != nil {
		return fmt.Errorf("forwarded body: %w", err)
	}
	r := p.result
	r.TokensBefore += before.Input()
	r.TokensAfter += after.Input()
	r.TiersBefore.add(before)
	r.TiersAfter.add(after)
	return nil
}

// judge counts a body that breaks rules which the received one did not.
func (p *player) judge(k int, body, forwarded []byte) {
	if slices.Equal(body, forwarded) {
		return
	}
	broken := append(provider.Added(p.c.Wire, body, forwarded), provider.Altered(p.c.Wire, body, forwarded)...)
	if len(broken) == 0 {
		return
	}
	p.result.InvalidBodies++
	for _, v := range broken {
		p.result.invalid(fmt.Sprintf("turn %d: %s at %s", k, v.Rule, v.Where))
	}
}

// report takes over what the engine says of a turn.
func (p *player) report(rep pipeline.Report) {
	r := p.result
	if rep.Reason != pipeline.Rewritten {
		r.Passed[string(rep.Reason)]++
	}
	for _, n := range rep.Violations {
		r.PrefixViolations += n
	}
	addCounts(r.Rewrites, rep.Rewrites)
	for _, c := range rep.Components {
		r.Components[c.Name] = r.Components[c.Name].plus(ComponentResult{
			Edits: c.Edits, FirstEdits: c.Edits - c.Replayed,
			SavedTokens: c.SavedTokens, FirstSaved: c.FirstSavedTokens,
		})
		gates := make(map[string]int, len(c.Gates))
		for g, n := range c.Gates {
			gates[string(g)] = n
		}
		r.gates(c.Name, gates)
	}
}

func (p *player) price(prices *promptcache.Prices) {
	r := p.result
	provider := p.c.Wire.Provider()
	card, units := prices.CardFor(provider, p.c.Model), prices.RelativeCard(provider)
	before, after := r.TiersBefore.usage(), r.TiersAfter.usage()
	r.Price = card.Label()
	r.CostBefore, r.CostAfter = card.InputCost(before), card.InputCost(after)
	r.UnitsBefore, r.UnitsAfter = units.InputCost(before)*1e6, units.InputCost(after)*1e6
}
