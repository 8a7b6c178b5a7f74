package secretmask_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/trimtab-io/trimtab/components/secretmask"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func make_(settings []byte) (pipeline.Component, error) {
	s := &trimtabv1.Secretmask{}
	if err := protojson.Unmarshal(settings, s); err != nil {
		return nil, err
	}
	return secretmask.New(trimtabv1.Fill(s))
}

func TestGolden(t *testing.T) { componenttest.Golden(t, verify.New(), make_) }

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
		if _, err := make_([]byte(bad)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
