package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// loadFigures are what the load came to.
type loadFigures struct {
	Took                               time.Duration
	Requests, Conversations            atomic.Int64
	Streams, Unknown, HTTP2            atomic.Int64 // of the requests
	Refused, Left                      atomic.Int64 // by the provider; by clients
	Sent, Forwarded                    atomic.Int64 // bytes
	Raw, Rewritten                     atomic.Int64
	Logged, FailedOpen, Violations     int
	Unexplained                        int
	EnvoyBegin, EnvoyEnd, Begin, Ended int64 // resident bytes
}

// agent converses until ctx ends.
func (r *report) agent(ctx context.Context, b *bed, j *judge, n int) {
	rng := rand.New(rand.NewPCG(r.options.Seed, uint64(n)+100))
	clients := newClients()
	defer clients.close()
	for k := 0; ctx.Err() == nil; k++ {
		t := newTalk(rng, fmt.Sprintf("agent-%d-%d", n, k))
		r.load.Conversations.Add(1)
		for turn := range 2 + rng.IntN(14) {
			if ctx.Err() != nil {
				return
			}
			t.read(rng)
			if err := r.turn(b, j, rng, clients, t, turn); err != nil {
				r.harm.add("%s: %v", t.session, err)
			}
			time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
		}
	}
}

// patience bounds a request: nothing that trimtab does may take so long.
const patience = 60 * time.Second

// turn sends one request and checks what became of it.
func (r *report) turn(b *bed, j *judge, rng *rand.Rand, clients *clients, t *talk, turn int) error {
	stream := rng.IntN(10) < 6
	body, err := t.body(stream)
	if err != nil {
		return err
	}
	becomes := j.becomes(t.path, body)
	a := request{path: t.path, id: fmt.Sprint(t.session, "-", turn), body: body, length: rng.IntN(4) > 0}
	want := envoytest.Answer(a.id, stream)
	status := 200
	switch rng.IntN(40) {
	case 0:
		status = [...]int{429, 500, 529, 400}[rng.IntN(4)]
		a.header = []string{envoytest.StatusHeader, strconv.Itoa(status)}
		want = envoytest.ErrorAnswer(a.id, a.header[1])
		r.load.Refused.Add(1)
	case 1:
		a.leave = 1 + rng.IntN(len(want)/2)
		r.load.Left.Add(1)
	}
	client := rng.IntN(2)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got, err := a.send(ctx, clients.list[client], b.url())
	arrived := b.upstream.Take(a.id)

	l := &r.load
	l.Requests.Add(1)
	count(&l.Streams, stream)
	count(&l.Unknown, !a.length)
	count(&l.HTTP2, client == 1)
	l.Sent.Add(int64(len(body)))
	l.Forwarded.Add(int64(len(arrived.Body)))
	switch {
	case err != nil:
		return err
	case got.status != status || a.leave == 0 && got.body != want || !strings.HasPrefix(want, got.body):
		return fmt.Errorf("turn %d: status %d, want %d; %d bytes of an answer of %d", turn, got.status, status, len(got.body), len(want))
	case arrived.Times != 1:
		return fmt.Errorf("turn %d: arrived %d times", turn, arrived.Times)
	case bytes.Equal(arrived.Body, body):
		l.Raw.Add(1)
	case bytes.Equal(arrived.Body, becomes):
		l.Rewritten.Add(1)
	default:
		return fmt.Errorf("turn %d: %d bytes arrived, neither the %d that were sent nor the %d that they become", turn, len(arrived.Body), len(body), len(becomes))
	}
	return nil
}

func count(n *atomic.Int64, when bool) {
	if when {
		n.Add(1)
	}
}

// injectFaults lets agents converse while faults happen.
func (r *report) injectFaults(ctx context.Context, b *bed) error {
	j, err := newJudge()
	if err != nil {
		return err
	}
	b.upstream.Pause = time.Millisecond
	began := time.Now()
	work, cancel := context.WithTimeout(ctx, r.options.For)
	defer cancel()
	var wg sync.WaitGroup
	for n := range r.options.Workers {
		wg.Go(func() { r.agent(work, b, j, n) })
	}
	err = r.faultsUntil(work, b)
	cancel()
	wg.Wait()
	r.load.Took = time.Since(began)
	if err != nil {
		return err
	}
	if err := r.recovered(ctx, b, j); err != nil {
		return err
	}
	return r.readLog(ctx, b)
}

// recovered says that after the last fault all is as it was.
func (r *report) recovered(ctx context.Context, b *bed, j *judge) error {
	if err := b.configure(good); err != nil {
		return err
	}
	if err := r.restart(b, "end"); err != nil {
		return err
	}
	if err := b.awaitHealthy(ctx); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(r.options.Seed, 2))
	clients := newClients()
	defer clients.close()
	t := newTalk(rng, "after-all")
	t.reads = []int{0, 0}
	// Envoy may think of the process that was for another moment.
	const moments = 200
	turn := 0
	for before := r.load.Rewritten.Load(); r.load.Rewritten.Load() == before && turn < moments; turn++ {
		if err := r.turn(b, j, rng, clients, t, turn); err != nil {
			r.harm.add("after all: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	before := r.load.Rewritten.Load()
	const turns = 20
	for turn := range turns {
		t.reads = append(t.reads, 0)
		if err := r.turn(b, j, rng, clients, t, moments+turn); err != nil {
			r.harm.add("after all: %v", err)
		}
	}
	if n := r.load.Rewritten.Load() - before; n != turns {
		r.harm.add("after all only %d of %d requests are rewritten", n, turns)
	}
	if err := r.settled(b); err != nil {
		return err
	}
	var err error
	if r.load.EnvoyEnd, err = resident(b.envoy.PID()); err != nil {
		return err
	}
	return r.ask(b)
}
