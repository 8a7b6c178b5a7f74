package components

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline"
)

var label = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// A component's description is whole, and its README says what the description
// says: every section, every gate.
func TestDescriptionsAndREADMEs(t *testing.T) {
	for _, e := range Catalogue() {
		t.Run(e.Name, func(t *testing.T) {
			c, err := New(e.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := c.Describe()
			if d.Name != e.Name || !label.MatchString(d.Name) {
				t.Errorf("the catalogue says %q, the component %q", e.Name, d.Name)
			}
			kinds := 0
			for _, is := range []bool{is[pipeline.Pure](c), is[pipeline.Decided](c), is[pipeline.Generated](c), is[pipeline.Envelope](c)} {
				if is {
					kinds++
				}
			}
			if kinds != 1 {
				t.Errorf("it is of %d kinds", kinds)
			}
			if d.Config == nil || d.Wording < 1 || d.Stability == "" {
				t.Errorf("config %v, wording %d, stability %q", d.Config, d.Wording, d.Stability)
			}
			readme, err := os.ReadFile(e.Name + "/README.md")
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []string{"# " + e.Name + "\n", "## Kind and stability", "## What it does", "## Before and after", "## Configuration", "## What it loses", "## Gates", "## Metrics"} {
				if !strings.Contains(string(readme), s) {
					t.Errorf("the README has no %q", strings.TrimSpace(s))
				}
			}
			for _, g := range d.Gates {
				if !label.MatchString(string(g.Name)) || g.Says == "" {
					t.Errorf("gate %q says %q", g.Name, g.Says)
				}
				if !strings.Contains(string(readme), "`"+string(g.Name)+"`") {
					t.Errorf("the README does not name the gate %s", g.Name)
				}
			}
			fields := d.Config.ProtoReflect().Descriptor().Fields()
			for i := range fields.Len() {
				if n := string(fields.Get(i).Name()); !strings.Contains(string(readme), "`"+n+"`") {
					t.Errorf("the README does not name the setting %s", n)
				}
			}
		})
	}
}

func is[K any](c pipeline.Component) bool {
	_, ok := c.(K)
	return ok
}
