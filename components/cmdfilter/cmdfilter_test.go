package cmdfilter_test

import (
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/components/cmdfilter"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

var build = componenttest.FromJSON(cmdfilter.New)

func TestGolden(t *testing.T) { componenttest.Golden(t, verify.New(), build) }

const ownFilter = `family: own
filters:
- id: own.tool
  about: rows that say fine
  match: {prog: tool}
  stages:
  - fold: {re: '^row .+ fine$', what: fine rows}
`

const broken = `family: own
filters:
- id: own.broken
  about: nothing
  match: {prog: other}
  stages:
  - fold: {re: '^row (', what: rows}
- id: own.tool
  about: rows that say fine
  match: {prog: tool}
  stages:
  - fold: {re: '^row .+ fine$', what: fine rows}
`

// A filter of the configuration that is wrong is refused by name; the others of
// its document, and the built-in ones, work.
func TestABadFilterDoesNotDisableTheOthers(t *testing.T) {
	rows := strings.Repeat("row of the table is fine\n", 40) + "end\n"
	status := strings.Repeat("  (use \"git restore <file>...\" to discard changes)\n\tmodified:   a.go\n", 20)
	for name, doc := range map[string]string{"right": ownFilter, "wrong": broken} {
		c, err := cmdfilter.New(trimtabv1.Fill(&trimtabv1.Cmdfilter{Filters: []string{doc}}))
		if err != nil {
			t.Fatal(err)
		}
		warned := strings.Join(c.Warnings(), "\n")
		if (name == "wrong") != strings.Contains(warned, "cmdfilter.filters[1]:7: filter own.broken: re: ") {
			t.Errorf("%s: warnings %q", name, warned)
		}
		for command, text := range map[string]string{"tool": rows, "git status": status} {
			b := pipeline.Block{Text: text, Received: text, Parts: 1, Class: cmdfilter.ClassOf(command, text, false)}
			if _, g := c.Rewrite(b, pipeline.Prefix{}); g != "" {
				t.Errorf("%s: %s: %s", name, command, g)
			}
		}
	}
}

func TestDisable(t *testing.T) {
	text := strings.Repeat("  (use \"git restore <file>...\" to discard changes)\n\tmodified:   a.go\n", 20)
	for _, name := range []string{"git", "git.status"} {
		c, err := cmdfilter.New(trimtabv1.Fill(&trimtabv1.Cmdfilter{Disable: []string{name, "generic"}}))
		if err != nil || len(c.Warnings()) > 0 {
			t.Fatal(err, c.Warnings())
		}
		b := pipeline.Block{Text: text, Received: text, Parts: 1, Class: cmdfilter.ClassOf("git status", text, false)}
		if _, g := c.Rewrite(b, pipeline.Prefix{}); g != cmdfilter.GateNoFilter {
			t.Errorf("%s: gate %q", name, g)
		}
	}
	c, err := cmdfilter.New(trimtabv1.Fill(&trimtabv1.Cmdfilter{Disable: []string{"gti"}}))
	if err != nil || len(c.Warnings()) != 1 {
		t.Error(err, c.Warnings())
	}
}
