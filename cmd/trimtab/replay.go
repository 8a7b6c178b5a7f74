package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/trimtab-io/trimtab/components"
	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/replay"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// replayCmd is `trimtab replay`.
type replayCmd struct {
	Config  string   `help:"Configuration file." type:"existingfile" placeholder:"FILE"`
	Profile string   `help:"Profile of the configuration to replay through (default: its default profile)." placeholder:"NAME"`
	Level   string   `help:"Storage level: off, metadata or everything (default: the profile's)." enum:"off,metadata,everything," default:"" placeholder:"LEVEL"`
	Preset  string   `help:"Preset: off, safe, conservative or balanced (default: the profile's)." placeholder:"PRESET"`
	Prices  string   `help:"Price table to put over the built-in one, YAML or JSON." type:"existingfile" placeholder:"FILE"`
	Bodies  string   `help:"Write the forwarded bodies to this folder, as CONVERSATION.jsonl.gz, one line a turn." type:"path" placeholder:"DIR"`
	JSON    bool     `help:"Print one JSON object a line: one for each conversation, and a last one with \"total\": true." name:"json"`
	Workers int      `help:"Conversations to replay at once (default: one for each processor)." placeholder:"N"`
	Paths   []string `arg:"" name:"file|dir" help:"Recorded conversations in the compact form, or folders to search for *.json.gz." type:"existing"`
}

// Help is what `trimtab replay --help` says below the summary.
func (*replayCmd) Help() string {
	return `Runs recorded conversations through the pipeline turn by turn, as if the provider had answered
each request with success at its recorded time, and prices what came in and what went out with a
simulator of the provider's prompt cache. Output tokens are left out. Everything is offline.

The profile's holdout, observe mode and deadline are not applied. Each conversation begins with an
empty store. The exit code is 1 if something can't be read; violations do not change it.`
}

// Validate refuses presets that do not exist: a mistake in the use of the command.
func (c *replayCmd) Validate() error {
	if c.Preset != "" && !slices.Contains(config.Presets(), c.Preset) {
		return fmt.Errorf("--preset must be one of %s but got %q", strings.Join(config.Presets(), ", "), c.Preset)
	}
	return nil
}

// Run replays the conversations and prints the results.
func (c *replayCmd) Run(k *kong.Context) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return c.run(ctx, k.Stdout)
}

func (c *replayCmd) run(ctx context.Context, out io.Writer) error {
	opt, err := c.options()
	if err != nil {
		return err
	}
	files, err := replay.Files(c.Paths)
	if err != nil {
		return err
	}
	if c.JSON {
		total, err := replay.Run(ctx, opt, files, func(r *replay.Result) error { return replay.WriteJSON(out, r) })
		if err != nil {
			return err
		}
		return replay.WriteJSON(out, total)
	}
	table := replay.NewTable(out)
	total, err := replay.Run(ctx, opt, files, func(r *replay.Result) error {
		table.Add(r)
		return nil
	})
	if err != nil {
		return err
	}
	return table.Total(total)
}

func (c *replayCmd) options() (replay.Options, error) {
	profile, err := c.profile()
	if err != nil {
		return replay.Options{}, err
	}
	prices, err := c.prices()
	if err != nil {
		return replay.Options{}, err
	}
	count, err := replay.ExactCounter()
	if err != nil {
		return replay.Options{}, err
	}
	engine := func() (*pipeline.Engine, error) { return replayEngine(profile), nil }
	return replay.Options{Engine: engine, Prices: prices, Count: count, Bodies: c.Bodies, Workers: c.Workers}, nil
}

// profile is the effective profile as the engine takes it.
func (c *replayCmd) profile() (pipeline.Profile, error) {
	o := config.Options{File: c.Config, Environ: os.Environ()}
	for _, f := range []config.Override{
		{Flag: "--level", Setting: "profiles.*.storage.level", Value: c.Level},
		{Flag: "--preset", Setting: "profiles.*.preset", Value: c.Preset},
	} {
		if f.Value != "" {
			o.Flags = append(o.Flags, f)
		}
	}
	effective, err := config.Load(o)
	if err != nil {
		return pipeline.Profile{}, err
	}
	p := effective.Profile(c.Profile)
	if p == nil {
		return pipeline.Profile{}, fmt.Errorf("profile %q: not in the configuration", c.Profile)
	}
	out := pipeline.Profile{Name: p.Name, Level: p.Level, Exclude: p.Exclude}
	for _, s := range p.Components {
		component, err := components.New(s.Name, s.Settings)
		if err != nil {
			return pipeline.Profile{}, err
		}
		out.Components = append(out.Components, component)
	}
	return out, nil
}

func (c *replayCmd) prices() (*promptcache.Prices, error) {
	prices := promptcache.BuiltInPrices()
	if c.Prices == "" {
		return prices, nil
	}
	f, err := os.Open(c.Prices)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	prices, err = prices.With(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Prices, err)
	}
	return prices, nil
}

// replayEngine makes an engine with an empty store. Its secret is fixed: nothing
// outlives the replay, and the same recording gives the same bodies.
func replayEngine(p pipeline.Profile) *pipeline.Engine {
	s := store.Store{Level: p.Level}
	if p.Level >= store.Metadata {
		s.Facts = memory.NewFacts(memory.FactsOptions{})
	}
	if p.Level >= store.Everything {
		s.Texts = memory.NewTexts(memory.TextsOptions{})
	}
	e := pipeline.New(pipeline.Options{Secret: []byte("replay"), Store: s, Verifier: verify.Verifier{}})
	e.Apply([]pipeline.Profile{p}, p.Name)
	return e
}
