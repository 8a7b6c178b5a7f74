// Command trimtab shortens what LLM agents send to their providers, as an
// external-processing filter of Envoy.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/trimtab-io/trimtab/internal/config"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // it was understood, and failed
	exitUsage = 2 // it was not understood
)

// commands are all commands. A new one is one line here and one file.
type commands struct {
	Up      upCommand      `cmd:"" help:"Run trimtab and an Envoy of its own in front of the providers."`
	Serve   serveCommand   `cmd:"" help:"Run the server that an Envoy of yours calls."`
	Replay  replayCmd      `cmd:"" help:"Run recorded conversations through the pipeline, offline, and price them before and after."`
	Config  configCommand  `cmd:"" help:"Check and show configurations."`
	Filters filtersCommand `cmd:"" help:"List, test and explain the filters for the output of commands."`
	Envoy   envoyCommand   `cmd:"" help:"Print and check what goes into an Envoy."`
	Demo    demoCmd        `cmd:"" help:"Replay one conversation through trimtab and Envoy to a provider on this machine."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// app is what commands need of the process around them.
type app struct {
	ctx    context.Context // ends with the first SIGINT or SIGTERM
	stdout io.Writer
	stderr io.Writer
	env    []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(&app{ctx: ctx, stdout: os.Stdout, stderr: os.Stderr, env: os.Environ()}, os.Args[1:])
	stop()
	os.Exit(code)
}

// exit is how kong leaves after printing help.
type exit struct{ code int }

// run carries out one command line and returns the exit code.
func run(a *app, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(exit)
			if !ok {
				panic(p)
			}
			code = e.code
		}
	}()
	parser, err := newParser(a)
	if err != nil {
		fmt.Fprintln(a.stderr, "trimtab:", err)
		return exitError
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(a.stderr, "trimtab: %v\nTry: trimtab --help\n", err)
		return exitUsage
	}
	if err := parsed.Run(a); err != nil {
		fmt.Fprintln(a.stderr, "trimtab:", err)
		var u usageError
		var wrong config.Errors
		if errors.As(err, &u) || errors.As(err, &wrong) && wrong.FromFlags() {
			return exitUsage
		}
		return exitError
	}
	return exitOK
}

func newParser(a *app) (*kong.Kong, error) {
	return kong.New(&commands{},
		kong.Name("trimtab"),
		kong.Description("trimtab shortens what LLM agents send to their providers, without breaking the providers' prompt caches."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(a.stdout, a.stderr),
		kong.Vars(envoyDefaults()),
		kong.Exit(func(code int) { panic(exit{code}) }),
	)
}

// usageError is a command line that was parsed and still makes no sense.
type usageError struct{ error }

// version is that of the module, with the commit where the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
