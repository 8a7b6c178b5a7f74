package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

// fault is something that goes wrong with trimtab.
type fault struct {
	name string
	does func(r *report, ctx context.Context, b *bed) error
}

func faults() []fault {
	return []fault{
		{"killed (SIGKILL) and started again", func(r *report, _ context.Context, b *bed) error { return r.restart(b, "kill") }},
		{"killed, absent for two seconds, and started again", func(r *report, ctx context.Context, b *bed) error {
			return r.absent(ctx, b, 2*time.Second)
		}},
		{"told to stop (SIGTERM), drained, and started again", func(r *report, _ context.Context, b *bed) error { return r.restart(b, "drain") }},
		{"told to stop, and killed while it drained", func(r *report, ctx context.Context, b *bed) error {
			b.current().signal(syscall.SIGTERM)
			if err := sleep(ctx, 300*time.Millisecond); err != nil {
				return err
			}
			return r.restart(b, "kill")
		}},
		{"stopped from moving (SIGSTOP) for three seconds", func(_ *report, ctx context.Context, b *bed) error {
			b.current().signal(syscall.SIGSTOP)
			err := sleep(ctx, 3*time.Second)
			b.current().signal(syscall.SIGCONT)
			return err
		}},
		{"given another configuration", reload(larger, good)},
		{"given a configuration that switches it off, and back", reload(off, good)},
		{"given a configuration that is wrong (it stays with the last)", reload(nonsense, good)},
	}
}

func reload(texts ...string) func(*report, context.Context, *bed) error {
	return func(_ *report, ctx context.Context, b *bed) error {
		for _, text := range texts {
			if err := b.configure(text); err != nil {
				return err
			}
			if err := sleep(ctx, time.Second); err != nil {
				return err
			}
		}
		return nil
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// faultsUntil lets faults happen, one after another, until ctx ends.
func (r *report) faultsUntil(ctx context.Context, b *bed) error {
	rng := rand.New(rand.NewPCG(r.options.Seed, 3))
	all := faults()
	var order []int
	r.faults = make([]int, len(all))
	for {
		if len(order) == 0 { // each once before any comes again
			order = rng.Perm(len(all))
		}
		if err := sleep(ctx, 300*time.Millisecond+time.Duration(rng.IntN(1500))*time.Millisecond); err != nil {
			return nil
		}
		if r.load.EnvoyBegin == 0 && time.Since(r.began) > r.options.For/4 {
			var err error
			if r.load.EnvoyBegin, err = resident(b.envoy.PID()); err != nil {
				return err
			}
		}
		n := order[0]
		order = order[1:]
		if err := all[n].does(r, ctx, b); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", all[n].name, err)
		}
		r.faults[n]++
		select {
		case <-b.envoy.Exited():
			return b.envoy.Err()
		default:
		}
	}
}

// restart ends the process in one way or another, and starts a new one.
func (r *report) restart(b *bed, how string) error {
	if how != "kill" {
		if err := r.ask(b); err != nil {
			return err
		}
		b.current().signal(syscall.SIGTERM)
	} else {
		b.current().signal(syscall.SIGKILL)
	}
	s := b.current()
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		s.signal(syscall.SIGKILL)
		<-s.ended
		r.harm.add("a process did not end: %s", s.said)
	}
	r.processes++
	return b.start()
}

func (r *report) absent(ctx context.Context, b *bed, d time.Duration) error {
	b.current().signal(syscall.SIGKILL)
	<-b.current().ended
	if err := sleep(ctx, d); err != nil {
		return err
	}
	return r.restart(b, "kill")
}

// ask reads what a process says of itself before it ends.
func (r *report) ask(b *bed) error {
	stats, err := b.current().stats()
	if err != nil {
		return err
	}
	for _, key := range []string{"prefix_violations", "panics"} {
		if stats[key] != 0.0 {
			r.harm.add("%s: %v", key, stats[key])
		}
	}
	rss, err := resident(b.current().cmd.Process.Pid)
	r.load.Ended = max(r.load.Ended, rss)
	return err
}
