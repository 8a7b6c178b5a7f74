package cmdfilter

import (
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/tokens"
)

// BenchmarkBuiltin runs each filter over its own large output, repeated to 1 MB.
func BenchmarkBuiltin(b *testing.B) {
	set, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	_, archives, err := FixtureFiles()
	if err != nil {
		b.Fatal(err)
	}
	for _, data := range archives {
		list, err := ReadFixtures(data)
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range list {
			if f.Kind != FixtureOK {
				continue
			}
			text := strings.Repeat(f.Input, 1<<20/len(f.Input)+1)[:1<<20]
			class := ClassOf(f.Command, text, false)
			b.Run(f.Filter, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				saved := 0
				for b.Loop() {
					r := set.run(class, text, func() bool { return false })
					saved = r.before - r.after
				}
				b.ReportMetric(float64(saved)/float64(tokens.Estimate(text)), "saved/token")
			})
		}
	}
}

// BenchmarkUnknown is what a result costs whose command has no filter.
func BenchmarkUnknown(b *testing.B) {
	set, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("some line of an unknown program\n", 1<<15)
	class := ClassOf("./unknown --all", text, false)
	b.ReportAllocs()
	for b.Loop() {
		set.run(class, text, func() bool { return false })
	}
}
