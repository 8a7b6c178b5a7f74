package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// memoryBytes is how large the conversations are that memory is measured with.
const memoryBytes = 300_000

// memoryFigures are what a process takes that has seen many conversations.
type memoryFigures struct {
	Wanted, Seen int
	Took         time.Duration
	Begin        int64 // resident bytes: after the start
	End          int64 // some seconds after the last conversation
	Most         int64 // ever
}

// agents is how many converse at a time.
const agents = 4

// measureMemory lets a process see many conversations and reads its memory.
func (r *report) measureMemory(ctx context.Context, o options) error {
	b, err := newBed(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	r.envoy = b.version
	m := &memoryFigures{Wanted: o.Conversations}
	if m.Begin, _, err = resident(b.trimtab.pid()); err != nil {
		return err
	}
	began := time.Now()
	limited, cancel := context.WithDeadline(ctx, began.Add(o.Memory))
	defer cancel()
	var next, seen atomic.Int64
	failed := make(chan error, agents)
	var wg sync.WaitGroup
	for range agents {
		wg.Go(func() {
			for limited.Err() == nil {
				n := next.Add(1)
				if n > int64(o.Conversations) {
					return
				}
				body := newTalk(fmt.Sprintf("m%d", n), memoryBytes).body()
				_, arrived, err := b.ask(limited, trimtab, body)
				switch {
				case limited.Err() != nil:
				case err != nil:
					failed <- fmt.Errorf("conversation %d: %w", n, err)
					return
				case arrived >= len(body):
					failed <- fmt.Errorf("conversation %d is not rewritten", n)
					return
				default:
					seen.Add(1)
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	m.Seen, m.Took = int(seen.Load()), time.Since(began)
	select {
	case <-time.After(5 * time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	m.End, m.Most, err = resident(b.trimtab.pid())
	r.memory = m
	return err
}
