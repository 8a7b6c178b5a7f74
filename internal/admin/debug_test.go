package admin

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ask is a request that came in on an address.
func (r *rig) ask(path, on, authorization string) (int, string) {
	req := httptest.NewRequest(http.MethodGet, path, nil)
	if addr, err := net.ResolveTCPAddr("tcp", on); err == nil {
		req = req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, addr))
	}
	if authorization != "" {
		req.Header.Set("authorization", authorization)
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, req)
	data, _ := io.ReadAll(w.Result().Body)
	return w.Code, string(data)
}

func TestProfilesNeedATokenWhereTheyChangeSomething(t *testing.T) {
	const loopback, elsewhere = "127.0.0.1:9090", "192.0.2.1:9090"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	with, without := newRig(t, "TRIMTAB_ADMIN_TOKEN_FILE="+file), newRig(t)
	const bearer, basic = "Bearer 0123456789abcdef", "Basic eDowMTIzNDU2Nzg5YWJjZGVm"
	for _, c := range []struct {
		name, path, on, authorization string
		rig                           *rig
		want                          int
	}{
		{"look, from here", "/debug/pprof/goroutine?debug=1", loopback, "", without, 200},
		{"list, from here", "/debug/pprof/", "[::1]:1", "", without, 200},
		{"look, from elsewhere", "/debug/pprof/heap", elsewhere, "", without, 401},
		{"look, nobody knows from where", "/debug/pprof/heap", "", "", without, 401},
		{"look, from elsewhere, token", "/debug/pprof/heap", elsewhere, bearer, with, 200},
		{"sample", "/debug/pprof/profile?seconds=1", loopback, "", without, 401},
		{"sample, a token where none is configured", "/debug/pprof/profile?seconds=1", loopback, bearer, without, 401},
		{"sample, no token", "/debug/pprof/profile?seconds=1", loopback, "", with, 401},
		{"sample, empty token", "/debug/pprof/profile?seconds=1", loopback, "Bearer ", with, 401},
		{"sample, another token", "/debug/pprof/profile?seconds=1", loopback, "Bearer 0123456789abcdeg", with, 401},
		{"trace, token as a password", "/debug/pprof/trace?seconds=0.05", loopback, basic, with, 200},
		{"sample for hours", "/debug/pprof/profile?seconds=3600", loopback, bearer, with, 400},
		{"sample for nothing", "/debug/pprof/profile?seconds=-1", loopback, bearer, with, 400},
		{"a difference over time", "/debug/pprof/heap?seconds=1", loopback, "", with, 401},
		{"collect garbage", "/debug/pprof/heap?gc=1", loopback, "", with, 401},
		{"collect garbage, token", "/debug/pprof/heap?gc=1", loopback, bearer, with, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, body := c.rig.ask(c.path, c.on, c.authorization)
			if code != c.want {
				t.Errorf("%d, want %d: %.200s", code, c.want, body)
			}
			if code == 401 && !strings.Contains(body, "admin_token_file") {
				t.Errorf("no remedy: %s", body)
			}
			if strings.Contains(body, "0123456789abcdef") {
				t.Error("the token is told")
			}
		})
	}
	// A new token is in force at once, a lost one refuses all.
	if err := os.WriteFile(file, []byte("fedcba9876543210"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _ := with.ask("/debug/pprof/heap?gc=1", loopback, bearer); code != 401 {
		t.Errorf("the old token: %d", code)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, authorization := range []string{"Bearer fedcba9876543210", "Bearer ", ""} {
		if code, _ := with.ask("/debug/pprof/heap?gc=1", loopback, authorization); code != 401 {
			t.Errorf("no token is left, %q: %d", authorization, code)
		}
	}
}

// The real server's requests from this machine are seen as such.
func TestProfilesOfARunningServer(t *testing.T) {
	r := newRig(t)
	if code, body := r.get(t, "/debug/pprof/goroutine?debug=1"); code != 200 || !strings.Contains(body, "goroutine profile") {
		t.Errorf("%d %.200s", code, body)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		for _, path := range []string{"/", "/stats", "/config", "/metrics", "/debug/pprof/heap", "/healthz"} {
			req := httptest.NewRequest(method, path, nil)
			w := httptest.NewRecorder()
			r.handler.ServeHTTP(w, req)
			if w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
	}
}

func TestExemplarsLinkToTraces(t *testing.T) {
	r := newRig(t)
	s := summary()
	s.Trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	r.metrics.Exchanged(s)
	s.Trace = ""
	r.metrics.Exchanged(s)
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	req.Header.Set("accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, req)
	text := w.Body.String()
	for _, metric := range []string{"trimtab_requests_total{", "trimtab_added_seconds_bucket{", "trimtab_engine_seconds_bucket{"} {
		found := false
		for line := range strings.Lines(text) {
			found = found || strings.HasPrefix(line, metric) && strings.Contains(line, `# {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"}`)
		}
		if !found {
			t.Errorf("%s has no exemplar", metric)
		}
	}
}
