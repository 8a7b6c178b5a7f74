package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/service"
)

type serveCommand struct {
	settings `embed:""`
	GRPC     string `name:"grpc" help:"Where Envoy reaches the server: unix:PATH or HOST:PORT (default unix:/run/trimtab/extproc.sock)." placeholder:"ADDR"`
	Admin    string `help:"Where the admin server listens (default 127.0.0.1:9090)." placeholder:"HOST:PORT"`
}

// Help is shown below the usage.
func (serveCommand) Help() string {
	return `Envoy needs the filter that "trimtab envoy config" prints. SIGHUP and a change of
the file load the configuration again; a wrong one is refused and the last good
one stays. SIGTERM reports to Envoy's health check, lets open exchanges finish,
and ends. Requests go on untouched whenever the server is down.`
}

// Run serves until a signal.
func (c *serveCommand) Run(a *app) error {
	options := c.options(a,
		config.Override{Flag: "--grpc", Setting: "grpc", Value: c.GRPC},
		config.Override{Flag: "--admin", Setting: "admin", Value: c.Admin},
	)
	e, err := config.Load(options)
	if err != nil {
		return err
	}
	tune(a.ctx)
	log := logger(a.stderr, e)
	s, err := service.Start(a.ctx, service.Options{Config: options, Version: version(), Log: log})
	if err != nil {
		return err
	}
	log.Info("serving", "grpc", s.Address(), "admin", "http://"+s.Admin(), "version", version())

	ctx, cancel := context.WithCancel(a.ctx)
	watched := make(chan error, 1)
	go func() { watched <- s.Watch(ctx, hangups(ctx)) }()
	select {
	case <-a.ctx.Done():
	case err = <-watched:
		watched <- nil
	case err = <-s.Served():
	}
	cancel()
	<-watched
	log.Info("draining", "done", s.Summary())
	stop, done := stopping(s.Config().DrainTimeout)
	defer done()
	if stopErr := s.Stop(stop, s.Config().DrainDelay); stopErr != nil {
		log.Warn("ended", "error", stopErr)
	}
	return err
}

// hangups delivers SIGHUP until ctx ends.
func hangups(ctx context.Context) <-chan os.Signal {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGHUP)
	context.AfterFunc(ctx, func() { signal.Stop(ch) })
	return ch
}
