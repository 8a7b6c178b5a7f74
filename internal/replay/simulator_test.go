package replay

import (
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// The simulator's share of cached input is near what the providers charged in
// reality, over all recorded conversations of an agent.
func TestSimulatorAgainstRecordedUsage(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus(t), "dev", "conversations", "*.json.gz"))
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
		if raceEnabled && len(c.Turns) > 14 {
			continue
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
			if turn.Recorded.Known {
				one.simulated, one.recorded = one.simulated.Add(u), one.recorded.Add(turn.Recorded)
			}
		}
		all[group].simulated = all[group].simulated.Add(one.simulated)
		all[group].recorded = all[group].recorded.Add(one.recorded)
	}
	for group, s := range all {
		t.Logf("%-20s read %.4f recorded %.4f", group, share(s.simulated), share(s.recorded))
	}
	if raceEnabled {
		return
	}
	cc := all["claude-code"]
	if d := share(cc.simulated) - share(cc.recorded); d < -0.015 || d > 0.015 {
		t.Errorf("claude-code: the simulated share of reads is off by %.4f", d)
	}
	// OpenAI evicts earlier than it must and routes requests apart, so the
	// simulated cache is the better one, but not by far.
	codex := all[string(promptcache.WireResponses)]
	if d := share(codex.simulated) - share(codex.recorded); d < 0 || d > 0.05 {
		t.Errorf("codex: the simulated share of reads is off by %.4f", d)
	}
}

func share(u promptcache.Usage) float64 { return float64(u.Read) / float64(u.Input()) }
