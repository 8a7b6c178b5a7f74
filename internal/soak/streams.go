package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// streamFigures are what holding streams open came to.
type streamFigures struct {
	Open          int   // as the server counts them
	Body          int   // bytes of a request
	First, Second int64 // resident bytes of trimtab
	Envoy         int64
}

func (f streamFigures) growth() float64 {
	if f.First == 0 {
		return 0
	}
	return float64(f.Second) / float64(f.First)
}

// holdStreams opens streams, lets events trickle through all of them, and reads the
// process's memory twice.
func (r *report) holdStreams(ctx context.Context, b *bed) error {
	events := int((r.options.Opening + r.options.Second) / r.options.Every)
	rng := rand.New(rand.NewPCG(r.options.Seed, 1))
	clients := newClients()
	defer clients.close()
	var wg sync.WaitGroup
	gate := make(chan struct{}, 16) // that many are opened at a time
	for i := range r.options.Streams {
		t := &talk{path: paths[0], session: fmt.Sprint("stream-", i)}
		t.files = []string{source(0, t.session, 50<<10)}
		t.reads = []int{0, 0}
		body, err := t.body(true)
		if err != nil {
			return err
		}
		r.streams.Body = len(body)
		id, client := fmt.Sprint("stream-", i), clients.pick(rng)
		gate <- struct{}{}
		wg.Go(func() {
			opened := sync.OnceFunc(func() { <-gate })
			defer opened()
			a := request{path: paths[0], id: id, body: body, length: true, header: []string{
				envoytest.EventsHeader, fmt.Sprint(events), envoytest.PauseHeader, r.options.Every.String(),
			}, begun: opened}
			got, err := a.send(ctx, client, b.url())
			if err != nil || got.status != 200 || got.body != envoytest.Stream(id, events) {
				r.harm.add("%s: %d, %v, %d bytes of an answer", id, got.status, err, len(got.body))
			}
			if arrived := b.upstream.Take(id); arrived.Times != 1 || len(arrived.Body) >= len(body) {
				r.harm.add("%s: %d bytes arrived %d times", id, len(arrived.Body), arrived.Times)
			}
		})
	}
	err := r.readMemory(ctx, b)
	wg.Wait()
	if err == nil {
		err = r.settled(b)
	}
	return err
}

func (r *report) readMemory(ctx context.Context, b *bed) error {
	for _, at := range []struct {
		after time.Duration
		to    *int64
	}{{r.options.First, &r.streams.First}, {r.options.Second - r.options.First, &r.streams.Second}} {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(at.after):
		}
		var err error
		if *at.to, err = resident(b.current().cmd.Process.Pid); err != nil {
			return err
		}
	}
	var err error
	if r.streams.Envoy, err = resident(b.envoy.PID()); err != nil {
		return err
	}
	stats, err := b.current().stats()
	if err != nil {
		return err
	}
	open, _ := stats["exchanges_open"].(float64)
	if r.streams.Open = int(open); r.streams.Open != r.options.Streams {
		r.harm.add("%d streams are open, not %d", r.streams.Open, r.options.Streams)
	}
	return nil
}

// settled says that the process holds nothing once all is over.
func (r *report) settled(b *bed) error {
	var stats map[string]any
	var err error
	for range 200 {
		if stats, err = b.current().stats(); err != nil {
			return err
		}
		if stats["exchanges_open"] == 0.0 && stats["bytes_in_flight"] == 0.0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	r.harm.add("after the end there are %v exchanges open and %v bytes held", stats["exchanges_open"], stats["bytes_in_flight"])
	return nil
}
