package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/trimtab-io/trimtab/envoy"
	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/service"
)

// Where the providers are, if nothing else is given.
const (
	AnthropicURL = "https://api.anthropic.com"
	OpenAIURL    = "https://api.openai.com"
)

// Options say what to run.
type Options struct {
	// Config is where the configuration comes from. Its grpc setting is not
	// used: the server is reached through a socket of its own.
	Config config.Options
	// Listen is where agents connect, HOST:PORT.
	Listen string
	// Envoy is the binary; empty: it is looked for.
	Envoy string
	// Dir is the checkout in which an installed Envoy is looked for.
	Dir string
	// Anthropic and OpenAI are the providers' URLs; empty: the real ones.
	Anthropic, OpenAI string
	// UpstreamCA holds the certificates that https providers are checked against;
	// empty: the system's.
	UpstreamCA string
	// PIDs gets the process ids of trimtab and Envoy, one a line; empty: no file.
	PIDs string
	// AccessLog gets one JSON line per request from Envoy; empty: no file.
	AccessLog string
	// Concurrency is the number of Envoy's worker threads; 0: one per CPU.
	Concurrency int
	Version     string
	// Log gets what an operator should know; nil: slog's default.
	Log *slog.Logger
	// EnvoyLog gets what Envoy says; nil: only the end of it, in errors.
	EnvoyLog io.Writer
}

// Up is what runs. Its methods are safe for concurrent use.
type Up struct {
	service *service.Service
	envoy   *envoy.Process
	dir     string
	pids    string
	log     *slog.Logger
}

// Start runs both processes and returns once a request would be served.
// Stop must be called afterwards.
func Start(ctx context.Context, o Options) (_ *Up, err error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	u := &Up{log: o.Log}
	defer func() {
		if err != nil {
			u.Kill()
		}
	}()
	if err := free(ctx, o.Listen); err != nil {
		return nil, err
	}
	binary, version, err := envoy.Find(ctx, o.Envoy, o.Dir)
	if err != nil {
		return nil, err
	}
	if u.dir, err = os.MkdirTemp("", "trimtab-"); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	options, err := u.envoyOptions(o)
	if err != nil {
		return nil, err
	}
	o.Config.Flags = append(o.Config.Flags, config.Override{Flag: "trimtab up", Setting: "grpc", Value: options.ExtProc})
	if u.service, err = service.Start(ctx, service.Options{Config: o.Config, Version: o.Version, Log: o.Log}); err != nil {
		return nil, err
	}
	options.MaxBodyBytes = u.service.Config().MaxBodyBytes()
	options.MessageTimeout = envoy.PatienceFor(u.service.Config().Deadline())
	u.envoy, err = envoy.Start(ctx, envoy.StartOptions{
		Binary: binary, Options: options, Log: o.EnvoyLog, Concurrency: o.Concurrency,
	})
	if err != nil {
		return nil, err
	}
	if err := u.awaitHealth(ctx); err != nil {
		return nil, err
	}
	if err := u.writePIDs(o.PIDs); err != nil {
		return nil, err
	}
	o.Log.Debug("serving", "envoy", binary, "version", version)
	return u, nil
}

// free says whether an address can be listened on. Envoy would share a port with
// another Envoy, and agents would reach either.
func free(ctx context.Context, addr string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("agents can't be served on %s, choose another address with --listen: %w", addr, err)
	}
	return l.Close()
}

func (u *Up) envoyOptions(o Options) (envoy.Options, error) {
	out := envoy.Options{Listen: o.Listen, ExtProc: "unix:" + filepath.Join(u.dir, "extproc.sock")}
	var err error
	if o.Anthropic == "" {
		o.Anthropic = AnthropicURL
	}
	if o.OpenAI == "" {
		o.OpenAI = OpenAIURL
	}
	if out.Anthropic, err = envoy.ParseUpstream("anthropic", o.Anthropic, o.UpstreamCA); err != nil {
		return out, err
	}
	if out.OpenAI, err = envoy.ParseUpstream("openai", o.OpenAI, o.UpstreamCA); err != nil {
		return out, err
	}
	if o.UpstreamCA != "" {
		if _, err := os.Stat(o.UpstreamCA); err != nil {
			return out, fmt.Errorf("certificates of the providers: %w", err)
		}
	}
	if o.AccessLog != "" {
		if out.AccessLog, err = filepath.Abs(o.AccessLog); err != nil {
			return out, fmt.Errorf("access log: %w", err)
		}
	}
	return out, nil
}

// awaitHealth waits until Envoy has seen the server: before that it lets
// requests go on as they came.
func (u *Up) awaitHealth(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for !u.envoy.ServerHealthy(ctx) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("envoy does not reach the server: %w", ctx.Err())
		case <-u.envoy.Exited():
			return u.envoy.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// writePIDs puts the file in place whole, so that a reader never sees half of it.
func (u *Up) writePIDs(file string) error {
	if file == "" {
		return nil
	}
	text := strconv.Itoa(os.Getpid()) + "\n" + strconv.Itoa(u.envoy.PID()) + "\n"
	if err := os.WriteFile(file+".tmp", []byte(text), 0o644); err != nil {
		return fmt.Errorf("process ids: %w", err)
	}
	if err := os.Rename(file+".tmp", file); err != nil {
		return errors.Join(fmt.Errorf("process ids: %w", err), os.Remove(file+".tmp"))
	}
	u.pids = file
	return nil
}

// URL is where agents connect, without a path.
func (u *Up) URL() string {
	host, port, err := net.SplitHostPort(u.envoy.Addr())
	if err != nil {
		return "http://" + u.envoy.Addr()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Admin is the address of the admin server, HOST:PORT.
func (u *Up) Admin() string { return u.service.Admin() }

// Service is the trimtab side.
func (u *Up) Service() *service.Service { return u.service }

// Envoy is the Envoy side.
func (u *Up) Envoy() *envoy.Process { return u.envoy }

// Wait follows changes of the configuration until ctx ends, or until one of the
// two ends by itself, which is an error.
func (u *Up) Wait(ctx context.Context, hangup <-chan os.Signal) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- u.service.Watch(ctx, hangup) }()
	defer func() {
		cancel()
		<-watched
	}()
	select {
	case <-ctx.Done():
		return nil
	case err := <-watched:
		watched <- nil
		return err
	case err := <-u.service.Served():
		return errors.Join(errors.New("the server ended"), err)
	case <-u.envoy.Exited():
		return errors.Join(errors.New("envoy ended"), u.envoy.Err())
	}
}

// Stop takes no new requests, lets open ones finish, at the longest until ctx
// ends, and leaves nothing behind: no process, no socket, no file.
func (u *Up) Stop(ctx context.Context) error {
	var errs []error
	if u.envoy != nil {
		if err := u.envoy.Stop(ctx); err != nil {
			u.log.Info("requests that were under way have been cut off", "error", err)
		}
	}
	if u.service != nil {
		// Envoy is gone: what is still open here has nobody to answer to.
		errs = append(errs, u.service.Kill())
	}
	if u.dir != "" {
		errs = append(errs, os.RemoveAll(u.dir))
	}
	if u.pids != "" {
		if err := os.Remove(u.pids); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Kill ends everything at once, and leaves nothing behind either.
func (u *Up) Kill() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return u.Stop(ctx)
}
