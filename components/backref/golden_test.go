package backref_test

import (
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

func TestGolden(t *testing.T) { componenttest.Golden(t, verify.New(), build) }

func TestBounds(t *testing.T) {
	for _, bad := range []string{`{"minLines":1}`, `{"maxChangedRatio":1.5}`, `{"forceAfter":0}`, `{"maxDistanceTokens":10}`} {
		if _, err := build([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}
