package textclean_test

import (
	"testing"

	"github.com/trimtab-io/trimtab/components/textclean"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

func TestGolden(t *testing.T) {
	componenttest.Golden(t, verify.New(), componenttest.FromJSON(textclean.New))
}
