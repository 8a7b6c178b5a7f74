package envoy_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trimtab-io/trimtab/envoy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// binary finds the Envoy that `make setup` installs.
func binary(t *testing.T) string {
	t.Helper()
	path, _, err := envoy.Find(t.Context(), "", "..")
	if errors.Is(err, envoy.ErrNotFound) {
		t.Skip("needs an Envoy: run `make setup`")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func upstream(t *testing.T, name, url string) envoy.Upstream {
	t.Helper()
	u, err := envoy.ParseUpstream(name, url, envoy.SystemCAFile)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func options(t *testing.T, url string) envoy.Options {
	t.Helper()
	return envoy.Options{
		Listen:       "127.0.0.1:0",
		ExtProc:      "unix:" + filepath.Join(t.TempDir(), "none.sock"),
		Anthropic:    upstream(t, "anthropic", url),
		OpenAI:       upstream(t, "openai", url),
		Profile:      "default",
		MaxBodyBytes: 32 << 20,
		AccessLog:    os.DevNull,
	}
}

func TestEnvoyAcceptsEveryShapeOfConfiguration(t *testing.T) {
	bin := binary(t)
	for name, change := range map[string]func(*envoy.Options){
		"http by address": func(*envoy.Options) {},
		"https by name":   func(o *envoy.Options) { o.Anthropic = upstream(t, "anthropic", "https://api.anthropic.com") },
		"https by address": func(o *envoy.Options) {
			o.Anthropic = upstream(t, "anthropic", "https://127.0.0.1:8443/base/")
		},
		"server over TCP":          func(o *envoy.Options) { o.ExtProc = "localhost:9000" },
		"no profile and no log":    func(o *envoy.Options) { o.Profile, o.AccessLog = "", "" },
		"listening on all, IPv6":   func(o *envoy.Options) { o.Listen = "[::]:10000" },
		"an admin address of TCP":  func(o *envoy.Options) { o.Admin = "127.0.0.1:9901" },
		"an admin address of unix": func(o *envoy.Options) { o.Admin = "unix:/tmp/x.sock" },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, "http://127.0.0.1:8080")
			change(&o)
			b, err := envoy.Bootstrap(o)
			if err != nil {
				t.Fatal(err)
			}
			text, err := envoy.YAML(b)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "envoy.yaml")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := envoy.Validate(t.Context(), bin, file); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

func TestParseUpstreamRefuses(t *testing.T) {
	for name, c := range map[string]struct{ url, want string }{
		"no scheme": {"api.anthropic.com", "neither an http nor an https URL"},
		"scheme":    {"ftp://x", "neither an http nor an https URL"},
		"no host":   {"https:///v1", "names no host"},
		"query":     {"https://x/?key=1", "no query, user or fragment"},
		"user":      {"https://u:p@x/", "no query, user or fragment"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := envoy.ParseUpstream("anthropic", c.url, "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestFindSaysWhatIsWrong(t *testing.T) {
	script := func(t *testing.T, version string) string {
		file := filepath.Join(t.TempDir(), "envoy")
		text := "#!/bin/sh\necho 'envoy  version: abc/" + version + "/Clean/RELEASE/BoringSSL'\n"
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for version, want := range map[string]string{
		"1.40.0": "", "1.40.3-dev": "", "1.41.0": "", "2.0.0": "",
		"1.39.9": "trimtab needs 1.40 or newer", "1.4.0": "trimtab needs 1.40 or newer",
		"none": "does not tell its version",
	} {
		t.Run(version, func(t *testing.T) {
			_, _, err := envoy.Find(t.Context(), script(t, version), "")
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	if _, _, err := envoy.Find(t.Context(), filepath.Join(t.TempDir(), "nowhere"), ""); err == nil {
		t.Error("a missing binary is found")
	}
}

// Every path reaches its provider, with its prefix taken off, under the
// provider's own name and without the headers that speak to trimtab, although
// the gRPC server is down.
func TestRoutes(t *testing.T) {
	bin := binary(t)
	echo := func(name string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("x-seen", name+" "+r.URL.Path)
			for h := range r.Header {
				if h := strings.ToLower(h); strings.HasPrefix(h, "x-trimtab-") || strings.HasPrefix(h, "x-context-guru-") || strings.HasPrefix(h, "x-envoy-") || h == "x-request-id" {
					w.Header().Add("x-leaked", h)
				}
			}
			w.Header().Set("x-host", r.Host)
		}))
		t.Cleanup(s.Close)
		return s
	}
	anthropic, openai := echo("anthropic"), echo("openai")
	o := options(t, "http://127.0.0.1:1")
	o.Anthropic, o.OpenAI = upstream(t, "anthropic", anthropic.URL), upstream(t, "openai", openai.URL+"/base")
	p, err := envoy.Start(t.Context(), envoy.StartOptions{Binary: bin, Options: o, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, c := range []struct {
		path, want string
		version    bool
	}{
		{"/v1/messages", "anthropic /v1/messages", true},
		{"/v1/messages/count_tokens", "anthropic /v1/messages/count_tokens", true},
		{"/anthropic/v1/messages", "anthropic /v1/messages", false},
		{"/anthropic/v1/models", "anthropic /v1/models", false},
		{"/v1/chat/completions", "openai /base/v1/chat/completions", false},
		{"/v1/responses", "openai /base/v1/responses", false},
		{"/openai/v1/chat/completions", "openai /base/v1/chat/completions", false},
		{"/v1/models", "openai /base/v1/models", false},
		{"/v1/models", "anthropic /v1/models", true},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.Addr()+c.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if c.version {
			req.Header.Set("anthropic-version", "2023-06-01")
		}
		req.Header.Set("x-trimtab-session", "s")
		req.Header.Set("x-context-guru-bypass", "1")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("x-seen"); got != c.want {
			t.Errorf("%s (version %v): %q, want %q", c.path, c.version, got, c.want)
		}
		if got := resp.Header.Values("x-leaked"); len(got) > 0 {
			t.Errorf("%s: headers reach the provider: %v", c.path, got)
		}
		if host := strings.TrimPrefix(anthropic.URL, "http://"); strings.HasPrefix(c.want, "anthropic") && resp.Header.Get("x-host") != host {
			t.Errorf("%s: host %q, want %q", c.path, resp.Header.Get("x-host"), host)
		}
	}
}

// A request for a WebSocket is answered at once with 426, at which agents go on
// without one; a header alone is no such request.
func TestWebSocketsAreRefused(t *testing.T) {
	seen := make(chan string, 8)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Method }))
	defer s.Close()
	p, err := envoy.Start(t.Context(), envoy.StartOptions{Binary: binary(t), Options: options(t, s.URL), Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, c := range []struct {
		method, path, connection, upgrade string
		want                              int
	}{
		{http.MethodGet, "/v1/responses", "Upgrade", "websocket", http.StatusUpgradeRequired},
		{http.MethodGet, "/openai/v1/responses", "keep-alive, Upgrade", "WebSocket", http.StatusUpgradeRequired},
		{http.MethodPost, "/v1/responses", "Upgrade", "websocket", http.StatusUpgradeRequired},
		{http.MethodGet, "/v1/responses", "Upgrade", "other", http.StatusForbidden},
		{http.MethodGet, "/v1/responses", "", "", http.StatusOK},
		{http.MethodPost, "/v1/responses", "", "websocket", http.StatusOK},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+p.Addr()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.connection != "" {
			req.Header.Set("connection", c.connection)
			req.Header.Set("sec-websocket-version", "13")
			req.Header.Set("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA==")
		}
		if c.upgrade != "" {
			req.Header.Set("upgrade", c.upgrade)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want || len(seen) > 0 != (c.want == http.StatusOK) {
			t.Errorf("%s %s, %q %q: %d, want %d; %d reached the provider", c.method, c.path, c.connection, c.upgrade, resp.StatusCode, c.want, len(seen))
		}
		for len(seen) > 0 {
			<-seen
		}
	}
}

func TestStopLeavesNothingBehind(t *testing.T) {
	bin := binary(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	p, err := envoy.Start(t.Context(), envoy.StartOptions{Binary: bin, Options: options(t, "http://127.0.0.1:1"), Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	if p.ServerHealthy(t.Context()) {
		t.Error("a server that is not there is healthy")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(p.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d: %v", p.PID(), err)
	}
	left, err := filepath.Glob(filepath.Join(tmp, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestStartSaysWhyItFailed(t *testing.T) {
	bin := binary(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	o := options(t, "http://127.0.0.1:1")
	o.Listen = "192.0.2.1:1" // no address of this machine
	_, err := envoy.Start(t.Context(), envoy.StartOptions{Binary: bin, Options: o, Concurrency: 1})
	if err == nil || !strings.Contains(err.Error(), "192.0.2.1") {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
