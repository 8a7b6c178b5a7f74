package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// clients speak both protocols.
type clients struct{ list []*http.Client }

func newClients() *clients {
	c := &clients{}
	for _, http2 := range []bool{false, true} {
		protocols := &http.Protocols{}
		protocols.SetHTTP1(!http2)
		protocols.SetUnencryptedHTTP2(http2)
		c.list = append(c.list, &http.Client{Transport: &http.Transport{
			Protocols: protocols, DisableCompression: true, MaxIdleConnsPerHost: 64,
		}})
	}
	return c
}

func (c *clients) pick(r *rand.Rand) *http.Client { return c.list[r.IntN(len(c.list))] }

func (c *clients) close() {
	for _, client := range c.list {
		client.CloseIdleConnections()
	}
}

// request is one request of an agent.
type request struct {
	path, id string
	body     []byte
	length   bool     // whether it tells its length
	header   []string // pairs
	begun    func()   // called when the answer begins; nil: nobody
	leave    int      // leave after so many bytes of the answer; 0: stay
}

// reply is an answer as far as it was read.
type reply struct {
	status int
	body   string
}

func (a request) send(ctx context.Context, client *http.Client, url string) (reply, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var body io.Reader = bytes.NewReader(a.body)
	if !a.length {
		body = io.MultiReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+a.path, body)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("content-type", "application/json")
	if a.path == paths[0] {
		req.Header.Set("anthropic-version", "2023-06-01")
	}
	req.Header.Set(envoytest.IDHeader, a.id)
	for pair := range slices.Chunk(a.header, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	if a.begun != nil {
		a.begun()
	}
	out := reply{status: resp.StatusCode}
	var from io.Reader = resp.Body
	if a.leave > 0 {
		from = io.LimitReader(from, int64(a.leave))
	}
	data, err := io.ReadAll(from)
	out.body = string(data)
	return out, err
}

// harms are the things that went wrong.
type harms struct {
	mu    sync.Mutex
	n     int
	lines []string
}

func (h *harms) add(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n++; len(h.lines) < 20 {
		h.lines = append(h.lines, fmt.Sprintf(format, args...))
	}
}

func (h *harms) total() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

func (h *harms) first() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lines)
}
