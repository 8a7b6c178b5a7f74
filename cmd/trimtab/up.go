package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/up"
)

type upCommand struct {
	settings   `embed:""`
	Listen     string   `help:"Where agents connect." default:"127.0.0.1:10000" placeholder:"HOST:PORT"`
	Admin      string   `help:"Where the admin server listens (default 127.0.0.1:9090)." placeholder:"HOST:PORT"`
	Envoy      string   `help:"Envoy binary; otherwise ENVOY, one that make setup installed, or one on PATH." placeholder:"PATH" type:"path"`
	Upstream   []string `help:"Another URL of a provider: anthropic=URL or openai=URL. May be repeated." placeholder:"NAME=URL" sep:"none"`
	UpstreamCA string   `name:"upstream-ca" help:"Certificates that https providers are checked against, instead of the system's." placeholder:"FILE" type:"path"`
	PIDs       string   `name:"pids" help:"Write the process ids of trimtab and Envoy here, one a line." placeholder:"FILE" type:"path"`
	AccessLog  string   `help:"Let Envoy write one JSON line per request here." placeholder:"FILE" type:"path"`
}

// Help is shown below the usage.
func (upCommand) Help() string {
	return `Point an agent at it with ANTHROPIC_BASE_URL or OPENAI_BASE_URL, as printed at the
start. /v1/messages and /anthropic/ go to anthropic; /v1/chat/completions,
/v1/responses and /openai/ to openai; any other path to anthropic if it has an
anthropic-version header, else to openai. Keys pass through; none is kept.
SIGINT and SIGTERM end both processes and leave nothing behind.`
}

// grace is how long requests that are under way may take after a signal.
const grace = 10 * time.Second

// Run serves until a signal.
func (c *upCommand) Run(a *app) error {
	upstreams, err := c.upstreams()
	if err != nil {
		return err
	}
	options := c.options(a, config.Override{Flag: "--admin", Setting: "admin", Value: c.Admin})
	e, err := config.Load(options)
	if err != nil {
		return err
	}
	tune(a.ctx)
	log := logger(a.stderr, e)
	u, err := up.Start(a.ctx, up.Options{
		Config: options, Listen: c.Listen, Envoy: c.Envoy, Dir: ".",
		Anthropic: upstreams["anthropic"], OpenAI: upstreams["openai"], UpstreamCA: c.UpstreamCA,
		PIDs: c.PIDs, AccessLog: c.AccessLog, Version: version(), Log: log, EnvoyLog: a.stderr,
	})
	if err != nil {
		return err
	}
	c.greet(a, u)
	ctx, cancel := context.WithCancel(a.ctx)
	err = u.Wait(ctx, hangups(ctx))
	cancel()
	fmt.Fprintln(a.stdout, "stopping:", u.Service().Summary())
	stop, done := stopping(grace)
	defer done()
	if stopErr := u.Stop(stop); err == nil {
		err = stopErr
	}
	return err
}

func (c *upCommand) greet(a *app, u *up.Up) {
	fmt.Fprintf(a.stdout, `Point an agent at trimtab:
  export ANTHROPIC_BASE_URL=%[1]s
  export OPENAI_BASE_URL=%[1]s/v1
admin http://%[2]s (what it saves: /stats)
ready %[1]s
`, u.URL(), u.Admin())
}

// upstreams reads NAME=URL.
func (c *upCommand) upstreams() (map[string]string, error) {
	urls := map[string]string{}
	for _, given := range c.Upstream {
		name, url, ok := strings.Cut(given, "=")
		switch {
		case !ok || !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://"):
			return nil, usageError{fmt.Errorf("--upstream %s: want NAME=URL with an http or https URL", given)}
		case name != "anthropic" && name != "openai":
			return nil, usageError{fmt.Errorf("--upstream %s: the name must be anthropic or openai", given)}
		case urls[name] != "":
			return nil, usageError{fmt.Errorf("--upstream %s: %s is given twice", given, name)}
		}
		urls[name] = url
	}
	return urls, nil
}

// stopping is a context for an end in good order: it ends after limit, or with
// another signal from somebody who can't wait.
func stopping(limit time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	again, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	return again, func() { stop(); cancel() }
}
