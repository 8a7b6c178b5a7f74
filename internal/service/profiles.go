package service

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trimtab-io/trimtab/components"
	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/store"
)

// Profiles makes the engine's profiles from a configuration, in the order of
// their names. The warnings are what an operator should hear at start: a
// component that does nothing at its profile's storage level does not stay
// quiet. A component that refuses the level is an error.
func Profiles(e *config.Effective) (profiles []pipeline.Profile, warnings []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(e.Profiles)) {
		p := e.Profiles[name]
		out := pipeline.Profile{
			Name:         name,
			Level:        p.Level,
			Exclude:      p.Exclude,
			HoldoutShare: p.Holdout.Share,
			HoldoutSeed:  p.Holdout.Seed,
			Limits:       pipeline.Limits{Deadline: p.Limits.Deadline},
		}
		if p.Observe {
			out.Mode = pipeline.Observe
		}
		for _, c := range p.Components {
			made, err := components.New(c.Name, c.Settings)
			if err != nil {
				return nil, nil, fmt.Errorf("profile %s: %w", name, err)
			}
			warning, err := atLevel(made.Describe(), p.Level)
			if err != nil {
				return nil, nil, fmt.Errorf("profile %s: %w", name, err)
			}
			if warning != "" {
				warnings = append(warnings, fmt.Sprintf("profile %s: %s", name, warning))
			}
			if w, ok := made.(interface{ Warnings() []string }); ok {
				for _, text := range w.Warnings() {
					warnings = append(warnings, fmt.Sprintf("profile %s: %s", name, text))
				}
			}
			out.Components = append(out.Components, made)
		}
		profiles = append(profiles, out)
	}
	return profiles, warnings, nil
}

// atLevel says what a component leaves undone at a storage level.
func atLevel(d pipeline.Description, l store.Level) (warning string, err error) {
	switch d.AtLevel[l] {
	case pipeline.Refuses:
		return "", fmt.Errorf("component %s does not work at storage level %s: %s", d.Name, l, d.Reason)
	case pipeline.Skips:
		return fmt.Sprintf("component %s does nothing at storage level %s: %s", d.Name, l, d.Reason), nil
	case pipeline.OptIn:
		return fmt.Sprintf("component %s does nothing at storage level %s unless asked to: %s", d.Name, l, d.Reason), nil
	}
	return "", nil
}
