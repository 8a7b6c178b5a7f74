package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/trimtab-io/trimtab/extproc"
	"github.com/trimtab-io/trimtab/internal/admin"
	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// Options are what a Service is made of.
type Options struct {
	Config  config.Options
	Version string
	// Log gets what an operator should know; nil: slog's default.
	Log *slog.Logger
	// Now is the clock of requests; nil: time.Now.
	Now func() time.Time
	// GRPC are options of the gRPC server besides the product's own.
	GRPC []grpc.ServerOption
}

// Service is one trimtab process without an Envoy. Its methods are safe for
// concurrent use.
type Service struct {
	log     *slog.Logger
	watcher *config.Watcher
	engine  *pipeline.Engine
	facts   *memory.Facts
	texts   *memory.Texts
	metrics *admin.Metrics
	server  *extproc.Server
	grpc    *extproc.GRPC
	admin   *admin.Server
	address net.Addr

	maxBody  int64 // of a gRPC message; fixed at the start
	settings atomic.Pointer[extproc.Settings]
	warnings atomic.Pointer[[]string]
	draining atomic.Bool
	served   chan error
}

// Start loads the configuration and begins to serve Envoy and the admin routes.
// Stop must be called afterwards.
func Start(ctx context.Context, o Options) (*Service, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	w, err := config.NewWatcher(o.Config, nil)
	if err != nil {
		return nil, err
	}
	e := w.Current()
	key, err := secret(e.SecretFile)
	if err != nil {
		return nil, err
	}
	s := &Service{
		log: o.Log, watcher: w, metrics: admin.NewMetrics(o.Version), maxBody: e.MaxBodyBytes(),
		facts: memory.NewFacts(memory.FactsOptions{}), texts: memory.NewTexts(memory.TextsOptions{}),
		served: make(chan error, 1),
	}
	s.engine = pipeline.New(pipeline.Options{
		Secret:   key,
		Store:    store.Store{Level: store.Everything, Facts: s.facts, Texts: s.texts},
		Verifier: verify.New(),
	})
	if err := s.apply(e); err != nil {
		return nil, err
	}
	for _, n := range e.Notes {
		s.log.Info("configuration note", "at", string(n.Origin), "note", n.Text)
	}
	if err := s.listen(ctx, e, o); err != nil {
		return nil, err
	}
	return s, nil
}

// minSecret is the shortest secret, in bytes, that can't be guessed.
const minSecret = 16

func secret(file string) ([]byte, error) {
	if file == "" {
		key := make([]byte, 32)
		rand.Read(key) // never fails
		return key, nil
	}
	key, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("secret_file: %w", err)
	}
	if len(key) < minSecret {
		return nil, fmt.Errorf("secret_file: %s has %d bytes; a secret needs at least %d", file, len(key), minSecret)
	}
	return key, nil
}

// apply puts a configuration in force, or refuses it whole.
func (s *Service) apply(e *config.Effective) error {
	profiles, warnings, err := Profiles(e)
	if err != nil {
		return err
	}
	if e.AdminTokenFile != "" {
		if _, err := admin.ReadToken(e.AdminTokenFile); err != nil {
			return err
		}
	}
	set := &extproc.Settings{
		Profiles:         map[string]extproc.Limits{},
		Default:          e.DefaultProfile,
		MaxBytesInFlight: e.MaxBytesInFlight,
		TrustSession:     e.Trusted.Session,
		TrustAgent:       e.Trusted.Agent,
		TrustBypass:      e.Trusted.Bypass,
		TrustProfile:     e.Trusted.Profile,
	}
	for name, p := range e.Profiles {
		if p.Limits.MaxBodyBytes > s.maxBody {
			warnings = append(warnings, fmt.Sprintf("profile %s: max_body_bytes above %d needs a restart", name, s.maxBody))
		}
		set.Profiles[name] = extproc.Limits{
			MaxBodyBytes: min(p.Limits.MaxBodyBytes, s.maxBody),
			MaxExpansion: p.Limits.MaxExpansion,
			Deadline:     p.Limits.Deadline,
		}
	}
	for _, text := range warnings {
		s.log.Warn("configuration warning", "warning", text)
	}
	s.engine.Apply(profiles, e.DefaultProfile)
	s.settings.Store(set)
	s.warnings.Store(&warnings)
	return nil
}

func (s *Service) listen(ctx context.Context, e *config.Effective, o Options) error {
	var err error
	s.server, err = extproc.New(extproc.Options{
		Rewrite: func(ctx context.Context, r pipeline.Request) extproc.Exchange {
			return s.engine.Rewrite(ctx, r)
		},
		Settings: s.settings.Load,
		Observer: s.metrics,
		Log:      s.log,
		Now:      o.Now,
	})
	if err != nil {
		return err
	}
	handler, err := admin.Handler(admin.Sources{
		Version:     o.Version,
		Config:      func() (*config.Effective, config.Status) { return s.watcher.Current(), s.watcher.Status() },
		Generations: func() map[string]string { ids, _ := s.engine.Generations(); return ids },
		Load:        s.load,
		NotReady:    s.notReady,
		Warnings:    func() []string { return *s.warnings.Load() },
	}, s.metrics)
	if err != nil {
		return err
	}
	if s.admin, err = admin.Serve(ctx, e.Admin, handler); err != nil {
		return err
	}
	l, err := extproc.Listen(ctx, e.GRPC)
	if err != nil {
		return errors.Join(err, s.admin.Close())
	}
	s.address = l.Addr()
	s.grpc = extproc.NewGRPC(s.server, s.maxBody, o.GRPC...)
	go func() { s.served <- s.grpc.Serve(l) }()
	return nil
}

func (s *Service) load() admin.Load {
	streams, bytes := s.server.InFlight()
	return admin.Load{
		Exchanges: streams, Bytes: bytes, MaxBytes: s.settings.Load().MaxBytesInFlight,
		Engine: s.engine.Stats(), Facts: s.facts.Stats(), Texts: s.texts.Stats(),
	}
}

func (s *Service) notReady() []string {
	if s.draining.Load() {
		return []string{"the process is draining: it has been told to stop"}
	}
	return nil
}

// Config is the configuration in force.
func (s *Service) Config() *config.Effective { return s.watcher.Current() }

// Admin is the address of the admin server, HOST:PORT.
func (s *Service) Admin() string { return s.admin.Addr() }

// Address is where Envoy reaches the server, unix:PATH or HOST:PORT.
func (s *Service) Address() string {
	if s.address.Network() == "unix" {
		return "unix:" + s.address.String()
	}
	return s.address.String()
}

// Served delivers an error if the server ends by itself.
func (s *Service) Served() <-chan error { return s.served }

// Summary is what the process has done, in one line.
func (s *Service) Summary() string {
	text, err := s.metrics.Summary()
	if err != nil {
		return err.Error()
	}
	return text
}

// Watch follows changes of the configuration until ctx ends.
func (s *Service) Watch(ctx context.Context, hangup <-chan os.Signal) error {
	return s.watcher.Run(ctx, hangup, s.apply, func(e *config.Effective, err error) {
		if err != nil {
			s.log.Error("the changed configuration is refused; the last good one stays in force", "error", err)
			return
		}
		for _, n := range e.Notes {
			s.log.Info("configuration note", "at", string(n.Origin), "note", n.Text)
		}
		s.log.Info("the changed configuration is in force; conversations under way keep theirs; grpc, admin, secret_file and log need a restart")
	})
}

// Stop reports to Envoy that the process ends, lets open exchanges finish, and
// ends all servers, at the latest when ctx does. delay is how long it goes on
// serving after its report.
func (s *Service) Stop(ctx context.Context, delay time.Duration) error {
	s.draining.Store(true)
	return errors.Join(s.grpc.Drain(ctx, delay), s.admin.Close())
}

// Kill ends all servers at once, as if the process had died.
func (s *Service) Kill() error {
	s.grpc.Stop()
	return s.admin.Close()
}
