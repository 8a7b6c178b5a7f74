package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// streamBytes is how large the requests are that are answered by streams.
const streamBytes = 100_000

// streamFigures are delays from the provider's sending to the client's receipt, by
// way: a value for each round.
type streamFigures struct {
	head  map[string][]time.Duration // of the answer's headers, which come first
	event map[string][]time.Duration // the median over the events of a stream
	late  map[string][]time.Duration // the slowest of these
}

// measureStreams measures how much later the parts of a stream come, by turns.
func (r *report) measureStreams(ctx context.Context, o options) error {
	b, err := newBed(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	r.envoy = b.version
	f := &streamFigures{map[string][]time.Duration{}, map[string][]time.Duration{}, map[string][]time.Duration{}}
	for round, end := 0, time.Now().Add(o.Streams); ctx.Err() == nil && (round < 5 || time.Now().Before(end)); round++ {
		t := newTalk(fmt.Sprintf("stream%d", round), streamBytes)
		first := t.body()
		t.turn(turnBytes(streamBytes))
		body := t.stream()
		order := ways()
		order = slices.Concat(order[round%len(order):], order[:round%len(order)])
		for _, way := range order {
			if _, _, err := b.ask(ctx, way, first); err != nil {
				return err
			}
			head, delays, err := b.stream(ctx, way, body)
			if err != nil {
				return err
			}
			if round < 2 {
				continue // warming up
			}
			slices.Sort(delays)
			f.head[way] = append(f.head[way], head)
			f.event[way] = append(f.event[way], median(delays))
			f.late[way] = append(f.late[way], delays[len(delays)-1])
		}
	}
	r.streams = f
	return nil
}

// stream asks for a stream and returns how long its parts were on their way.
func (b *bed) stream(ctx context.Context, way string, body []byte) (head time.Duration, delays []time.Duration, err error) {
	const id = "stream"
	resp, err := b.post(ctx, way, id, body)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	began := time.Now()
	var came []time.Time
	buf := make([]byte, 64<<10)
	for {
		n, err := resp.Body.Read(buf)
		now := time.Now()
		for range bytes.Count(buf[:n], []byte("\n\n")) {
			came = append(came, now)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, nil, err
		}
	}
	s := b.upstream.take(id)
	if s == nil || len(came) != events {
		return 0, nil, fmt.Errorf("%d events of %d came on the way %s", len(came), events, way)
	}
	for i := range came {
		delays = append(delays, came[i].Sub(s.events[i]))
	}
	return began.Sub(s.head), delays, nil
}
