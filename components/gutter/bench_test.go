package gutter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline"
)

func BenchmarkRewrite(b *testing.B) {
	c, err := build([]byte(`{}`))
	if err != nil {
		b.Fatal(err)
	}
	var text strings.Builder
	for n := 1; text.Len() < 1<<20; n++ {
		fmt.Fprintf(&text, "%6d→\tif err := something(ctx, value); err != nil {\n", n)
	}
	block := pipeline.Block{Text: text.String(), Received: text.String(), Parts: 1, Class: read()}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, g := c.(pipeline.Pure).Rewrite(block, pipeline.Prefix{}); g != "" {
			b.Fatal(g)
		}
	}
}
