package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/store/memory"
)

// Sources are where the admin server reads from. All functions are safe for
// concurrent use.
type Sources struct {
	Version string
	// Config is the configuration in force, and what the last attempts to load
	// one came to.
	Config func() (*config.Effective, config.Status)
	// Generations are the ids of the current generations, by profile.
	Generations func() map[string]string
	// Load is what the process holds right now.
	Load func() Load
	// NotReady lists in plain words what keeps the process from serving.
	NotReady func() []string
	// Warnings are about the configuration in force: components that do nothing
	// at the profile's storage level, and the like.
	Warnings func() []string
}

// Load is what the process holds right now.
type Load struct {
	Exchanges, Bytes, MaxBytes int64
	Engine                     pipeline.Stats
	Facts                      memory.FactsStats
	Texts                      memory.TextsStats
}

// gauge is a metric that is read when it is asked for.
type gauge struct {
	name, help string
	kind       prometheus.ValueType
	read       func(Load, config.Status) float64
}

func gauges() []gauge {
	g, c := prometheus.GaugeValue, prometheus.CounterValue
	return []gauge{
		{"trimtab_exchanges_open", "Requests that are under way, until the end of their answers.", g, func(l Load, _ config.Status) float64 { return float64(l.Exchanges) }},
		{"trimtab_bytes_in_flight", "Bytes of request bodies that are held.", g, func(l Load, _ config.Status) float64 { return float64(l.Bytes) }},
		{"trimtab_bytes_in_flight_limit", "The most that may be held; beyond it requests go through untouched. Raise process.max_bytes_in_flight if the reason bytes_in_flight counts.", g, func(l Load, _ config.Status) float64 { return float64(l.MaxBytes) }},
		{"trimtab_conversations", "Conversations whose cached prefix is tracked.", g, func(l Load, _ config.Status) float64 { return float64(l.Engine.Conversations) }},
		{"trimtab_memo_entries", "Outcomes that are known without looking at a block again.", g, func(l Load, _ config.Status) float64 { return float64(l.Engine.MemoEntries) }},
		{"trimtab_memo_bytes", "Memory of those outcomes. They hold numbers, no text.", g, func(l Load, _ config.Status) float64 { return float64(l.Engine.MemoBytes) }},
		{"trimtab_generations", "Configurations that conversations are pinned to.", g, func(l Load, _ config.Status) float64 { return float64(l.Engine.Generations) }},
		{"trimtab_decisions_live", "Recorded decisions in force.", g, func(l Load, _ config.Status) float64 { return float64(l.Facts.Live) }},
		{"trimtab_decisions_capacity", "The most decisions that are kept; new ones are refused when it is reached.", g, func(l Load, _ config.Status) float64 { return float64(l.Facts.Capacity) }},
		{"trimtab_decisions_committed_total", "Decisions recorded.", c, func(l Load, _ config.Status) float64 { return float64(l.Facts.Committed) }},
		{"trimtab_decisions_replayed_total", "Decisions applied again.", c, func(l Load, _ config.Status) float64 { return float64(l.Facts.Replayed) }},
		{"trimtab_decisions_refused_total", "Decisions not taken because the store was full.", c, func(l Load, _ config.Status) float64 { return float64(l.Facts.Refused) }},
		{"trimtab_decisions_expired_total", "Decisions forgotten after their horizon; conversations that ended.", c, func(l Load, _ config.Status) float64 { return float64(l.Facts.Expired) }},
		{"trimtab_originals_live", "Texts kept; none below the level everything.", g, func(l Load, _ config.Status) float64 { return float64(l.Texts.Live) }},
		{"trimtab_originals_bytes", "Bytes of the texts kept.", g, func(l Load, _ config.Status) float64 { return float64(l.Texts.Bytes) }},
		{"trimtab_originals_bytes_limit", "The most bytes of texts that are kept.", g, func(l Load, _ config.Status) float64 { return float64(l.Texts.MaxBytes) }},
		{"trimtab_originals_refused_total", "Texts not kept because the reserve was full.", c, func(l Load, _ config.Status) float64 { return float64(l.Texts.Refused) }},
		{"trimtab_originals_missing_total", "Refused texts behind a mark that was already sent. Raise the reserve first, the horizon only if expired climbs with it.", c, func(l Load, _ config.Status) float64 { return float64(l.Texts.Missing) }},
		{"trimtab_originals_expired_total", "Texts forgotten after their horizon. Alone: conversations ended.", c, func(l Load, _ config.Status) float64 { return float64(l.Texts.Expired) }},
		{"trimtab_originals_revived_total", "Texts kept again after they had expired. Following expired: the short horizon is absorbed. Both zero: the reserve never bound; see refused.", c, func(l Load, _ config.Status) float64 { return float64(l.Texts.Revived) }},
		{"trimtab_config_loads_total", "Configurations that came into force.", c, func(_ Load, s config.Status) float64 { return float64(s.Loads) }},
		{"trimtab_config_refused_total", "Changed configurations that were refused; /config says why.", c, func(_ Load, s config.Status) float64 { return float64(s.Failed) }},
		{"trimtab_config_stale", "1 while the newest configuration is refused and an older one is in force.", g, func(_ Load, s config.Status) float64 {
			if s.Err != nil {
				return 1
			}
			return 0
		}},
		{"trimtab_config_loaded_timestamp_seconds", "When the configuration in force was loaded.", g, func(_ Load, s config.Status) float64 { return float64(s.Loaded.UnixMilli()) / 1000 }},
	}
}

// reader is a collector of the gauges.
type reader struct {
	sources Sources
	descs   []*prometheus.Desc
	gauges  []gauge
}

func newReader(s Sources) *reader {
	r := &reader{sources: s, gauges: gauges()}
	for _, g := range r.gauges {
		r.descs = append(r.descs, prometheus.NewDesc(g.name, g.help, nil, nil))
	}
	return r
}

// Describe implements prometheus.Collector.
func (r *reader) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range r.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (r *reader) Collect(ch chan<- prometheus.Metric) {
	load := r.sources.Load()
	_, status := r.sources.Config()
	for i, g := range r.gauges {
		ch <- prometheus.MustNewConstMetric(r.descs[i], g.kind, g.read(load, status))
	}
}
