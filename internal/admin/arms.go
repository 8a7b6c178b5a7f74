package admin

import (
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/trimtab-io/trimtab/pipeline"
)

// agentCounter counts one of the things that agents do.
type agentCounter struct {
	*prometheus.CounterVec
	key, metric string
	of          func(pipeline.Outcomes) int
}

// agentCounters are what is compared between the arms: a saving that makes a model
// fail or look again costs more than it takes out.
func agentCounters(counter func(name, help string, labels ...string) *prometheus.CounterVec) []agentCounter {
	list := []struct {
		key, help string
		of        func(pipeline.Outcomes) int
	}{
		{"conversations", "Conversations seen from their first request.", func(o pipeline.Outcomes) int { return o.Conversations }},
		{"turns", "Requests that carried a conversation on; retries and counts are none.", func(o pipeline.Outcomes) int { return o.Turns }},
		{"calls", "Tool calls that were new in their request.", func(o pipeline.Outcomes) int { return o.Calls }},
		{"failed_edits", "New edits whose result is an error. A higher share of the calls in the arm treated than in holdout: a component takes out what models need to edit.", func(o pipeline.Outcomes) int { return o.FailedEdits }},
		{"repeated_reads", "New reads of a file and range that the conversation has read before. A higher share in treated than in holdout: models ask again for what was taken out.", func(o pipeline.Outcomes) int { return o.RepeatedReads }},
		{"repeated_commands", "New commands that the conversation has run before. Tests are run again in every arm; compare the shares.", func(o pipeline.Outcomes) int { return o.RepeatedCommands }},
	}
	var all []agentCounter
	for _, l := range list {
		name := "trimtab_agent_" + l.key + "_total"
		all = append(all, agentCounter{counter(name, l.help, "dialect", "profile", "arm"), l.key, name, l.of})
	}
	return all
}

// armKeys are the counts of an arm in /stats, and the metrics that they sum up.
var armKeys = []struct{ key, metric, tier string }{
	{"conversations", "trimtab_agent_conversations_total", ""},
	{"turns", "trimtab_agent_turns_total", ""},
	{"calls", "trimtab_agent_calls_total", ""},
	{"failed_edits", "trimtab_agent_failed_edits_total", ""},
	{"repeated_reads", "trimtab_agent_repeated_reads_total", ""},
	{"repeated_commands", "trimtab_agent_repeated_commands_total", ""},
	{"billed_answers", "trimtab_billed_answers_total", ""},
	{"billed_fresh", "trimtab_billed_tokens_total", "fresh"},
	{"billed_cache_read", "trimtab_billed_tokens_total", "read"},
	{"billed_cache_write_5m", "trimtab_billed_tokens_total", "write_5m"},
	{"billed_cache_write_1h", "trimtab_billed_tokens_total", "write_1h"},
	{"billed_output", "trimtab_billed_tokens_total", "output"},
}

// ratios are what is compared, each with its denominator in its name.
var ratios = []struct{ over, name, under string }{
	{"turns", "turns_per_conversation", "conversations"},
	{"calls", "calls_per_turn", "turns"},
	{"failed_edits", "failed_edits_per_call", "calls"},
	{"repeated_reads", "repeated_reads_per_call", "calls"},
	{"repeated_commands", "repeated_commands_per_call", "calls"},
	{"billed_fresh", "billed_fresh_per_answer", "billed_answers"},
	{"billed_cache_read", "billed_cache_read_per_answer", "billed_answers"},
	{"billed_cache_write_5m", "billed_cache_write_5m_per_answer", "billed_answers"},
	{"billed_cache_write_1h", "billed_cache_write_1h_per_answer", "billed_answers"},
	{"billed_output", "billed_output_per_answer", "billed_answers"},
}

// enough is how many conversations an arm needs before a difference is worth a look:
// below it, one long conversation is the difference.
const enough = 100

// arms puts what agents did and what was billed side by side, by arm. A ratio whose
// denominator is zero is left out.
func arms(byName map[string]*dto.MetricFamily) map[string]map[string]float64 {
	all := map[string]map[string]float64{}
	for _, arm := range []string{"treated", "holdout", "observe"} {
		counts, any := map[string]float64{}, false
		for _, k := range armKeys {
			labels := map[string]string{"arm": arm}
			if k.tier != "" {
				labels["tier"] = k.tier
			}
			counts[k.key] = sum(byName[k.metric], labels)
			any = any || counts[k.key] > 0
		}
		if !any {
			continue
		}
		for _, r := range ratios {
			if counts[r.under] > 0 {
				counts[r.name] = counts[r.over] / counts[r.under]
			}
		}
		all[arm] = counts
	}
	return all
}

// armsNote says what the comparison is worth.
func armsNote(all map[string]map[string]float64) string {
	treated, held := all["treated"], all["holdout"]
	switch {
	case len(all) == 0:
		return noTurns
	case treated == nil && held == nil:
		return "all profiles in use observe: nothing is treated, so there is nothing to compare"
	case held == nil:
		return "nothing to compare with: set holdout.share on a profile, and a share of its conversations goes out as it came"
	case treated == nil:
		return "every conversation so far is in the holdout: lower holdout.share, or wait"
	}
	if least := slices.Min([]float64{treated["conversations"], held["conversations"]}); least < enough {
		return fmt.Sprintf("too little for a verdict: an arm has %v conversations that were seen from their start, and fewer than %d differ by chance", least, enough)
	}
	return "compare treated with holdout; the arms are chosen by a hash of the conversation, so that a difference is what the rewriting did"
}

const noTurns = "no conversation has been carried on yet: retries, counts of tokens and transcripts that were first seen in the middle are none"
