package envoytest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/envoy"
	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/internal/up"
)

// Options say what to run.
type Options struct {
	// Root is the checkout, in which `make setup` installed an Envoy.
	Root string
	// Provider is the scripted provider's configuration.
	Provider provider.Config
	// Secure puts the provider behind TLS, so that Envoy speaks HTTP/2 to it.
	Secure bool
	// File is a configuration file; empty: none.
	File string
	// Environ configures trimtab, KEY=VALUE.
	Environ []string
	// Upstream replaces the provider's URL, for tests with a server of their own.
	Upstream string
}

// Rig is a running product with a provider behind it.
type Rig struct {
	*up.Up
	Provider *provider.Server // nil with Options.Upstream
	*record
}

// Start runs everything and ends it with the test. Without an Envoy the test is
// skipped, with the remedy.
func Start(t testing.TB, o Options) *Rig {
	t.Helper()
	r := &Rig{record: newRecord(t)}
	upstream, ca := o.Upstream, ""
	if upstream == "" {
		p, err := provider.New(o.Provider).Start("", o.Secure)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		r.Provider, upstream = p, p.URL
		if o.Secure {
			ca = filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(ca, p.CA, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	log := slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	u, err := up.Start(t.Context(), up.Options{
		Config:      config.Options{File: o.File, Environ: append([]string{"TRIMTAB_ADMIN=127.0.0.1:0"}, o.Environ...)},
		Listen:      "127.0.0.1:0",
		Dir:         o.Root,
		Anthropic:   upstream,
		OpenAI:      upstream,
		UpstreamCA:  ca,
		AccessLog:   r.accessLog,
		Concurrency: 2,
		Version:     "test",
		Log:         log,
		EnvoyLog:    r.logs,
	})
	if errors.Is(err, envoy.ErrNotFound) {
		t.Skip("needs an Envoy: run `make setup`")
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Up = u
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := u.Stop(ctx); err != nil {
			t.Error(err)
		}
		r.show(t)
	})
	return r
}

// Client returns a client of one protocol. Its connections end with the test.
func Client(t testing.TB, http2 bool) *http.Client {
	t.Helper()
	protocols := &http.Protocols{}
	if http2 {
		protocols.SetUnencryptedHTTP2(true)
	} else {
		protocols.SetHTTP1(true)
	}
	transport := &http.Transport{Protocols: protocols, DisableCompression: true, TLSClientConfig: &tls.Config{}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Reply is an answer, read to its end.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Post sends one body, with or without its length, as an SDK of Anthropic would.
func Post(ctx context.Context, c *http.Client, url string, body []byte, length bool, header ...string) (Reply, error) {
	var reader io.Reader = bytes.NewReader(body)
	if !length {
		reader = io.MultiReader(reader) // a reader that can't tell its length
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, reader)
	if err != nil {
		return Reply{}, err
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("anthropic-version", "2023-06-01")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return Reply{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return Reply{Status: resp.StatusCode, Header: resp.Header, Body: data}, err
}
