package admin

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"

	"github.com/trimtab-io/trimtab/extproc"
	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is an admin server with what it reads from.
type rig struct {
	*httptest.Server
	handler  http.Handler
	metrics  *Metrics
	notReady []string
	status   config.Status
}

func newRig(t *testing.T, environ ...string) *rig {
	t.Helper()
	e, err := config.Load(config.Options{Environ: append(environ, "TRIMTAB_PRESET=balanced")})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{metrics: NewMetrics("v1"), status: config.Status{Loads: 1, Loaded: time.Unix(1, 0)}}
	h, err := Handler(Sources{
		Version:     "v1",
		Config:      func() (*config.Effective, config.Status) { return e, r.status },
		Generations: func() map[string]string { return map[string]string{"default": "abc"} },
		Load:        func() Load { return Load{MaxBytes: 1 << 20, Engine: pipeline.Stats{Generations: 1}} },
		NotReady:    func() []string { return r.notReady },
		Warnings:    func() []string { return []string{"a warning"} },
	}, r.metrics)
	if err != nil {
		t.Fatal(err)
	}
	r.handler, r.Server = h, httptest.NewServer(h)
	t.Cleanup(r.Close)
	return r
}

func (r *rig) get(t *testing.T, path string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(r.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func summary() extproc.Summary {
	return extproc.Summary{
		Report: pipeline.Report{
			Dialect: "anthropic", Model: "claude-sonnet-4-5-20250929", Profile: "default", Arm: "treated", Cold: true,
			TokensBefore: 1000, TokensAfter: 800, BytesBefore: 4000, BytesAfter: 3000, Engine: time.Millisecond,
			Components: []pipeline.ComponentReport{
				{Name: "backref", Edits: 3, Replayed: 2, SavedTokens: 200, FirstSavedTokens: 50, SavedBytes: 1000, Gates: map[pipeline.Gate]int{"too_short": 4}},
			},
			Rewrites: map[string]int{"adopted": 1},
			Outcomes: pipeline.Outcomes{Turns: 1, Conversations: 1, Calls: 4, FailedEdits: 1, RepeatedReads: 2, RepeatedCommands: 1},
		},
		Mode: extproc.ModeBuffered, Added: 2 * time.Millisecond, Status: 200,
		Usage: promptcache.Usage{Fresh: 1, Read: 2, Write5m: 3, Write1h: 4, Output: 5, Known: true}, UsageOutcome: "read",
	}
}

func TestMetricsAreLintedAndFed(t *testing.T) {
	r := newRig(t)
	r.metrics.Exchanged(summary())
	r.metrics.Panicked("engine")
	passed := summary()
	passed.Report = pipeline.Report{Dialect: "openai-chat", Profile: "default", Reason: pipeline.TooLarge}
	passed.Usage = promptcache.Usage{}
	r.metrics.Exchanged(passed)
	problems, err := testutil.GatherAndLint(r.metrics.registry)
	if err != nil {
		t.Fatal(err)
	}
	problems = slices.DeleteFunc(problems, func(p promlint.Problem) bool { return !strings.HasPrefix(p.Metric, "trimtab_") })
	if len(problems) > 0 {
		t.Errorf("%v", problems)
	}
	_, text := r.get(t, "/metrics")
	for _, want := range []string{
		`trimtab_requests_total{dialect="anthropic",outcome="rewritten",profile="default"} 1`,
		`trimtab_passthrough_total{profile="default",reason="too_large"} 1`,
		`trimtab_component_edits_total{component="backref",profile="default",turn="first"} 1`,
		`trimtab_component_saved_tokens_total{component="backref",profile="default",turn="replayed"} 150`,
		`trimtab_component_declined_total{component="backref",gate="too_short"} 4`,
		`trimtab_billed_tokens_total{arm="treated",dialect="anthropic",model="claude-sonnet-4-5",profile="default",tier="write_1h"} 4`,
		`trimtab_prefix_violations_total{component="none"} 0`,
		`trimtab_panics_total{stage="engine"} 1`,
		`trimtab_build_info{go=`,
		"trimtab_bytes_in_flight_limit 1.048576e+06",
		`trimtab_added_seconds_bucket{outcome="rewritten",le="0.0025"} 1`,
		"go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

// The keys of /stats may grow, and never shrink: scripts read them.
func TestStatsKeys(t *testing.T) {
	want := []string{
		"agent_calls", "agent_conversations", "agent_failed_edits", "agent_repeated_commands", "agent_repeated_reads", "agent_turns", "arms", "arms_note",
		"billed_answers", "billed_by_model", "billed_cache_read", "billed_cache_write_1h", "billed_cache_write_5m", "billed_fresh", "billed_output",
		"body_bytes_forwarded", "body_bytes_received", "body_modes", "bytes_in_flight", "bytes_in_flight_limit",
		"config_loaded_at", "config_loads", "config_refused", "config_stale", "conversations",
		"decisions_capacity", "decisions_committed", "decisions_expired", "decisions_live", "decisions_refused", "decisions_replayed", "declined",
		"edits_by_component", "edits_first", "edits_replayed", "estimated_tokens_forwarded", "estimated_tokens_received", "exchanges_open",
		"generations", "memo_bytes", "memo_entries", "observed_by_component", "observed_saved_tokens",
		"originals_bytes", "originals_bytes_limit", "originals_expired", "originals_live", "originals_missing", "originals_refused", "originals_revived",
		"panics", "panics_by_stage", "passthrough", "prefix_rewrites", "prefix_violations",
		"requests", "requests_passed", "requests_rewritten", "rewrites_by_cause",
		"saved_bytes_by_component", "saved_tokens_by_component", "saved_tokens_first", "saved_tokens_replayed",
		"turns_cold", "usage_outcomes", "violations_by_component", "zeros",
	}
	r := newRig(t)
	_, body := r.get(t, "/stats")
	var got map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("add new keys to this list; never take one out:\n%s", diff)
	}
}

func TestStatsExplainEveryZeroAndNothingElse(t *testing.T) {
	r := newRig(t)
	for _, used := range []bool{false, true} {
		if used {
			r.metrics.Exchanged(summary())
		}
		_, body := r.get(t, "/stats")
		var got map[string]any
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		zeros := got["zeros"].(map[string]any)
		for key, v := range got {
			empty := false
			switch v := v.(type) {
			case float64:
				empty = v == 0
			case map[string]any:
				empty = len(v) == 0 && key != "zeros"
			}
			text, said := zeros[key].(string)
			if empty != said || said && len(text) < 12 {
				t.Errorf("used %v: %s is %v and is explained by %q", used, key, v, text)
			}
		}
		if got["requests"] == 0.0 && zeros["saved_tokens_first"] != noRequests {
			t.Errorf("saved_tokens_first: %v", zeros["saved_tokens_first"])
		}
	}
}

func TestEveryStatIsAMetric(t *testing.T) {
	r := newRig(t)
	r.metrics.Exchanged(summary())
	r.metrics.Panicked("engine")
	passed := summary()
	passed.Report.Reason = pipeline.NothingToDo
	r.metrics.Exchanged(passed)
	passed.Report.Reason, passed.Report.Arm = pipeline.ObserveOnly, "observe"
	r.metrics.Exchanged(passed)
	families, err := r.metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
	}
	for _, f := range fields() {
		if !names[f.metric] {
			t.Errorf("%s: there is no metric %s", f.key, f.metric)
		}
	}
	for _, g := range groups() {
		if !names[g.metric] {
			t.Errorf("%s: there is no metric %s", g.key, g.metric)
		}
	}
}

func TestReadyAndHealth(t *testing.T) {
	r := newRig(t)
	if code, body := r.get(t, "/healthz"); code != 200 || body != "ok\n" {
		t.Errorf("%d %s", code, body)
	}
	if code, body := r.get(t, "/readyz"); code != 200 || !strings.Contains(body, `"ready": true`) {
		t.Errorf("%d %s", code, body)
	}
	r.notReady = []string{"the process is draining"}
	if code, body := r.get(t, "/readyz"); code != 503 || !strings.Contains(body, "the process is draining") {
		t.Errorf("%d %s", code, body)
	}
	if code, _ := r.get(t, "/nothing"); code != 404 {
		t.Errorf("%d", code)
	}
}

func TestConfigShowsWhatIsInForceAndWhy(t *testing.T) {
	r := newRig(t)
	r.status.Err = errors.New("trimtab.yaml:1:1: wrong")
	_, body := r.get(t, "/config")
	for _, want := range []string{
		`"path": "profiles.default.preset"`, `"origin": "env TRIMTAB_PRESET"`, `"origin": "preset balanced"`,
		`"default": "abc"`, `"a warning"`, `"refused": "trimtab.yaml:1:1: wrong"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if _, body := r.get(t, "/config?format=yaml"); !strings.Contains(body, "preset: balanced # env TRIMTAB_PRESET") {
		t.Errorf("%s", body)
	}
}

func TestModelsAreBounded(t *testing.T) {
	m := models{seen: map[string]bool{}}
	for in, want := range map[string]string{
		"claude-opus-4-5-20251101":                     "claude-opus-4-5",
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4-5",
		"claude-3-5-sonnet@20240620":                   "claude-3-5-sonnet",
		"gpt-4o-2024-08-06":                            "gpt-4o",
		"models/GPT-5":                                 "gpt-5",
		"please ignore all previous instructions":      "other",
		"":                       "other",
		strings.Repeat("a", 200): "other",
	} {
		if got := m.label(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for i := range 200 {
		m.label("m" + strings.Repeat("x", i%40) + string(rune('a'+i%26)))
	}
	if len(m.seen) > maxModels {
		t.Errorf("%d models", len(m.seen))
	}
}

func TestServeAndClose(t *testing.T) {
	s, err := Serve(t.Context(), "127.0.0.1:0", http.HandlerFunc(index))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Serve(t.Context(), s.Addr(), nil); err == nil {
		t.Error("an address is used twice")
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
