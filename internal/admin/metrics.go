package admin

import (
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/trimtab-io/trimtab/extproc"
	"github.com/trimtab-io/trimtab/pipeline"
)

// Metrics are the process's metrics, in a registry of their own. It is an
// [extproc.Observer] and safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	models   models

	requests, passed, bodyBytes, tokens         *prometheus.CounterVec
	edits, saved, savedBytes, declined          *prometheus.CounterVec
	violations, rewrites, billed, usage, panics *prometheus.CounterVec
	modes, bills, observed, observedEdits, cold *prometheus.CounterVec
	agent                                       []agentCounter
	added, engine                               *prometheus.HistogramVec
}

// seconds are the buckets of times that a request is held up: from what a known
// prefix costs to Envoy's patience. Native histograms need none.
var seconds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}

// NewMetrics returns the metrics of a process of the given version.
func NewMetrics(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), models: models{seen: map[string]bool{}}}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: seconds, NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100,
		}, labels)
		m.registry.MustRegister(h)
		return h
	}
	m.requests = counter("trimtab_requests_total", "Requests on paths of a provider, by what became of them: rewritten, or passed as they came. Reasons are in trimtab_passthrough_total.", "dialect", "profile", "outcome")
	m.passed = counter("trimtab_passthrough_total", "Requests that went out as they came, by reason. deadline, panic and bytes_in_flight are alarms; nothing_to_shorten and no_tool_output are not.", "profile", "reason")
	m.modes = counter("trimtab_body_mode_total", "How Envoy was asked for bodies. partial means that clients send no content-length; bodies over Envoy's buffer then go through untouched.", "mode")
	m.bodyBytes = counter("trimtab_body_bytes_total", "Bytes of request bodies that the engine saw, as received and as forwarded.", "dialect", "profile", "side")
	m.tokens = counter("trimtab_estimated_tokens_total", "Estimated tokens of request bodies that the engine saw, as received and as forwarded. The provider's own count is in trimtab_billed_tokens_total.", "dialect", "profile", "arm", "side")
	m.edits = counter("trimtab_component_edits_total", "Blocks that a component changed: first when the block was new, replayed when it was sent before.", "component", "profile", "turn")
	m.saved = counter("trimtab_component_saved_tokens_total", "Estimated tokens that a component took out: first on the turn a block appeared, replayed on later turns.", "component", "profile", "turn")
	m.savedBytes = counter("trimtab_component_saved_bytes_total", "Bytes that a component took out. If it disagrees with saved tokens, the estimate is off.", "component", "profile")
	m.declined = counter("trimtab_component_declined_total", "Blocks that a component looked at and left alone, by the gate that said so.", "component", "gate")
	m.violations = counter("trimtab_prefix_violations_total", "Blocks changed in a prefix that the provider holds, without a counted cause. Must stay 0; report it with the component.", "component")
	m.rewrites = counter("trimtab_prefix_rewrites_total", "Blocks changed in a prefix that the provider may hold, for a counted cause, which costs one cache write.", "cause")
	m.cold = counter("trimtab_cold_turns_total", "Requests on which the provider's cache of the conversation had expired: all of it is written anew, whatever trimtab does.", "profile")
	m.billed = counter("trimtab_billed_tokens_total", "Tokens that providers say they billed, by tier, and by arm for a comparison with the holdout.", "dialect", "model", "profile", "arm", "tier")
	m.usage = counter("trimtab_usage_read_total", "What became of reading the bill in answers. unknown_shape, encoding, syntax and too_large mean that billed tokens are counted too low; absent is an answer without a bill, cut one that broke off before it.", "outcome")
	m.bills = counter("trimtab_billed_answers_total", "Answers whose bill was read: what billed tokens are divided by for a comparison of the arms.", "dialect", "model", "profile", "arm")
	m.observedEdits = counter("trimtab_observed_edits_total", "Blocks that a component would have changed; the profile's mode is observe.", "component", "profile")
	m.observed = counter("trimtab_observed_saved_tokens_total", "Estimated tokens that a component would have taken out; the profile's mode is observe.", "component", "profile")
	m.agent = agentCounters(counter)
	m.panics = counter("trimtab_panics_total", "Stages saved from a panic; the request went out as it came. Report it with the log line.", "stage")
	m.added = histogram("trimtab_added_seconds", "Time that a request was held up by the server's answers.", "outcome")
	m.engine = histogram("trimtab_engine_seconds", "Time that the engine worked on a request.", "outcome")

	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "trimtab_build_info", Help: "1, with the version that runs.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.violations.WithLabelValues("none").Add(0) // so that an alert sees a zero
	return m
}

// Panicked implements [extproc.Observer].
func (m *Metrics) Panicked(stage string) { m.panics.WithLabelValues(stage).Inc() }

// Exchanged implements [extproc.Observer].
func (m *Metrics) Exchanged(s extproc.Summary) {
	r := &s.Report
	outcome := "passed"
	if r.Reason == pipeline.Rewritten {
		outcome = "rewritten"
	} else {
		count(m.passed.WithLabelValues(r.Profile, string(r.Reason)), 1, s.Trace)
	}
	if r.Dialect == "" {
		return // not on a provider's path
	}
	count(m.requests.WithLabelValues(string(r.Dialect), r.Profile, outcome), 1, s.Trace)
	m.modes.WithLabelValues(string(s.Mode)).Inc()
	observe(m.added.WithLabelValues(outcome), s.Added, s.Trace)
	m.usage.WithLabelValues(s.UsageOutcome).Inc()
	if r.Engine > 0 {
		m.worked(r, outcome, s.Trace)
	}
	if u := s.Usage; u.Known {
		model := m.models.label(r.Model)
		m.bills.WithLabelValues(string(r.Dialect), model, r.Profile, r.Arm).Inc()
		for _, t := range []struct {
			tier string
			n    int
		}{{"fresh", u.Fresh}, {"read", u.Read}, {"write_5m", u.Write5m}, {"write_1h", u.Write1h}, {"output", u.Output}} {
			m.billed.WithLabelValues(string(r.Dialect), model, r.Profile, r.Arm, t.tier).Add(float64(t.n))
		}
	}
}

// worked counts what the engine did.
func (m *Metrics) worked(r *pipeline.Report, outcome, trace string) {
	d := string(r.Dialect)
	after := r.TokensAfter
	if r.Reason == pipeline.ObserveOnly {
		after = r.TokensBefore // the report says what it could have been
	}
	observe(m.engine.WithLabelValues(outcome), r.Engine, trace)
	m.bodyBytes.WithLabelValues(d, r.Profile, "received").Add(float64(r.BytesBefore))
	m.bodyBytes.WithLabelValues(d, r.Profile, "forwarded").Add(float64(r.BytesAfter))
	m.tokens.WithLabelValues(d, r.Profile, r.Arm, "received").Add(float64(r.TokensBefore))
	m.tokens.WithLabelValues(d, r.Profile, r.Arm, "forwarded").Add(float64(after))
	if r.Cold {
		m.cold.WithLabelValues(r.Profile).Inc()
	}
	for _, a := range m.agent {
		a.WithLabelValues(d, r.Profile, r.Arm).Add(float64(a.of(r.Outcomes)))
	}
	for _, c := range r.Components {
		m.component(r, c)
	}
	for component, n := range r.Violations {
		m.violations.WithLabelValues(component).Add(float64(n))
	}
	for cause, n := range r.Rewrites {
		m.rewrites.WithLabelValues(cause).Add(float64(n))
	}
}

// component counts what a component did. What did not go out was not saved.
func (m *Metrics) component(r *pipeline.Report, c pipeline.ComponentReport) {
	for gate, n := range c.Gates {
		m.declined.WithLabelValues(c.Name, string(gate)).Add(float64(n))
	}
	switch r.Reason {
	case pipeline.Rewritten:
		m.edits.WithLabelValues(c.Name, r.Profile, "first").Add(float64(max(c.Edits-c.Replayed, 0)))
		m.edits.WithLabelValues(c.Name, r.Profile, "replayed").Add(float64(c.Replayed))
		m.saved.WithLabelValues(c.Name, r.Profile, "first").Add(float64(max(c.FirstSavedTokens, 0)))
		m.saved.WithLabelValues(c.Name, r.Profile, "replayed").Add(float64(max(c.SavedTokens-c.FirstSavedTokens, 0)))
		m.savedBytes.WithLabelValues(c.Name, r.Profile).Add(float64(max(c.SavedBytes, 0)))
	case pipeline.ObserveOnly:
		m.observedEdits.WithLabelValues(c.Name, r.Profile).Add(float64(c.Edits))
		m.observed.WithLabelValues(c.Name, r.Profile).Add(float64(max(c.SavedTokens, 0)))
	}
}

// exemplar links a number to the trace of a request; nil where there is none.
func exemplar(trace string) prometheus.Labels {
	if trace == "" {
		return nil
	}
	return prometheus.Labels{"trace_id": trace}
}

func count(c prometheus.Counter, n float64, trace string) {
	if e, ok := c.(prometheus.ExemplarAdder); ok && trace != "" {
		e.AddWithExemplar(n, exemplar(trace))
		return
	}
	c.Add(n)
}

func observe(o prometheus.Observer, d time.Duration, trace string) {
	if e, ok := o.(prometheus.ExemplarObserver); ok && trace != "" {
		e.ObserveWithExemplar(d.Seconds(), exemplar(trace))
		return
	}
	o.Observe(d.Seconds())
}

// maxModels bounds the values of the label model; a client chooses the text.
const maxModels = 50

// models turns what clients call models into a bounded set of families.
type models struct {
	mu   sync.Mutex
	seen map[string]bool
}

var (
	modelTail  = regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)?(-v\d+)?(:\d+)?$`)
	modelShape = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,47}$`)
)

func (m *models) label(model string) string {
	name := strings.ToLower(model)
	name = name[strings.LastIndexAny(name, "/")+1:]
	name, _, _ = strings.Cut(name, "@")
	if i := strings.LastIndex(name, "anthropic."); i >= 0 {
		name = name[i+len("anthropic."):]
	}
	name = modelTail.ReplaceAllString(name, "")
	if !modelShape.MatchString(name) {
		return "other"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.seen[name] {
		if len(m.seen) >= maxModels {
			return "other"
		}
		m.seen[name] = true
	}
	return name
}
