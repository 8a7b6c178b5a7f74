package cachesplit

import (
	"fmt"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
	"github.com/trimtab-io/trimtab/store"
)

// minTokens is the least that the stable half must have: Anthropic caches no
// prefix below 1,024 tokens (Anthropic's prompt caching documentation).
const minTokens = 1024

// Gates of cachesplit.
const (
	GateDialect  pipeline.Gate = "not_anthropic"
	GateNoMarker pipeline.Gate = "no_changing_part"
	GateUnmarked pipeline.Gate = "no_breakpoint"
	GateSmall    pipeline.Gate = "stable_part_too_small"
)

// Component splits at most one system block of a request.
type Component struct {
	settings *trimtabv1.Cachesplit
	markers  []string // each with the newline before it
}

var _ pipeline.Envelope = (*Component)(nil)

// New makes the component; the settings have their defaults filled in.
func New(settings *trimtabv1.Cachesplit) (*Component, error) {
	c := &Component{settings: settings}
	markers := settings.GetMarkers()
	if len(markers) == 0 {
		markers = []string{"Recent commits:", "Current branch: ", "gitStatus:", "Here is a snapshot of the current directory"}
	}
	for _, m := range markers {
		if m == "" || strings.ContainsAny(m, "\r\n") {
			return nil, fmt.Errorf("cachesplit: marker %q: want the beginning of one line", m)
		}
		c.markers = append(c.markers, "\n"+m)
	}
	return c, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "cachesplit",
		Summary:   "Splits a system block before its changing part, so that the stable part can be read from the cache.",
		Stability: "beta",
		Keeps:     pipeline.KeepsNothing,
		AtLevel: [3]pipeline.Behaviour{
			store.Off: pipeline.Works, store.Metadata: pipeline.Works, store.Everything: pipeline.Works,
		},
		Reason:  "Where to split follows from the system block alone, so there is nothing to remember between turns.",
		Where:   "nowhere",
		Decided: "docs/decisions/0001",
		Config:  c.settings,
		Wording: 1,
		Linear:  true,
		Gates: []pipeline.GateDoc{
			{Name: GateDialect, Says: "the dialect has no cache breakpoints on system blocks"},
			{Name: GateNoMarker, Says: "no system block has a part that is known to change"},
			{Name: GateUnmarked, Says: "the block carries no cache breakpoint, so splitting it would gain nothing"},
			{Name: GateSmall, Says: "the stable part is too small to be cached"},
		},
	}
}

// RewriteEnvelope implements pipeline.Envelope.
func (c *Component) RewriteEnvelope(e pipeline.EnvelopeView) ([]pipeline.EnvelopeEdit, pipeline.Gate) {
	if e.Dialect != "anthropic" {
		return nil, GateDialect
	}
	gate := GateNoMarker
	for i, b := range e.System {
		at := c.cut(b.Text)
		switch {
		case at <= 0:
		case !b.Marked:
			gate = GateUnmarked
		case tokens.Estimate(b.Text[:at]) < minTokens:
			gate = GateSmall
		default:
			return []pipeline.EnvelopeEdit{{SplitSystem: i, At: at}}, ""
		}
	}
	return nil, gate
}

// cut is the offset of the line that opens the changing part, or -1.
func (c *Component) cut(text string) int {
	first := -1
	for _, m := range c.markers {
		if i := strings.Index(text, m); i >= 0 && (first < 0 || i+1 < first) {
			first = i + 1
		}
	}
	return first
}
