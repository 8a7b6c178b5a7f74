package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/service"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// preset is what all parts run: the one that does most.
const preset = "balanced"

// newEngine is an engine as a process has it, with the given profile.
func newEngine(p pipeline.Profile) *pipeline.Engine {
	p.Name, p.Level = "default", store.Metadata
	p.Limits.Deadline = 0 // CPU time is measured: a busy machine must not change what is done
	e := pipeline.New(pipeline.Options{
		Secret:   []byte("any secret will do"),
		Store:    store.Store{Level: store.Everything, Facts: memory.NewFacts(memory.FactsOptions{}), Texts: memory.NewTexts(memory.TextsOptions{})},
		Verifier: verify.New(),
	})
	e.Apply([]pipeline.Profile{p}, p.Name)
	return e
}

func presetProfile(name string) (pipeline.Profile, error) {
	e, err := config.Load(config.Options{Environ: []string{"TRIMTAB_PRESET=" + name}})
	if err != nil {
		return pipeline.Profile{}, err
	}
	profiles, _, err := service.Profiles(e)
	if err != nil {
		return pipeline.Profile{}, err
	}
	return profiles[0], nil
}

// cost is what a request took of this process.
type cost struct {
	CPU    time.Duration
	Allocs uint64
	Saved  float64 // the share of bytes
}

// rewrite sends one request through an engine.
func rewrite(e *pipeline.Engine, body []byte) (cost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin, err := cpuOf(0)
	if err != nil {
		return cost{}, err
	}
	now := time.Now()
	x := e.Rewrite(context.Background(), pipeline.Request{Path: path, AnthropicVersion: true, Body: body, Now: now})
	x.Responded(200, now)
	out, reason := x.Body(), x.Report().Reason
	x.Close()
	end, err := cpuOf(0)
	if err != nil {
		return cost{}, err
	}
	runtime.ReadMemStats(&after)
	if reason != pipeline.Rewritten && reason != pipeline.NothingToDo {
		return cost{}, fmt.Errorf("a request of %d bytes is passed on: %s", len(body), reason)
	}
	return cost{end - begin, after.Mallocs - before.Mallocs, 1 - float64(len(out))/float64(len(body))}, nil
}

// engineCase is one row of the engine's table.
type engineCase struct {
	name   string
	size   int
	warm   bool
	target time.Duration // 0: none
	cost   []cost
}

func engineCases() []*engineCase {
	return []*engineCase{
		{name: "warm turn, 100 KB", size: 100_000, warm: true},
		{name: "warm turn, 300 KB", size: 300_000, warm: true, target: 1500 * time.Microsecond},
		{name: "warm turn, 1 MB", size: 1_000_000, warm: true, target: 6 * time.Millisecond},
		{name: "first sight, 100 KB", size: 100_000},
		{name: "first sight, 1 MB", size: 1_000_000, target: 60 * time.Millisecond},
	}
}

// warmTurns is how many turns of a conversation are measured in a round.
const warmTurns = 10

// measureEngine measures the engine by itself, with all components of the preset.
func (r *report) measureEngine(ctx context.Context, o options) error {
	profile, err := presetProfile(preset)
	if err != nil {
		return err
	}
	e := newEngine(profile)
	r.engine = engineCases()
	for round, end := 0, time.Now().Add(o.Engine); ctx.Err() == nil && (round < 3 || time.Now().Before(end)); round++ {
		for i, c := range r.engine {
			t := newTalk(fmt.Sprintf("e%dx%d", i, round), c.size)
			all, err := c.round(e, t)
			if err != nil {
				return err
			}
			if round > 0 { // the first one warms up
				c.cost = append(c.cost, all)
			}
		}
	}
	return nil
}

// round is the mean over the turns of one conversation, since the collector's work
// falls on some of them.
func (c *engineCase) round(e *pipeline.Engine, t *talk) (cost, error) {
	first, err := rewrite(e, t.body())
	if err != nil || !c.warm {
		return first, err
	}
	var sum cost
	for range warmTurns {
		t.turn(turnBytes(c.size))
		one, err := rewrite(e, t.body())
		if err != nil {
			return sum, err
		}
		sum.CPU += one.CPU / warmTurns
		sum.Allocs += one.Allocs / warmTurns
		sum.Saved += one.Saved / warmTurns
	}
	return sum, nil
}

func cpus(all []cost) (out []time.Duration) {
	for _, c := range all {
		out = append(out, c.CPU)
	}
	return out
}

func allocs(all []cost) (out []uint64) {
	for _, c := range all {
		out = append(out, c.Allocs)
	}
	return out
}

func saved(all []cost) (out []float64) {
	for _, c := range all {
		out = append(out, c.Saved)
	}
	return out
}
