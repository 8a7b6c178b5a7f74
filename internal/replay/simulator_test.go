package replay

import (
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/internal/corpus"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// The simulator's share of cached input is near what the providers charged in
// reality, over all recorded conversations of an agent.
func TestSimulatorAgainstRecordedUsage(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "dev/conversations"), "*.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(files)
	count, err := ExactCounter()
	if err != nil {
		t.Fatal(err)
	}
	counter := promptcache.NewBlockCounter(count)
	type sums struct{ simulated, recorded promptcache.Usage }
	all := map[string]*sums{}
	for _, path := range files {
		c, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if raceEnabled && len(c.Turns) > 29 {
			continue // the race detector makes counting tokens slow
		}
		group := string(c.Wire)
		if strings.HasPrefix(c.Agent, "claude-code") {
			group = "claude-code"
		}
		if all[group] == nil {
			all[group] = &sums{}
		}
		sim := promptcache.NewSimulator(counter)
		var one sums
		for k, turn := range c.Turns {
			u, err := sim.Bill(c.Wire, c.Body(k), turn.At)
			if err != nil {
				t.Fatalf("%s, turn %d: %v", c.ID, k, err)
			}
			// What an earlier conversation left in the cache is not known.
			if turn.Recorded.Known && k > 0 {
				one.simulated, one.recorded = one.simulated.Add(u), one.recorded.Add(turn.Recorded)
			}
		}
		all[group].simulated = all[group].simulated.Add(one.simulated)
		all[group].recorded = all[group].recorded.Add(one.recorded)
	}
	for group, s := range all {
		t.Logf("%-20s read %.4f recorded %.4f", group, share(s.simulated), share(s.recorded))
	}
	// Anthropic's rules are simulated as they are documented; the recorded heads are
	// shorter than the real ones, which were read each time. OpenAI evicts earlier
	// than it must and routes requests apart, so its simulated cache is the better
	// one, but not by far.
	for _, tc := range []struct {
		group       string
		least, most float64
	}{{"claude-code", -0.035, 0.015}, {string(promptcache.WireResponses), 0, 0.07}} {
		s := all[tc.group]
		if s == nil {
			t.Errorf("%s: nothing was replayed", tc.group)
			continue
		}
		if d := share(s.simulated) - share(s.recorded); d < tc.least || d > tc.most {
			t.Errorf("%s: the simulated share of reads is off by %.4f", tc.group, d)
		}
	}
}

func share(u promptcache.Usage) float64 { return float64(u.Read) / float64(u.Input()) }
