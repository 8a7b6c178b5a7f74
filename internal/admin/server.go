package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/trimtab-io/trimtab/internal/config"
)

// Handler serves the admin routes. Call it once per Metrics.
func Handler(s Sources, m *Metrics) (http.Handler, error) {
	if err := m.registry.Register(newReader(s)); err != nil {
		return nil, fmt.Errorf("admin metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", index)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		families, err := m.registry.Gather()
		if err != nil {
			http.Error(w, "metrics can't be gathered", http.StatusInternalServerError)
			return
		}
		writeJSON(w, http.StatusOK, stats(families))
	})
	mux.HandleFunc("GET /config", s.config)
	s.profiles(mux)
	return mux, nil
}

func index(w http.ResponseWriter, _ *http.Request) {
	w.Write([]byte(`trimtab
/healthz  the process is alive
/readyz   it can serve
/metrics  for Prometheus
/stats    numbers, with a reason for each that is zero
/config   what is in force, and where each value came from
/debug/pprof/  Go's profiles; profile, trace and what comes from elsewhere need the token
`))
}

func (s Sources) ready(w http.ResponseWriter, _ *http.Request) {
	why := s.NotReady()
	status := http.StatusOK
	if len(why) > 0 {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, map[string]any{"ready": len(why) == 0, "because": append([]string{}, why...)})
}

// config shows the values in force. It holds no secret: a secret is only ever
// named by its file.
func (s Sources) config(w http.ResponseWriter, r *http.Request) {
	e, status := s.Config()
	if r.URL.Query().Get("format") == "yaml" {
		w.Header().Set("content-type", "application/yaml")
		w.Write(e.YAML())
		return
	}
	out := struct {
		Version     string            `json:"version"`
		Loaded      time.Time         `json:"loaded"`
		Refused     string            `json:"refused,omitempty"` // why the newest is not in force
		Generations map[string]string `json:"generations"`
		Notes       []string          `json:"notes"`
		Settings    []config.Setting  `json:"settings"`
	}{s.Version, status.Loaded, "", s.Generations(), []string{}, e.Settings()}
	if status.Err != nil {
		out.Refused = status.Err.Error()
	}
	for _, n := range e.Notes {
		out.Notes = append(out.Notes, fmt.Sprintf("%s: %s", n.Origin, n.Text))
	}
	out.Notes = append(out.Notes, s.Warnings()...)
	writeJSON(w, http.StatusOK, out)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, "can't be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n'))
}

// Server serves a handler on an address of its own.
type Server struct {
	http  *http.Server
	addr  string
	done  chan error
	close func() error
}

// Serve starts to listen on addr, HOST:PORT.
func Serve(ctx context.Context, addr string, h http.Handler) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for the admin server: %w", err)
	}
	s := &Server{
		http: &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute},
		addr: l.Addr().String(),
		done: make(chan error, 1),
	}
	go func() { s.done <- s.http.Serve(l) }()
	s.close = sync.OnceValue(s.end)
	return s, nil
}

// Addr is where it listens, HOST:PORT.
func (s *Server) Addr() string { return s.addr }

// Close ends the server, open requests included. It may be called again.
func (s *Server) Close() error { return s.close() }

func (s *Server) end() error {
	s.http.Close()
	if err := <-s.done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin server: %w", err)
	}
	return nil
}
