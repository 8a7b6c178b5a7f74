package admin

import (
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// field is one number of /stats. Keys may be added, never removed or renamed.
type field struct {
	key    string
	metric string            // the metric that it sums up
	labels map[string]string // only series with these labels
	// zero says why it is zero, in one sentence.
	zero func(v values) string
}

// values are the numbers of /stats by key.
type values map[string]float64

// because returns the first reason whose condition holds, else the last text.
type because struct {
	when bool
	says string
}

func first(otherwise string, list ...because) string {
	for _, b := range list {
		if b.when {
			return b.says
		}
	}
	return otherwise
}

const (
	noRequests = "no request on a provider's path has ended yet: check that agents use this proxy's address, and that Envoy's route has the trimtab filter"
	noRewrites = "no request was rewritten yet; see passthrough for the reasons"
)

func fields() []field {
	always := func(says string) func(values) string { return func(values) string { return says } }
	unlessAsked := func(says string) func(values) string {
		return func(v values) string { return first(says, because{v["requests"] == 0, noRequests}) }
	}
	unlessRewritten := func(says string) func(values) string {
		return func(v values) string {
			return first(says, because{v["requests"] == 0, noRequests}, because{v["requests_rewritten"] == 0, noRewrites})
		}
	}
	return []field{
		{"requests", "trimtab_requests_total", nil, always(noRequests)},
		{"requests_rewritten", "trimtab_requests_total", map[string]string{"outcome": "rewritten"}, unlessAsked("every request went out as it came; see passthrough for the reasons")},
		{"requests_passed", "trimtab_requests_total", map[string]string{"outcome": "passed"}, unlessAsked("every request was rewritten")},
		{"body_bytes_received", "trimtab_body_bytes_total", map[string]string{"side": "received"}, unlessAsked("the engine saw no body: all requests were decided by their headers; see passthrough")},
		{"body_bytes_forwarded", "trimtab_body_bytes_total", map[string]string{"side": "forwarded"}, unlessAsked("the engine saw no body: all requests were decided by their headers; see passthrough")},
		{"estimated_tokens_received", "trimtab_estimated_tokens_total", map[string]string{"side": "received"}, unlessAsked("the engine saw no body: all requests were decided by their headers; see passthrough")},
		{"estimated_tokens_forwarded", "trimtab_estimated_tokens_total", map[string]string{"side": "forwarded"}, unlessAsked("the engine saw no body: all requests were decided by their headers; see passthrough")},
		{"edits_first", "trimtab_component_edits_total", map[string]string{"turn": "first"}, unlessAsked("no component found anything to shorten; see declined for what each said")},
		{"edits_replayed", "trimtab_component_edits_total", map[string]string{"turn": "replayed"}, unlessRewritten("no conversation has come back with a block that was shortened before")},
		{"saved_tokens_first", "trimtab_component_saved_tokens_total", map[string]string{"turn": "first"}, unlessAsked("no component found anything to shorten; see declined for what each said")},
		{"saved_tokens_replayed", "trimtab_component_saved_tokens_total", map[string]string{"turn": "replayed"}, unlessRewritten("no conversation has come back with a block that was shortened before")},
		{"observed_saved_tokens", "trimtab_observed_saved_tokens_total", nil, always("no profile in use has the mode observe, or nothing could have been shortened there")},
		{"prefix_violations", "trimtab_prefix_violations_total", nil, always("as it must be: no forwarded prefix changed without a counted cause")},
		{"prefix_rewrites", "trimtab_prefix_rewrites_total", nil, always("no cached prefix had to be written again")},
		{"turns_cold", "trimtab_cold_turns_total", nil, unlessAsked("no conversation was carried on after the provider's cache of it had expired")},
		{"billed_fresh", "trimtab_billed_tokens_total", map[string]string{"tier": "fresh"}, unlessAsked("no bill with fresh input was read; see usage_outcomes")},
		{"billed_cache_read", "trimtab_billed_tokens_total", map[string]string{"tier": "read"}, unlessAsked("providers read nothing from their caches; agents may set no breakpoints, or no conversation has had a second turn")},
		{"billed_cache_write_5m", "trimtab_billed_tokens_total", map[string]string{"tier": "write_5m"}, unlessAsked("no five-minute cache writes were billed; OpenAI bills none")},
		{"billed_cache_write_1h", "trimtab_billed_tokens_total", map[string]string{"tier": "write_1h"}, unlessAsked("no one-hour cache writes were billed; agents ask for them by ttl")},
		{"billed_output", "trimtab_billed_tokens_total", map[string]string{"tier": "output"}, unlessAsked("no bill with output was read; see usage_outcomes")},
		{"agent_conversations", "trimtab_agent_conversations_total", nil, unlessAsked(noTurns)},
		{"agent_turns", "trimtab_agent_turns_total", nil, unlessAsked(noTurns)},
		{"agent_calls", "trimtab_agent_calls_total", nil, unlessAsked("no tool call was new in its request")},
		{"agent_failed_edits", "trimtab_agent_failed_edits_total", nil, unlessAsked("no new edit has failed")},
		{"agent_repeated_reads", "trimtab_agent_repeated_reads_total", nil, unlessAsked("no conversation has read the same range of a file again")},
		{"agent_repeated_commands", "trimtab_agent_repeated_commands_total", nil, unlessAsked("no conversation has run a command again")},
		{"billed_answers", "trimtab_billed_answers_total", nil, unlessAsked("no bill was read; see usage_outcomes")},
		{"panics", "trimtab_panics_total", nil, always("as it must be: no stage had to be saved")},
		{"exchanges_open", "trimtab_exchanges_open", nil, always("no request is under way")},
		{"bytes_in_flight", "trimtab_bytes_in_flight", nil, always("no body is held right now")},
		{"bytes_in_flight_limit", "trimtab_bytes_in_flight_limit", nil, always("no limit is known: the configuration is not loaded")},
		{"conversations", "trimtab_conversations", nil, unlessAsked("no request had a transcript that can be tracked; see passthrough")},
		{"memo_entries", "trimtab_memo_entries", nil, unlessAsked("no block has been looked at: there was no tool output")},
		{"memo_bytes", "trimtab_memo_bytes", nil, unlessAsked("no block has been looked at: there was no tool output")},
		{"generations", "trimtab_generations", nil, always("no profile is in force")},
		{"decisions_live", "trimtab_decisions_live", nil, always("no component that takes decisions has taken one; mask takes them on cold turns only, and no preset below balanced has it")},
		{"decisions_capacity", "trimtab_decisions_capacity", nil, always("no profile may keep facts: all are at the level off")},
		{"decisions_committed", "trimtab_decisions_committed_total", nil, always("no component that takes decisions has taken one; mask takes them on cold turns only, and no preset below balanced has it")},
		{"decisions_replayed", "trimtab_decisions_replayed_total", nil, func(v values) string {
			return first("no decision was needed again yet", because{v["decisions_committed"] == 0, "there are no decisions"})
		}},
		{"decisions_refused", "trimtab_decisions_refused_total", nil, always("the store was never full")},
		{"decisions_expired", "trimtab_decisions_expired_total", nil, always("no decision has outlived its horizon")},
		{"originals_live", "trimtab_originals_live", nil, always("no text is kept: no profile is at the level everything, or nothing was cut that could be asked for")},
		{"originals_bytes", "trimtab_originals_bytes", nil, always("no text is kept")},
		{"originals_bytes_limit", "trimtab_originals_bytes_limit", nil, always("no profile may keep texts")},
		{"originals_refused", "trimtab_originals_refused_total", nil, always("the reserve was never full")},
		{"originals_missing", "trimtab_originals_missing_total", nil, always("every text behind a mark could be kept")},
		{"originals_expired", "trimtab_originals_expired_total", nil, always("no text has outlived its horizon; with revived zero too the reserve never bound, which does not show that the horizon works")},
		{"originals_revived", "trimtab_originals_revived_total", nil, always("no text had to be kept again; with expired zero too the reserve never bound, which does not show that the horizon works")},
		{"config_loads", "trimtab_config_loads_total", nil, always("no configuration is loaded")},
		{"config_refused", "trimtab_config_refused_total", nil, always("no changed configuration was refused")},
		{"config_stale", "trimtab_config_stale", nil, always("the newest configuration is in force")},
		{"config_loaded_at", "trimtab_config_loaded_timestamp_seconds", nil, always("no configuration is loaded")},
	}
}

// group is a breakdown of a metric by its labels.
type group struct {
	key, metric string
	labels      []string
	empty       string // why there is nothing in it
}

func groups() []group {
	return []group{
		{"passthrough", "trimtab_passthrough_total", []string{"reason"}, "no request went out as it came"},
		{"edits_by_component", "trimtab_component_edits_total", []string{"component"}, "no component has changed anything"},
		{"observed_by_component", "trimtab_observed_saved_tokens_total", []string{"component"}, "no profile in use has the mode observe, or nothing could have been shortened there"},
		{"saved_tokens_by_component", "trimtab_component_saved_tokens_total", []string{"component"}, "no component has changed anything"},
		{"saved_bytes_by_component", "trimtab_component_saved_bytes_total", []string{"component"}, "no component has changed anything"},
		{"declined", "trimtab_component_declined_total", []string{"component", "gate"}, "no component has looked at a block and left it alone"},
		{"violations_by_component", "trimtab_prefix_violations_total", []string{"component"}, "as it must be"},
		{"rewrites_by_cause", "trimtab_prefix_rewrites_total", []string{"cause"}, "no cached prefix had to be written again"},
		{"body_modes", "trimtab_body_mode_total", []string{"mode"}, noRequests},
		{"usage_outcomes", "trimtab_usage_read_total", []string{"outcome"}, noRequests},
		{"billed_by_model", "trimtab_billed_tokens_total", []string{"model", "tier"}, "no bill was read; see usage_outcomes"},
		{"panics_by_stage", "trimtab_panics_total", []string{"stage"}, "as it must be"},
	}
}

// stats is the object of /stats.
func stats(families []*dto.MetricFamily) map[string]any {
	byName := map[string]*dto.MetricFamily{}
	for _, f := range families {
		byName[f.GetName()] = f
	}
	out, vals, zeros := map[string]any{}, values{}, map[string]string{}
	for _, f := range fields() {
		vals[f.key] = sum(byName[f.metric], f.labels)
		out[f.key] = vals[f.key]
	}
	for _, f := range fields() {
		if vals[f.key] == 0 {
			zeros[f.key] = f.zero(vals)
		}
	}
	for _, g := range groups() {
		parts := breakdown(byName[g.metric], g.labels)
		out[g.key] = parts
		if len(parts) == 0 {
			zeros[g.key] = g.empty
		}
	}
	compared := arms(byName)
	out["arms"], out["arms_note"] = compared, armsNote(compared)
	if len(compared) == 0 {
		zeros["arms"] = noTurns
	}
	out["zeros"] = zeros
	return out
}

func sum(f *dto.MetricFamily, labels map[string]string) float64 {
	total := 0.0
	for _, m := range f.GetMetric() {
		if matches(m, labels) {
			total += value(m)
		}
	}
	return total
}

func matches(m *dto.Metric, labels map[string]string) bool {
	for name, want := range labels {
		if !slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool {
			return l.GetName() == name && l.GetValue() == want
		}) {
			return false
		}
	}
	return true
}

func value(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue()
}

// breakdown sums a metric by some of its labels, zeros left out.
func breakdown(f *dto.MetricFamily, labels []string) map[string]float64 {
	parts := map[string]float64{}
	for _, m := range f.GetMetric() {
		if value(m) == 0 {
			continue
		}
		var name []string
		for _, want := range labels {
			for _, l := range m.GetLabel() {
				if l.GetName() == want {
					name = append(name, l.GetValue())
				}
			}
		}
		parts[strings.Join(name, ".")] += value(m)
	}
	return parts
}

// Summary is the numbers of /stats in one line, for a log at the end of a run.
func (m *Metrics) Summary() (string, error) {
	families, err := m.registry.Gather()
	if err != nil {
		return "", fmt.Errorf("gather metrics: %w", err)
	}
	s := stats(families)
	return fmt.Sprintf("%v requests, %v rewritten, %v of %v estimated tokens saved, %v prefix violations",
		s["requests"], s["requests_rewritten"],
		s["estimated_tokens_received"].(float64)-s["estimated_tokens_forwarded"].(float64),
		s["estimated_tokens_received"], s["prefix_violations"]), nil
}
