package components

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

var (
	dialects = []transcript.Dialect{transcript.Anthropic, transcript.OpenAIChat, transcript.OpenAIResponses}
	levels   = []store.Level{store.Off, store.Metadata, store.Everything}
)

// lineup is a list of components to run together.
type lineup struct {
	name  string
	names []string
}

// lineups are every component alone, and all of them in the catalogue's order.
func lineups() []lineup {
	var out []lineup
	all := lineup{name: "all"}
	for _, e := range Catalogue() {
		out = append(out, lineup{e.Name, []string{e.Name}})
		all.names = append(all.names, e.Name)
	}
	return append(out, all)
}

func build(t componenttest.TB, names []string) []pipeline.Component {
	var out []pipeline.Component
	for _, n := range names {
		c, err := New(n, nil)
		if err != nil {
			t.Fatalf("%v", err)
		}
		out = append(out, c)
	}
	return out
}

// newStore is a store with everything, so that only the level holds back.
func newStore() store.Store {
	return store.Store{Level: store.Everything, Facts: memory.NewFacts(memory.FactsOptions{}), Texts: memory.NewTexts(memory.TextsOptions{})}
}

func newEngine(cs []pipeline.Component, l store.Level, s store.Store, verifier pipeline.Verifier) *pipeline.Engine {
	e := pipeline.New(pipeline.Options{Secret: []byte("test secret"), Store: s, Verifier: verifier})
	e.Apply([]pipeline.Profile{{Name: "default", Components: cs, Level: l}}, "default")
	return e
}

// TestMain sets how often properties are checked, unless the caller says.
func TestMain(m *testing.M) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if !set {
		if err := flag.Set("rapid.checks", checks); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// The law, byte identity, shape and never-inflate, over catalogue x dialect x
// level x mutator.
func TestLaw(t *testing.T) {
	for _, l := range lineups() {
		for _, d := range dialects {
			for _, level := range levels {
				if len(l.names) == 1 && level != store.Metadata && !alone {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", l.name, d, level), func(t *testing.T) {
					t.Parallel()
					rapid.Check(t, func(rt *rapid.T) {
						m := rapid.SampledFrom(componenttest.Mutators()).Draw(rt, "mutator")
						s := componenttest.Generate(rt, rapid.IntRange(0, 8).Draw(rt, "steps"), "")
						cs, st := build(rt, l.names), newStore()
						fewer := build(rt, l.names[:len(l.names)-1])
						p := componenttest.Player{
							Dialect: d,
							New:     func() *pipeline.Engine { return newEngine(cs, level, st, verifier()) },
							Reload: func(e *pipeline.Engine) {
								e.Apply([]pipeline.Profile{{Name: "default", Components: fewer, Level: level}}, "default")
							},
						}
						p.Play(rt, m.Plays(rt, s, d))
					})
				})
			}
		}
	}
}

// Same requests, same bytes: in another process's engine, with another map
// order, with a memo that forgets everything.
func TestDeterminism(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.SampledFrom(dialects).Draw(rt, "dialect")
		s := componenttest.Generate(rt, 6, "")
		names := lineups()[len(lineups())-1].names
		play := func(memo int) [][]byte {
			st := newStore()
			p := componenttest.Player{Dialect: d, New: func() *pipeline.Engine {
				e := pipeline.New(pipeline.Options{Secret: []byte("test secret"), Store: st, Verifier: verifier(), MemoBytes: memo})
				e.Apply([]pipeline.Profile{{Name: "default", Components: build(rt, names), Level: store.Metadata}}, "default")
				return e
			}}
			p.Play(rt, componenttest.Mutators()[0].Plays(rt, s, d))
			return p.Bodies
		}
		if a, b := play(0), play(1); !slices.EqualFunc(a, b, slices.Equal) {
			rt.Fatalf("a memo changes bytes")
		}
	})
}

// What was rewritten once is not rewritten again.
func TestIdempotence(t *testing.T) {
	for _, l := range lineups()[:len(Catalogue())] {
		t.Run(l.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				d := rapid.SampledFrom(dialects).Draw(rt, "dialect")
				s := componenttest.Generate(rt, 6, "")
				p := componenttest.Player{Dialect: d, New: func() *pipeline.Engine {
					return newEngine(build(rt, l.names), store.Metadata, newStore(), verifier())
				}}
				p.Play(rt, []componenttest.Request{{Body: s.Body(d, len(s.Steps), componenttest.Style{})}})
				p.Play(rt, []componenttest.Request{{Body: p.Bodies[0], Restart: true}})
				if string(p.Bodies[0]) != string(p.Bodies[1]) {
					rt.Fatalf("a second run changes bytes:\n%s\n%s", p.Bodies[0], p.Bodies[1])
				}
			})
		})
	}
}

// No character of any text is kept at off and metadata: not in the engine, not
// in the store.
func TestCanaries(t *testing.T) {
	const canary = "qzjxvkwpfyh"
	for _, level := range levels[:2] {
		for _, d := range dialects {
			t.Run(fmt.Sprintf("%s/%s", level, d), func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) {
					m := rapid.SampledFrom(componenttest.Mutators()).Draw(rt, "mutator")
					s := componenttest.Generate(rt, 6, canary)
					st := newStore()
					var engines []*pipeline.Engine
					p := componenttest.Player{Dialect: d, New: func() *pipeline.Engine {
						e := newEngine(build(rt, lineups()[len(lineups())-1].names), level, st, verifier())
						engines = append(engines, e)
						return e
					}}
					p.Play(rt, m.Plays(rt, s, d))
					if at := componenttest.Leaks([]any{engines, st, p.Reports}, canary); at != "" {
						rt.Fatalf("content is kept at level %s: %s", level, at)
					}
				})
			})
		}
	}
}
