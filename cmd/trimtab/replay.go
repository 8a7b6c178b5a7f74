package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/replay"
	"github.com/trimtab-io/trimtab/internal/service"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// replayCmd is `trimtab replay`.
type replayCmd struct {
	settings  `embed:""`
	Profile   string   `help:"Profile of the configuration to replay through (default: its default profile)." placeholder:"NAME"`
	Prices    string   `help:"Price table to put over the built-in one, YAML or JSON." type:"path" placeholder:"FILE"`
	Bodies    string   `help:"Write the forwarded bodies to this folder, as CONVERSATION.jsonl.gz, one line a turn." type:"path" placeholder:"DIR"`
	Remaining bool     `help:"Also print what is still forwarded, by kind of text."`
	JSON      bool     `help:"Print one JSON object a line: one for each conversation, and a last one with \"total\": true." name:"json"`
	Workers   int      `help:"Conversations to replay at once (default: one for each processor)." placeholder:"N"`
	Paths     []string `arg:"" name:"file|dir" help:"Recorded conversations in the compact form, or folders to search for *.json.gz." type:"path"`
}

// Help is shown below the usage.
func (replayCmd) Help() string {
	return `Runs recorded conversations through the pipeline turn by turn, as if the provider
had answered each request with success at its recorded time, and prices what came
in and what went out with a simulator of the provider's prompt cache. Output tokens
are left out. Everything is offline.

The profile's holdout, observe mode and deadline are not applied. Each conversation
begins with an empty store. The exit code is 1 if something can't be read;
violations do not change it.`
}

// Run replays the conversations and prints the results.
func (c *replayCmd) Run(a *app) error {
	opt, err := c.replayOptions(a)
	if err != nil {
		return err
	}
	files, err := replay.Files(c.Paths)
	if err != nil {
		return err
	}
	if c.JSON {
		total, err := replay.Run(a.ctx, opt, files, func(r *replay.Result) error { return replay.WriteJSON(a.stdout, r) })
		if err != nil {
			return err
		}
		return replay.WriteJSON(a.stdout, total)
	}
	table := replay.NewTable(a.stdout)
	total, err := replay.Run(a.ctx, opt, files, func(r *replay.Result) error {
		table.Add(r)
		return nil
	})
	if err != nil {
		return err
	}
	return table.Total(total)
}

func (c *replayCmd) replayOptions(a *app) (replay.Options, error) {
	profile, err := c.profile(a)
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
	return replay.Options{Engine: engine, Prices: prices, Count: count, Bodies: c.Bodies, Remaining: c.Remaining, Workers: c.Workers}, nil
}

// profile is the effective profile as the engine takes it, for measuring: all
// conversations are treated, and no clock decides anything.
func (c *replayCmd) profile(a *app) (pipeline.Profile, error) {
	if c.Preset != "" && !slices.Contains(config.Presets(), c.Preset) {
		return pipeline.Profile{}, usageError{fmt.Errorf("--preset must be one of %s but got %q", strings.Join(config.Presets(), ", "), c.Preset)}
	}
	if _, err := store.ParseLevel(c.Level); c.Level != "" && err != nil {
		return pipeline.Profile{}, usageError{fmt.Errorf("--level: %w", err)}
	}
	effective, err := config.Load(c.options(a))
	if err != nil {
		return pipeline.Profile{}, err
	}
	profiles, warnings, err := service.Profiles(effective)
	if err != nil {
		return pipeline.Profile{}, err
	}
	for _, w := range warnings {
		fmt.Fprintln(a.stderr, "trimtab:", w)
	}
	name := c.Profile
	if name == "" {
		name = effective.DefaultProfile
	}
	i := slices.IndexFunc(profiles, func(p pipeline.Profile) bool { return p.Name == name })
	if i < 0 {
		return pipeline.Profile{}, usageError{fmt.Errorf("profile %q: not in the configuration", name)}
	}
	p := profiles[i]
	p.HoldoutShare, p.Mode, p.Limits.Deadline = 0, pipeline.Enforce, 0
	return p, nil
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
