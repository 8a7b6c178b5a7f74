package cmdfilter

import (
	"fmt"
	"slices"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of cmdfilter.
const (
	GateKind     pipeline.Gate = "not_a_command"
	GateMark     pipeline.Gate = "mark_in_text"
	GateSmall    pipeline.Gate = "below_min_tokens"
	GateSeveral  pipeline.Gate = "several_commands"
	GatePiped    pipeline.Gate = "piped"
	GateNoFilter pipeline.Gate = "no_filter_match"
	GateState    pipeline.Gate = "kept_verbatim"
	GateProof    pipeline.Gate = "no_proof"
	GateFailed   pipeline.Gate = "failed"
	GateSame     pipeline.Gate = "filter_matched_no_change"
	GateLittle   pipeline.Gate = "saves_too_little"
)

// wording is the version of the marks' text and of what the language means. What
// the built-in filters say counts by their fingerprint.
const wording = 1

// Component leaves lines out of the output of commands. It holds nothing but its
// filters.
type Component struct {
	settings *trimtabv1.Cmdfilter
	set      *Set
	refused  []error
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component. A filter of the configuration that is wrong is left
// out; see Warnings.
func New(settings *trimtabv1.Cmdfilter) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("cmdfilter: %w", err)
	}
	c := &Component{settings: settings}
	base, err := Builtin()
	if err != nil {
		return nil, fmt.Errorf("cmdfilter: %w", err)
	}
	var filters []*Filter
	for i, doc := range settings.GetFilters() {
		own, errs := Load(fmt.Sprintf("cmdfilter.filters[%d]", i+1), []byte(doc))
		for _, f := range own {
			f.Own = true
		}
		filters = append(filters, own...)
		c.refused = append(c.refused, errs...)
	}
	if settings.GetBuiltin() {
		filters = append(filters, base.filters...)
	}
	unknown := slices.Clone(settings.GetDisable())
	filters = slices.DeleteFunc(filters, func(f *Filter) bool {
		off := slices.Contains(settings.GetDisable(), f.ID) || slices.Contains(settings.GetDisable(), f.Family)
		unknown = slices.DeleteFunc(unknown, func(name string) bool { return name == f.ID || name == f.Family })
		return off
	})
	for _, name := range unknown {
		c.refused = append(c.refused, fmt.Errorf("cmdfilter.disable: there is no filter or family %q", name))
	}
	c.set = base
	if len(settings.GetFilters())+len(settings.GetDisable()) > 0 || !settings.GetBuiltin() {
		c.set = NewSet(filters)
	}
	return c, nil
}

// Warnings say which filters of the configuration were refused, and why.
func (c *Component) Warnings() []string {
	out := make([]string, len(c.refused))
	for i, err := range c.refused {
		out[i] = err.Error()
	}
	return out
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "cmdfilter",
		Summary:   "Leaves progress, advice and other boilerplate out of the output of known commands, and says where and how much.",
		Stability: "beta",
		Keeps:     pipeline.KeepsNothing,
		AtLevel:   [3]pipeline.Behaviour{pipeline.WorksNoUndo, pipeline.WorksNoUndo, pipeline.WorksNoUndo},
		Reason:    "What is left out follows from the command and its output alone, so there is nothing to remember.",
		Where:     "nowhere",
		Decided:   "docs/decisions/0006",
		Config:    c.settings,
		Wording:   wording + fingerprint(),
		Gates: []pipeline.GateDoc{
			{Name: GateKind, Says: "the result is not the output of a command, or of one that shows files, searches or data"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
			{Name: GateSmall, Says: "the text is too short to be worth it"},
			{Name: GateSeveral, Says: "several commands printed the text, and nothing tells their outputs apart"},
			{Name: GatePiped, Says: "the output went through a program that selects or changes lines"},
			{Name: GateNoFilter, Says: "there is no filter for the command"},
			{Name: GateState, Says: "the output is in a state in which the filter leaves it alone"},
			{Name: GateProof, Says: "the line that proves success is missing"},
			{Name: GateFailed, Says: "the command failed, so its output stays as it is"},
			{Name: GateSame, Says: "the filter found nothing to leave out"},
			{Name: GateLittle, Says: "what the filter would leave out is too little"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	if !filterable(b) {
		return pipeline.Edit{}, GateKind
	}
	r := c.set.run(b.Class, b.Text, func() bool { return pipeline.HasMark(b.Received) })
	if r.gate != "" {
		return pipeline.Edit{}, r.gate
	}
	return pipeline.Edit{Pieces: r.pieces}, ""
}

// filterable says that a result may be the output of a command that does
// something. What shows files, searches and data is never touched.
func filterable(b pipeline.Block) bool {
	if b.Class.Call.Kind != classify.Shell {
		return false
	}
	switch b.Class.Call.Sub {
	case classify.Viewer, classify.Seeker, classify.Printer:
		return false
	default:
		return true
	}
}
