package components

import (
	"fmt"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/corpus"
	"github.com/trimtab-io/trimtab/internal/replay"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// recorded are six recorded conversations, two of each dialect, short enough for
// the race detector.
func recorded(t *testing.T) []*replay.Conversation {
	t.Helper()
	var out []*replay.Conversation
	for _, id := range []string{
		"cli-claude-6ddbf7f9-s0", "spotter-sub-d243c5dc-s0", "nimbus-opencode-99132b60", "openhands-mswe-0",
		"agentv-codex-eb511b52-s0", "agentv-codex-1e1cd7c7-s0",
	} {
		path := corpus.Path(t, "dev/conversations/"+id+".json.gz")
		c, err := replay.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// sampled is how many turns of a conversation are played: the judges read every
// body whole, which is slow under the race detector.
const sampled = 6

// The law on recorded conversations, with all components, at every level, with
// a restart in the middle.
func TestLawOnRecordedConversations(t *testing.T) {
	for _, c := range recorded(t) {
		for _, level := range levels {
			t.Run(fmt.Sprintf("%s/%s", c.ID, level), func(t *testing.T) {
				t.Parallel()
				var reqs []componenttest.Request
				at := c.Turns[0].At
				stride := (len(c.Turns) + sampled - 2) / (sampled - 1)
				for k := (len(c.Turns) - 1) % stride; k < len(c.Turns); k += stride {
					after := time.Duration((c.Turns[k].At - at) * float64(time.Second))
					at = c.Turns[k].At
					reqs = append(reqs, componenttest.Request{
						Body: c.Body(k), After: after, Thread: "main", NewEpoch: after >= 6*time.Minute, Restart: len(reqs) == sampled/2,
					})
				}
				st := newStore()
				names := lineups()[len(lineups())-1].names
				p := componenttest.Player{Dialect: transcript.Dialect(c.Wire), New: func() *pipeline.Engine {
					return newEngine(build(t, names), level, st, verifier())
				}}
				p.Play(t, reqs)
				saved := 0
				for _, r := range p.Reports {
					saved += r.TokensBefore - r.TokensAfter
				}
				if saved == 0 {
					t.Error("nothing was saved")
				}
			})
		}
	}
}
