package secretmask_test

import (
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/components/secretmask"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

var build = componenttest.FromJSON(secretmask.New)

func TestGolden(t *testing.T) { componenttest.Golden(t, verify.New(), build) }

func TestSettings(t *testing.T) {
	for bad, says := range map[string]string{
		`{"patterns":["x"]}`:      "kind=expression",
		`{"patterns":["X y=a"]}`:  "kind=expression",
		`{"patterns":["a=("]}`:    "missing closing",
		`{"patterns":["a=b*"]}`:   "matches nothing",
		`{"allowPatterns":["("]}`: "missing closing",
		`{"allowHashes":["12"]}`:  "64 hexadecimal",
		`{"allowPaths":["["]}`:    "pattern of a path",
		`{"wire":"sometimes"}`:    "store_only",
	} {
		if _, err := build([]byte(bad)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
