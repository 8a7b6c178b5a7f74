package main

import (
	"fmt"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/service"
)

type configCommand struct {
	Check configCheckCommand `cmd:"" help:"Say whether a configuration file is good, and if not, why."`
	Show  configShowCommand  `cmd:"" help:"Print the configuration that would be in force, with where each value comes from."`
}

type configCheckCommand struct {
	File string `arg:"" help:"Configuration file." type:"existingfile"`
}

// Help is shown below the usage.
func (configCheckCommand) Help() string {
	return `Every mistake is printed with its line and column. Components that would do nothing
at their profile's storage level are warned about. The environment is not read.`
}

// Run checks one file.
func (c *configCheckCommand) Run(a *app) error {
	e, err := config.Load(config.Options{File: c.File})
	if err != nil {
		return err
	}
	_, warnings, err := service.Profiles(e)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	for _, n := range e.Notes {
		fmt.Fprintf(a.stdout, "%s: note: %s\n", n.Origin, n.Text)
	}
	for _, w := range warnings {
		fmt.Fprintf(a.stdout, "%s: warning: %s\n", c.File, w)
	}
	fmt.Fprintf(a.stdout, "%s: good\n", c.File)
	return nil
}

type configShowCommand struct {
	settings `embed:""`
}

// Help is shown below the usage.
func (configShowCommand) Help() string {
	return `The output is a configuration file itself: loaded, it gives the same configuration.`
}

// Run prints the configuration.
func (c *configShowCommand) Run(a *app) error {
	e, err := config.Load(c.options(a))
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(e.YAML())
	return err
}
