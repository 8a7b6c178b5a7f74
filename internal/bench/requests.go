package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// ways are those that requests are measured on.
func ways() []string { return []string{plain, noop, echo, trimtab} }

// kinds of request.
const (
	firstSight = iota
	warmTurn
	kinds
)

// sizeCase is one size of a request.
type sizeCase struct {
	size   int
	target [kinds]float64 // of the ratio to a server that does nothing; 0: none
	took   [kinds]map[string][]time.Duration
	cpu    [kinds]map[string][]time.Duration // of the server on that way
	sent   int64                             // bytes sent on trimtab's way, and what became of them
	got    int64
	asked  int
	raw    int
}

// sizeCases are the sizes up to most bytes.
func sizeCases(most int) (list []*sizeCase) {
	for _, c := range []*sizeCase{
		{size: 10_000},
		{size: 100_000, target: [kinds]float64{warmTurn: 1.3}},
		{size: 300_000},
		{size: 1_000_000, target: [kinds]float64{warmTurn: 2.2}},
		{size: 10_000_000},
	} {
		for k := range kinds {
			c.took[k], c.cpu[k] = map[string][]time.Duration{}, map[string][]time.Duration{}
		}
		if c.size <= most {
			list = append(list, c)
		}
	}
	return list
}

// measureRequests measures how long requests take on each way, by turns.
func (r *report) measureRequests(ctx context.Context, o options) error {
	b, err := newBed(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	r.envoy, r.sizes = b.version, sizeCases(o.Largest)
	for _, c := range r.sizes {
		// The first rounds warm up.
		if err := c.rounds(ctx, b, o.PerSize/10, false); err != nil {
			return err
		}
		if err := c.rounds(ctx, b, o.PerSize, true); err != nil {
			return err
		}
	}
	return nil
}

// roundTurns is how many turns of a conversation are measured in a round.
const roundTurns = 4

// rounds goes on for about so long, at least three rounds.
func (c *sizeCase) rounds(ctx context.Context, b *bed, during time.Duration, keep bool) error {
	for round, end := 0, time.Now().Add(during); ctx.Err() == nil && (round < 3 || time.Now().Before(end)); round++ {
		t := newTalk(fmt.Sprintf("s%dx%dx%t", c.size, round, keep), c.size)
		bodies := [][]byte{t.body()}
		for range roundTurns {
			t.turn(turnBytes(c.size))
			bodies = append(bodies, t.body())
		}
		order := ways()
		order = slices.Concat(order[round%len(order):], order[:round%len(order)])
		for _, way := range order {
			if err := c.converse(ctx, b, way, bodies, keep); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// converse sends the turns of a conversation on one way.
func (c *sizeCase) converse(ctx context.Context, b *bed, way string, bodies [][]byte, keep bool) error {
	var took, cpu [kinds][]time.Duration
	for i, body := range bodies {
		kind := min(i, warmTurn)
		before, err := b.serverCPU(way)
		if err != nil {
			return err
		}
		d, arrived, err := b.ask(ctx, way, body)
		if err != nil {
			return err
		}
		after, err := b.serverCPU(way)
		if err != nil {
			return err
		}
		took[kind], cpu[kind] = append(took[kind], d), append(cpu[kind], after-before)
		if way != trimtab && arrived != len(body) {
			return fmt.Errorf("%d bytes of %d arrived on the way %s", arrived, len(body), way)
		}
		if way == trimtab && keep {
			c.asked++
			c.sent, c.got = c.sent+int64(len(body)), c.got+int64(arrived)
			if arrived == len(body) {
				c.raw++
			}
		}
	}
	if !keep {
		return nil
	}
	for k := range kinds {
		c.took[k][way] = append(c.took[k][way], median(took[k]))
		c.cpu[k][way] = append(c.cpu[k][way], median(cpu[k]))
	}
	return nil
}

// serverCPU is the CPU time of the server on a way; 0 where there is none.
func (b *bed) serverCPU(way string) (time.Duration, error) {
	switch way {
	case noop, echo:
		return cpuOf(b.nothing.pid())
	case trimtab:
		return cpuOf(b.trimtab.pid())
	}
	return 0, nil
}
