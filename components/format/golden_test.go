package format_test

import (
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/trimtab-io/trimtab/components/format"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func TestGolden(t *testing.T) {
	componenttest.Golden(t, verify.New(), func(settings []byte) (pipeline.Component, error) {
		s := &trimtabv1.Format{}
		if err := protojson.Unmarshal(settings, s); err != nil {
			return nil, err
		}
		return format.New(trimtabv1.Fill(s))
	})
}
