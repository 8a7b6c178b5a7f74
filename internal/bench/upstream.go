package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// idHeader names a request that wants its answer as a stream.
	idHeader = "x-bench-id"
	// arrivedHeader tells how many bytes of the body have reached the provider.
	arrivedHeader = "x-bench-arrived"
)

// upstream is a provider that answers at once, and notes when it sends what of a
// stream.
type upstream struct {
	every time.Duration // between the events of a stream

	mu   sync.Mutex
	sent map[string]*sent
}

// sent is when the parts of a stream were handed to the kernel.
type sent struct {
	head   time.Time
	events []time.Time
}

func newUpstream() *upstream { return &upstream{every: 2 * time.Millisecond, sent: map[string]*sent{}} }

// take returns what is noted of a stream that has ended.
func (u *upstream) take(id string) *sent {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.sent[id]
	delete(u.sent, id)
	return s
}

const wholeAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":5,"cache_read_input_tokens":100,"output_tokens":7}}`

// ServeHTTP implements http.Handler.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return // cut off
	}
	w.Header().Set(arrivedHeader, strconv.FormatInt(n, 10))
	id := r.Header.Get(idHeader)
	if id == "" {
		w.Header().Set("content-type", "application/json")
		w.Header().Set("content-length", strconv.Itoa(len(wholeAnswer)))
		io.WriteString(w, wholeAnswer)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	s := &sent{events: make([]time.Time, 0, events)}
	flush := w.(http.Flusher).Flush
	s.head = time.Now()
	flush()
	for i := range events {
		time.Sleep(u.every)
		text := event(i)
		s.events = append(s.events, time.Now())
		io.WriteString(w, text)
		if i == events-1 {
			u.mu.Lock()
			u.sent[id] = s
			u.mu.Unlock()
		}
		flush()
	}
}

// events is how many a stream has.
const events = 20

func event(i int) string {
	switch i {
	case 0:
		return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":100,\"output_tokens\":1}}}\n\n"
	case events - 1:
		return "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":7}}\n\n"
	}
	return fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s %d\"}}\n\n", strings.Repeat("word ", 4), i)
}
