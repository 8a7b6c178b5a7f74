package dependence

import (
	"fmt"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
)

// Markdown writes the page from the components' descriptions and the features.
func Markdown(components []pipeline.Description, features []Feature, presets []Preset) string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("## Components\n\n")
	b.WriteString("| component | kept at *everything* | where | off | metadata | everything | why | decided |\n|---|---|---|---|---|---|---|---|\n")
	for _, d := range components {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | [%s](%s) |\n", d.Name, d.Keeps, d.Where,
			cell(d, 0), cell(d, 1), cell(d, 2), d.Reason, strings.TrimPrefix(d.Decided, "docs/decisions/"), "decisions/")
	}
	b.WriteString("\n## Features outside the components\n\n")
	b.WriteString("| feature | keeps | off | metadata | everything | why | shown by |\n|---|---|---|---|---|---|---|\n")
	for _, f := range features {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | `%s` |\n", f.Name, f.Keeps, f.AtLevel[0], f.AtLevel[1], f.AtLevel[2], f.Reason, f.Proof)
	}
	b.WriteString("\n## Presets\n\n| preset | components | off | metadata | everything |\n|---|---|---|---|---|\n")
	for _, p := range presets {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", p.Name, strings.Join(p.Components, ", "), p.at(components, 0), p.at(components, 1), p.at(components, 2))
	}
	return b.String()
}

// Preset is a named list of components.
type Preset struct {
	Name       string
	Components []string
}

// at sums up what is left of the preset at a level.
func (p Preset) at(components []pipeline.Description, level int) string {
	var skips []string
	for _, name := range p.Components {
		for _, d := range components {
			if d.Name == name && d.AtLevel[level] == pipeline.Skips {
				skips = append(skips, name)
			}
		}
	}
	if len(skips) == 0 {
		return "works"
	}
	return "works but for " + strings.Join(skips, ", ") + ", which skips and is named at start-up"
}

// cell tells works from works keeping metadata.
func cell(d pipeline.Description, level int) string {
	s := string(d.AtLevel[level])
	if level > 0 && d.Keeps != pipeline.KeepsNothing && d.AtLevel[level] != pipeline.Skips && d.AtLevel[level] != pipeline.Refuses {
		s += ", keeping " + map[pipeline.Keeps]string{pipeline.KeepsFacts: "metadata", pipeline.KeepsTexts: "content"}[d.Keeps]
	}
	return s
}

const head = `# What is kept, and what works without keeping it

This page is generated from the components' own descriptions and checked by a test that runs every cell:
` + "`go test ./internal/dependence`" + `. Change a description, run it with ` + "`-update`" + `, and record why in ` + "`docs/decisions/`" + `.

*Content* is text of the user or the agent, or made from it. *Metadata* are values from which it can't be read back: keyed
hashes, counts, sizes, ids, times, flags. *Kept* means held after the exchange ends, in memory or on disk. The storage level
is set per profile:

- **off**: nothing but trackers of counts, times and digests in memory.
- **metadata** (the default): also recorded decisions, each a few numbers under a keyed hash.
- **everything**: also texts.

`
