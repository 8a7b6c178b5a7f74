package provider

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// maxBody is the largest request that is taken, after decoding: the real limit
// of Anthropic's API.
const maxBody = 32 << 20

// Config says how a Provider behaves. The zero value is usable.
type Config struct {
	// Script is what the model answers, one answer for each time it speaks: to a
	// request in which it has spoken k times already it gives Script[k]. A request
	// that does not declare the tools of its answer gets a text: agents send
	// requests beside the conversation, for a title or a summary. After the last
	// answer, and without a script, answers are generated.
	Script []Answer
	// Rounds is how often a generated model calls tools before it ends with a
	// text; 0 means 12.
	Rounds int
	// Count counts tokens for the bill; nil means a quarter of the bytes.
	Count func(string) int
	// Now is the clock of the prompt cache; nil means time.Now.
	Now func() time.Time
	// Key signs thinking and reasoning; nil means a fixed key.
	Key []byte
	// AnySignature accepts thinking and reasoning that this provider did not
	// sign, as in conversations recorded elsewhere.
	AnySignature bool
	// Chunks are the sizes in which streams are cut, used in turn; nil means
	// sizes that cut lines, events, escapes and characters.
	Chunks []int
	// LineEnd ends the lines of streams; empty means "\n".
	LineEnd string
	// Gzip compresses answers where the client accepts it, as the real
	// providers' front ends do.
	Gzip bool
	// Keep is how many requests are remembered, the newest; 0 means 256.
	Keep int
}

// Received is one request as it arrived, and what became of it.
type Received struct {
	Method, Path string
	Query        string // as sent, without the question mark
	Header       http.Header
	Body         []byte // exact bytes, as sent
	Status       int    // of the answer
	// Violations are the rules it broke; the answer is then an error.
	Violations []Violation
	// Usage is what the answer billed, whole input and output.
	Usage promptcache.Usage
}

// Provider is an http.Handler that is safe for concurrent use.
type Provider struct {
	cfg     Config
	counter *promptcache.BlockCounter

	mu       sync.Mutex
	cache    *promptcache.Simulator
	received []Received
	failures []int
	held     heldResponses
}

var _ http.Handler = (*Provider)(nil)

// New returns a provider with an empty prompt cache.
func New(cfg Config) *Provider {
	if cfg.Rounds == 0 {
		cfg.Rounds = 12
	}
	if cfg.Count == nil {
		cfg.Count = func(s string) int { return (len(s) + 3) / 4 }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Key == nil {
		cfg.Key = []byte("the scripted provider's own key")
	}
	if cfg.Chunks == nil {
		cfg.Chunks = []int{1, 2, 61, 3, 257, 1021, 7}
	}
	if cfg.LineEnd == "" {
		cfg.LineEnd = "\n"
	}
	if cfg.Keep == 0 {
		cfg.Keep = 256
	}
	counter := promptcache.NewBlockCounter(cfg.Count)
	return &Provider{cfg: cfg, counter: counter, cache: promptcache.NewSimulator(counter)}
}

// Received returns the requests so far, oldest first.
func (p *Provider) Received() []Received {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Received(nil), p.received...)
}

// Fail makes the next requests fail with the given statuses, one each: 429, 500,
// 529 with the error of that status. A failed request is neither billed nor cached.
func (p *Provider) Fail(statuses ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = append(p.failures, statuses...)
}

// ServeHTTP answers one request.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ex := &exchange{p: p, w: w, r: r, record: Received{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone()}}
	err := ex.readBody()
	if err == nil {
		err = ex.serve()
	}
	if err != nil {
		ex.fail(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, ex.record)
	if n := len(p.received) - p.cfg.Keep; n > 0 {
		p.received = append(p.received[:0:0], p.received[n:]...)
	}
}

// exchange is one request and its answer.
type exchange struct {
	p      *Provider
	w      http.ResponseWriter
	r      *http.Request
	wire   promptcache.Wire
	body   []byte // decoded
	record Received
}

func (ex *exchange) readBody() error {
	raw, err := io.ReadAll(http.MaxBytesReader(ex.w, ex.r.Body, maxBody))
	ex.record.Body = raw
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return &apiError{status: http.StatusRequestEntityTooLarge, message: "Request exceeds the maximum allowed number of bytes."}
		}
		return err
	}
	var src io.Reader = bytes.NewReader(raw)
	switch ex.r.Header.Get("Content-Encoding") {
	case "", "identity":
		ex.body = raw
		return nil
	case "gzip":
		src, err = gzip.NewReader(src)
	case "zstd":
		src, err = zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody))
	default:
		return badRequest("", "content encoding is not supported")
	}
	if err == nil {
		ex.body, err = io.ReadAll(io.LimitReader(src, maxBody))
	}
	if err != nil {
		return badRequest("", "the body can't be decoded")
	}
	return nil
}

// serve finds the endpoint. It returns an error until it has begun to answer.
func (ex *exchange) serve() error {
	path := strings.TrimSuffix(ex.r.URL.Path, "/")
	if ex.r.Method == http.MethodGet && path == "/v1/models" {
		return ex.serveModels()
	}
	serve, ok := map[string]func(*exchange) error{
		"/v1/messages":              (*exchange).serveMessages,
		"/v1/messages/count_tokens": (*exchange).serveCountTokens,
		"/v1/chat/completions":      (*exchange).serveChat,
		"/v1/responses":             (*exchange).serveResponses,
	}[path]
	switch {
	case !ok:
		return &apiError{status: http.StatusNotFound, message: "Not found"}
	case ex.r.Method != http.MethodPost:
		return &apiError{status: http.StatusMethodNotAllowed, message: "Method Not Allowed"}
	}
	ex.wire = promptcache.WireAnthropic
	switch path {
	case "/v1/chat/completions":
		ex.wire = promptcache.WireChat
	case "/v1/responses":
		ex.wire = promptcache.WireResponses
	}
	if status := ex.p.nextFailure(); status != 0 {
		return &apiError{status: status, message: http.StatusText(status)}
	}
	return serve(ex)
}

func (p *Provider) nextFailure() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.failures) == 0 {
		return 0
	}
	status := p.failures[0]
	p.failures = p.failures[1:]
	return status
}

// bill charges a body that is going to be answered.
func (ex *exchange) bill(body []byte) (promptcache.Usage, error) {
	ex.p.mu.Lock()
	defer ex.p.mu.Unlock()
	now := float64(ex.p.cfg.Now().UnixNano()) / float64(time.Second)
	u, err := ex.p.cache.Bill(ex.wire, body, now)
	if err != nil {
		return u, badRequest("", "the body can't be read")
	}
	return u, nil
}
