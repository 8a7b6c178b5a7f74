package admin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/extproc"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// in is an exchange in an arm.
func in(arm string, reason pipeline.Reason) extproc.Summary {
	s := summary()
	s.Report.Arm, s.Report.Reason = arm, reason
	if reason == pipeline.HeldOut {
		s.Report.Components = nil
		s.Report.TokensAfter = s.Report.TokensBefore
	}
	return s
}

type statsOfArms struct {
	Arms     map[string]map[string]float64 `json:"arms"`
	Note     string                        `json:"arms_note"`
	Saved    float64                       `json:"saved_tokens_first"`
	Observed float64                       `json:"observed_saved_tokens"`
	Received float64                       `json:"estimated_tokens_received"`
	Sent     float64                       `json:"estimated_tokens_forwarded"`
}

func (r *rig) arms(t *testing.T) statsOfArms {
	t.Helper()
	_, body := r.get(t, "/stats")
	var got statsOfArms
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestArmsAreCompared(t *testing.T) {
	r := newRig(t)
	if got := r.arms(t); len(got.Arms) != 0 || got.Note != noTurns {
		t.Errorf("%+v", got)
	}
	for range 3 {
		r.metrics.Exchanged(in("treated", pipeline.Rewritten))
	}
	if got := r.arms(t); !strings.Contains(got.Note, "set holdout.share") {
		t.Errorf("%s", got.Note)
	}
	held := in("holdout", pipeline.HeldOut)
	held.Report.Outcomes = pipeline.Outcomes{Turns: 1, Calls: 2, Conversations: 1}
	held.Usage = promptcache.Usage{Fresh: 10, Output: 3, Known: true}
	r.metrics.Exchanged(held)
	held.Usage = promptcache.Usage{} // a bill that was not read is no denominator
	r.metrics.Exchanged(held)
	got := r.arms(t)
	for key, want := range map[string][2]float64{
		"conversations": {3, 2}, "turns": {3, 2}, "calls": {12, 4}, "calls_per_turn": {4, 2}, "turns_per_conversation": {1, 1},
		"failed_edits_per_call": {.25, 0}, "repeated_reads_per_call": {.5, 0}, "repeated_commands_per_call": {.25, 0},
		"billed_answers": {3, 1}, "billed_fresh_per_answer": {1, 10}, "billed_output_per_answer": {5, 3},
		"billed_cache_read": {6, 0}, "billed_cache_write_5m_per_answer": {3, 0}, "billed_cache_write_1h": {12, 0},
	} {
		if a, b := got.Arms["treated"][key], got.Arms["holdout"][key]; a != want[0] || b != want[1] {
			t.Errorf("%s: treated %v, holdout %v, want %v", key, a, b, want)
		}
	}
	if !strings.Contains(got.Note, "too little for a verdict: an arm has 2 ") {
		t.Errorf("%s", got.Note)
	}
	for range 100 {
		r.metrics.Exchanged(in("treated", pipeline.Rewritten))
		r.metrics.Exchanged(held)
	}
	if got := r.arms(t); !strings.HasPrefix(got.Note, "compare treated with holdout") {
		t.Errorf("%s", got.Note)
	}
}

// A denominator of zero makes no ratio.
func TestArmsWithoutADenominator(t *testing.T) {
	r := newRig(t)
	s := in("holdout", pipeline.HeldOut)
	s.Report.Outcomes = pipeline.Outcomes{Turns: 1}
	s.Usage = promptcache.Usage{}
	r.metrics.Exchanged(s)
	got := r.arms(t)
	for _, key := range []string{"failed_edits_per_call", "turns_per_conversation", "billed_fresh_per_answer"} {
		if v, ok := got.Arms["holdout"][key]; ok {
			t.Errorf("%s: %v", key, v)
		}
	}
	if !strings.Contains(got.Note, "every conversation so far is in the holdout") {
		t.Errorf("%s", got.Note)
	}
}

// What was only looked at, or did not go out, is not counted as saved.
func TestOnlyWhatWentOutIsSaved(t *testing.T) {
	for reason, want := range map[pipeline.Reason][3]float64{
		pipeline.Rewritten:      {50, 0, 200},
		pipeline.ObserveOnly:    {0, 200, 0},
		pipeline.OutputInvalid:  {0, 0, 0},
		pipeline.DeadlinePassed: {0, 0, 0},
		pipeline.HeldOut:        {0, 0, 0},
	} {
		r := newRig(t)
		s := in("treated", reason)
		if reason != pipeline.Rewritten && reason != pipeline.ObserveOnly {
			s.Report.TokensAfter = s.Report.TokensBefore
		}
		r.metrics.Exchanged(s)
		if got := r.arms(t); got.Saved != want[0] || got.Observed != want[1] || got.Received-got.Sent != want[2] {
			t.Errorf("%s: %+v, want %v", reason, got, want)
		}
	}
}
