package components

import "github.com/trimtab-io/trimtab/pipeline"

func verifier() pipeline.Verifier { return nil }
