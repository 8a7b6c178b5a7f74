package main

import (
	"errors"
	"fmt"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/demo"
	"github.com/trimtab-io/trimtab/internal/up"
)

// demoCmd is `trimtab demo`.
type demoCmd struct {
	settings `embed:""`
	Listen   string `help:"Where the demo's Envoy listens." default:"127.0.0.1:0" placeholder:"HOST:PORT"`
	Admin    string `help:"Where the admin server listens." default:"127.0.0.1:0" placeholder:"HOST:PORT"`
	Envoy    string `help:"Envoy binary; otherwise ENVOY, one that make setup installed, or one on PATH." placeholder:"PATH" type:"path"`
}

// Help is shown below the usage.
func (demoCmd) Help() string {
	return `Replays a conversation of a coding agent over HTTP through trimtab and an Envoy of
its own, as "trimtab up" runs them, to a provider that is part of this program. It
refuses what the real ones refuse, and bills with a simulator of their prompt cache.
Nothing leaves the machine. The exit code is 1 if nothing is saved, a block in the
provider's cache changes its form, or a rule of the provider is broken.`
}

// Run replays the conversation and prints what each turn costs.
func (c *demoCmd) Run(a *app) (err error) {
	options := c.options(a, config.Override{Flag: "--admin", Setting: "admin", Value: c.Admin})
	e, err := config.Load(options)
	if err != nil {
		return err
	}
	d, err := demo.New()
	if err != nil {
		return err
	}
	provider, err := d.Provider().Start("", false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, provider.Close()) }()
	u, err := up.Start(a.ctx, up.Options{
		Config: options, Listen: c.Listen, Envoy: c.Envoy, Dir: ".",
		Anthropic: provider.URL, OpenAI: provider.URL,
		Version: version(), Log: logger(a.stderr, e),
	})
	if err != nil {
		return err
	}
	defer func() {
		stop, done := stopping(grace)
		defer done()
		err = errors.Join(err, u.Stop(stop))
	}()
	fmt.Fprintf(a.stdout, "A coding agent fixes a bug: 12 requests through %s to a provider on this machine.\n\n", u.URL())
	sum, err := d.Run(a.ctx, u.URL(), a.stdout)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "trimtab says: %s\n", u.Service().Summary())
	switch {
	case sum.Rewritten > 0 || len(sum.Broken) > 0:
		return errors.New("the demo broke a promise")
	case sum.Saved() <= 0:
		return errors.New("the demo saved nothing")
	}
	return nil
}
