package components

import (
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

func verifier() pipeline.Verifier { return verify.New() }
