package backref_test

import (
	"fmt"
	"testing"

	"github.com/trimtab-io/trimtab/components/backref"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// megabyte is a transcript of 1 MB in results of 4 KB: reads with numbers of 40
// files, each read about six times with other windows, as blocks and as sources.
func megabyte() (blocks []pipeline.Block, sources []pipeline.Source) {
	size := 0
	for i := 0; size < 1<<20; i++ {
		var lines []string
		first := 1 + i*37%400
		for n := range 90 {
			lines = append(lines, fmt.Sprintf("\tvalue%d := compute(file%d, %d)", first+n, i%40, (first+n)*7))
		}
		text := cat(first, lines)
		call := classify.OfCall("Read", []transcript.Arg{
			{Name: "file_path", Path: "file_path", Text: fmt.Sprintf("/r/f%d.go", i%40)},
			{Name: "offset", Path: "offset", Text: fmt.Sprint(first), Literal: true},
		}, "")
		c := pipeline.Call{Ordinal: i + 1, Name: "Read", Class: func() classify.Call { return call }}
		class := classify.OfResult(call, text, false)
		blocks = append(blocks, pipeline.Block{Text: text, Received: text, Parts: 1, Result: i, Call: c, Class: class, Offset: size / 4})
		sources = append(sources, pipeline.Source{
			Call: c, Class: func() classify.Class { return class }, Parts: 1, Offset: size / 4, Ref: pipeline.LeafRef{Index: i},
			Text: func() string { return text }, Forwarded: func() string { return text },
			Kept: func() []pipeline.Range { return []pipeline.Range{{From: 0, To: len(text)}} },
		})
		size += len(text)
	}
	return blocks, sources
}

func component(b *testing.B) *backref.Component {
	c, err := build([]byte(`{}`))
	if err != nil {
		b.Fatal(err)
	}
	return c.(*backref.Component)
}

// BenchmarkFirstSight indexes and rewrites a whole megabyte.
func BenchmarkFirstSight(b *testing.B) {
	c := component(b)
	blocks, sources := megabyte()
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	saved := 0
	for b.Loop() {
		saved = 0
		notes := make([]pipeline.Index, 0, len(sources))
		for i := range blocks {
			e, _ := c.Rewrite(blocks[i], pipeline.Prefix{Sources: sources[:i], Notes: notes})
			for _, u := range e.Uses {
				saved += u.SavedTokens
			}
			notes = append(notes, c.Index(sources[i]))
		}
	}
	b.ReportMetric(float64(saved), "saved-tokens")
}

// BenchmarkWarm rewrites one new result behind a megabyte that was seen before.
func BenchmarkWarm(b *testing.B) {
	c := component(b)
	blocks, sources := megabyte()
	notes := make([]pipeline.Index, len(sources))
	size := 0
	for i := range sources {
		notes[i] = c.Index(sources[i])
		size += notes[i].Bytes()
	}
	last := len(blocks) - 1
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		c.Rewrite(blocks[last], pipeline.Prefix{Sources: sources[:last], Notes: notes[:last]})
	}
	b.ReportMetric(float64(size), "index-bytes")
}
