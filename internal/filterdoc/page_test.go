package filterdoc_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/trimtab-io/trimtab/components/cmdfilter"
	"github.com/trimtab-io/trimtab/internal/filterdoc"
)

var update = flag.Bool("update", false, "write the page anew")

const page = "../../docs/filters.md"

func TestThePageIsWhatTheFiltersSay(t *testing.T) {
	set, err := cmdfilter.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	_, files, err := cmdfilter.FixtureFiles()
	if err != nil {
		t.Fatal(err)
	}
	var fixtures []cmdfilter.Fixture
	for _, data := range files {
		list, err := cmdfilter.ReadFixtures(data)
		if err != nil {
			t.Fatal(err)
		}
		fixtures = append(fixtures, list...)
	}
	want := filterdoc.Markdown(set.Filters(), fixtures)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(page); !slices.Equal(got, []byte(want)) {
		t.Errorf("%s is not up to date: run go test ./internal/filterdoc -update", page)
	}
}
