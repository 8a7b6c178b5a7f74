package envoytest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Headers that are unknown to trimtab and reach the upstream as they were sent.
const (
	// IDHeader names a request.
	IDHeader = "x-test-id"
	// StatusHeader asks for another status than 200, with ErrorAnswer.
	StatusHeader = "x-test-status"
	// EventsHeader asks for a number of events, PauseHeader for a time between them.
	EventsHeader = "x-test-events"
	PauseHeader  = "x-test-pause"
)

// Upstream is a provider whose answers are known in advance, byte for byte, and
// that can be told to wait.
type Upstream struct {
	URL string
	// Pause is between the events of a stream.
	Pause time.Duration

	mu    sync.Mutex
	got   map[string]Arrival
	holds map[string]func(point string)
}

// Arrival is a request as it reached the upstream.
type Arrival struct {
	Times  int // more than once: somebody tried again
	Method string
	Path   string // with its query
	Header http.Header
	Body   []byte
}

// The points at which an upstream can be told to wait.
const (
	BeforeHeaders = "before headers"
	BeforeBody    = "before body"
	MidStream     = "mid stream"
)

// Events is how many events a stream has before its end.
const Events = 20

// NewUpstream returns a handler; its URL is whoever's that serves it.
func NewUpstream() *Upstream {
	return &Upstream{got: map[string]Arrival{}, holds: map[string]func(string){}}
}

// StartUpstream serves until the end of the test.
func StartUpstream(t testing.TB) *Upstream {
	u := NewUpstream()
	s := httptest.NewServer(u)
	t.Cleanup(s.Close)
	u.URL = s.URL
	return u
}

// Hold calls wait at each point of the answer to one request.
func (u *Upstream) Hold(id string, wait func(point string)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.holds[id] = wait
}

// Take returns what arrived of one request, and forgets it.
func (u *Upstream) Take(id string) Arrival {
	u.mu.Lock()
	defer u.mu.Unlock()
	a := u.got[id]
	delete(u.got, id)
	delete(u.holds, id)
	return a
}

// Answer is what a request gets, whole.
func Answer(id string, stream bool) string {
	if !stream {
		return fmt.Sprintf(`{"id":"msg_%s","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}],"usage":{"input_tokens":5,"cache_read_input_tokens":100,"output_tokens":7}}`, id, strings.Repeat("done ", 200))
	}
	return Stream(id, Events)
}

// Stream is what a request gets that asks for a number of events.
func Stream(id string, events int) string {
	var b strings.Builder
	for i := range events + 2 {
		b.WriteString(event(id, i, events))
	}
	return b.String()
}

// ErrorAnswer is what a request gets that asks for another status.
func ErrorAnswer(id, status string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":"api_error","message":"%s of %s"}}`, status, id)
}

func event(id string, i, events int) string {
	switch i {
	case 0:
		return fmt.Sprintf("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_%s\",\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":100,\"output_tokens\":1}}}\n\n", id)
	case events + 1:
		return "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	}
	return fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s-%d\"}}\n\n", id, i)
}

// ServeHTTP implements http.Handler. A body that asks for a stream gets one.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(IDHeader)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // cut off: it has not arrived
	}
	u.mu.Lock()
	u.got[id] = Arrival{Times: u.got[id].Times + 1, Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body}
	wait := u.holds[id]
	u.mu.Unlock()
	if wait == nil {
		wait = func(string) {}
	}
	wait(BeforeHeaders)
	if status, err := strconv.Atoi(r.Header.Get(StatusHeader)); err == nil {
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, ErrorAnswer(id, r.Header.Get(StatusHeader)))
		return
	}
	if !Streams(body) {
		w.Header().Set("content-type", "application/json")
		w.Header().Set("content-length", fmt.Sprint(len(Answer(id, false))))
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		wait(BeforeBody)
		io.WriteString(w, Answer(id, false))
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	wait(BeforeBody)
	events, pause := Events, u.Pause
	if n, err := strconv.Atoi(r.Header.Get(EventsHeader)); err == nil {
		events = n
	}
	if d, err := time.ParseDuration(r.Header.Get(PauseHeader)); err == nil {
		pause = d
	}
	for i := range events + 2 {
		if i == events/2 {
			wait(MidStream)
		}
		io.WriteString(w, event(id, i, events))
		w.(http.Flusher).Flush()
		select {
		case <-time.After(pause):
		case <-r.Context().Done():
			return
		}
	}
}

// Streams says that a body asks for its answer as a stream.
func Streams(body []byte) bool { return strings.Contains(string(body), `"stream":true`) }
