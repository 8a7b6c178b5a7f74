package envoytest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// turns are the requests of one conversation, one file more on each.
func turns(t testing.TB, session string, n int) [][]byte {
	t.Helper()
	text := file("part0", 8<<10)
	var all [][]byte
	for i := range n {
		results := make([]string, i)
		for k := range results {
			results[k] = text // all read the same file of /src again, two by two
		}
		o := anthropic(session, results)
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// armsOf tells from the access log into which arm each conversation went, which
// must be the same for all its turns.
func armsOf(t testing.TB, entries []map[string]any, perConversation int) []string {
	t.Helper()
	var arms []string
	for i, e := range entries {
		tt, _ := e["trimtab"].(map[string]any)
		arm := fmt.Sprint(tt["arm"])
		if i%perConversation == 0 {
			arms = append(arms, arm)
		} else if arm != arms[len(arms)-1] {
			t.Errorf("a conversation moved from %s to %s", arms[len(arms)-1], arm)
		}
	}
	return arms
}

// TestHoldoutOverEnvoy: conversations of the holdout arrive as they were sent, on
// every turn; the others are rewritten; a restart changes nobody's arm; /stats puts
// the arms side by side.
func TestHoldoutOverEnvoy(t *testing.T) {
	const conversations, each = 16, 5
	var before []string
	for run := range 2 {
		upstream := startStrict(t)
		rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: upstream.URL, Environ: append(slow, "TRIMTAB_HOLDOUT_SHARE=0.5", "TRIMTAB_HOLDOUT_SEED=spring")})
		client := envoytest.Client(t, false)
		raw := make([]int, conversations)
		for c := range conversations {
			for _, sent := range turns(t, fmt.Sprint("holdout", c), each) {
				if r, err := envoytest.Post(t.Context(), client, rig.URL()+"/v1/messages", sent, true); err != nil || r.Status != 200 {
					t.Fatalf("%d %v", r.Status, err)
				}
				if got, _, _ := upstream.last(); bytes.Equal(got, sent) {
					raw[c]++
				}
			}
		}
		arms := armsOf(t, rig.Access(t, conversations*each), each)
		held := 0.0
		for c, arm := range arms {
			switch {
			case arm == "holdout":
				held++
				if raw[c] != each {
					t.Errorf("conversation %d is held out, and %d of %d requests arrived as sent", c, raw[c], each)
				}
			case arm != "treated" || raw[c] == each:
				t.Errorf("conversation %d: arm %q, %d of %d requests arrived as sent", c, arm, raw[c], each)
			}
		}
		if held < 2 || held > conversations-2 {
			t.Errorf("%v of %d conversations are held out", held, conversations)
		}
		awaitStat(t, rig, "the arms", func(s map[string]any) bool {
			all, _ := s["arms"].(map[string]any)
			h, _ := all["holdout"].(map[string]any)
			tr, _ := all["treated"].(map[string]any)
			return number(h["conversations"]) == held && number(tr["conversations"]) == conversations-held &&
				number(h["turns"]) == held*each && number(h["turns_per_conversation"]) == each &&
				number(h["calls_per_turn"]) == number(tr["calls_per_turn"]) && number(h["repeated_reads_per_call"]) > 0 &&
				number(h["repeated_reads_per_call"]) == number(tr["repeated_reads_per_call"]) &&
				number(h["billed_answers"])+number(tr["billed_answers"]) == conversations*each &&
				part(s, "passthrough", "holdout") == held*each && number(s["prefix_violations"]) == 0
		})
		if run == 1 && fmt.Sprint(arms) != fmt.Sprint(before) {
			t.Errorf("after a restart: %v, before: %v", arms, before)
		}
		before = arms
	}
}

// TestObserveOverEnvoy: everything arrives as it was sent, and what could have been
// saved is told apart from what was.
func TestObserveOverEnvoy(t *testing.T) {
	config := filepath.Join(t.TempDir(), "trimtab.yaml")
	if err := os.WriteFile(config, []byte("profiles: {default: {mode: observe}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	upstream := startStrict(t)
	rig := envoytest.Start(t, envoytest.Options{Root: root, Upstream: upstream.URL, File: config, Environ: slow})
	client := envoytest.Client(t, true)
	const each = 5
	for _, sent := range turns(t, "observe", each) {
		if r, err := envoytest.Post(t.Context(), client, rig.URL()+"/v1/messages", sent, true); err != nil || r.Status != 200 {
			t.Fatalf("%d %v", r.Status, err)
		}
		if got, _, _ := upstream.last(); !bytes.Equal(got, sent) {
			t.Fatalf("%d bytes arrived of %d", len(got), len(sent))
		}
	}
	awaitStat(t, rig, "what could be saved", func(s map[string]any) bool {
		all, _ := s["arms"].(map[string]any)
		o, _ := all["observe"].(map[string]any)
		return number(o["turns"]) == each && number(s["observed_saved_tokens"]) > 1000 && part(s, "observed_by_component", "backref") > 1000 &&
			number(s["saved_tokens_first"]) == 0 && number(s["requests_rewritten"]) == 0 && part(s, "passthrough", "observe") > 0 &&
			number(s["estimated_tokens_received"]) == number(s["estimated_tokens_forwarded"]) && number(s["prefix_violations"]) == 0
	})
}
