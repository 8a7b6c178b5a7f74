package cmdfilter

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// -update is defined by componenttest as well where both are linked.
var updateFixtures = flag.Bool("update-fixtures", false, "write the wanted texts of filters/*.txtar")

// Every fixture and its variants, and no filter without fixtures: at least one
// output that is cut and one of a failure.
func TestFixtures(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("filters/*.txtar")
	has := map[string]map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if *updateFixtures {
				if data, err = set.UpdateFixtures(data); err == nil {
					err = os.WriteFile(file, data, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			list, err := ReadFixtures(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range list {
				if has[f.Filter] == nil {
					has[f.Filter] = map[string]bool{}
				}
				has[f.Filter][f.Kind] = true
				t.Run(f.Filter+"_"+f.Kind, func(t *testing.T) {
					for _, w := range set.CheckFixture(f) {
						t.Error(w)
					}
				})
			}
		})
	}
	known := map[string]bool{}
	for _, f := range set.Filters() {
		known[f.ID] = true
		if k := has[f.ID]; f.verbatim && !k[FixtureSame] {
			t.Errorf("filter %s needs a fixture of kind same", f.ID)
		} else if !f.verbatim && (!k[FixtureOK] || !k[FixtureFail]) {
			t.Errorf("filter %s needs a fixture of kind ok and one of kind fail", f.ID)
		}
	}
	for id := range has {
		if !known[id] {
			t.Errorf("fixtures for %s, which is no filter", id)
		}
	}
}
