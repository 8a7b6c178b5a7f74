package demo

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/trimtab-io/trimtab/internal/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) (*Demo, *provider.Server) {
	t.Helper()
	d, err := New()
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Provider().Start("", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, s
}

// Without anything in between, what the provider bills is what is simulated.
func TestRunUntouched(t *testing.T) {
	d, s := start(t)
	var out bytes.Buffer
	sum, err := d.Run(t.Context(), s.URL, &out)
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Turns) != 12 || sum.Saved() != 0 || sum.Rewritten != 0 || sum.Broken != nil || sum.CostBefore == 0 {
		t.Errorf("%d turns, saved %v, rewritten %d, broken %v", len(sum.Turns), sum.Saved(), sum.Rewritten, sum.Broken)
	}
	for i, turn := range sum.Turns {
		if turn.Before != turn.After {
			t.Errorf("turn %d: simulated %+v, billed %+v", i+1, turn.Before, turn.After)
		}
	}
	if n := strings.Count(out.String(), "\n"); n < 14 {
		t.Errorf("printed %d lines:\n%s", n, out.String())
	}
}

// What is shortened on the way is seen, and so is what changes the cached part.
func TestRunThroughRewriter(t *testing.T) {
	d, s := start(t)
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	requests := 0
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		body, err := io.ReadAll(r.In.Body)
		if err != nil {
			t.Error(err)
		}
		if requests++; requests != 6 { // the sixth turn goes out as it came
			body = bytes.ReplaceAll(body, []byte("parametrize"), []byte("p"))
		}
		r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}}
	front := httptest.NewServer(proxy)
	defer transport.CloseIdleConnections()
	defer front.Close()
	sum, err := d.Run(t.Context(), front.URL, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if sum.BytesAfter >= sum.BytesBefore || sum.Rewritten != 2 {
		t.Errorf("%d bytes became %d; %d blocks rewritten, want one there and back", sum.BytesBefore, sum.BytesAfter, sum.Rewritten)
	}
}

func TestRunFails(t *testing.T) {
	d, s := start(t)
	d.Provider().Fail(529)
	if _, err := d.Run(t.Context(), s.URL, io.Discard); err == nil || !strings.Contains(err.Error(), "turn 1: 529") {
		t.Errorf("error %v", err)
	}
	elsewhere := httptest.NewServer(provider.New(provider.Config{}))
	defer elsewhere.Close()
	if _, err := d.Run(t.Context(), elsewhere.URL, io.Discard); err == nil || !strings.Contains(err.Error(), "does not lead to it") {
		t.Errorf("error %v", err)
	}
}
