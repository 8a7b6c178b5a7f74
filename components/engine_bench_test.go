package components

import (
	"bytes"
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

// bigTranscript is an Anthropic body of about n bytes: reads of 37 files in
// turn, numbered, over and over; extra ends it with the output of a test run.

func bigTranscript(n int, extra bool) []byte {
	body := []byte(`{"model":"claude-sonnet-4-5","max_tokens":1000,"messages":[{"role":"user","content":"go"}`)
	for i := 0; len(body) < n; i++ {
		body = fmt.Appendf(body, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Read","input":{"file_path":"/a/f%d.go"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"`, i, i%37, i)
		for j := 0; j < 60; j++ {
			body = fmt.Appendf(body, `%6d\tfunc (p *parser%d) next%d() (token, error) { return p.read(\"x%d\") }\n`, j+1, i%37, j, (i*j)%91)
		}
		body = append(body, `"}]}`...)
	}
	if extra {
		body = append(body, `,{"role":"assistant","content":[{"type":"tool_use","id":"tx","name":"Bash","input":{"command":"go test"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"tx","content":"`...)
		for j := 0; j < 60; j++ {
			body = fmt.Appendf(body, `=== RUN TestSomething%d with some more text in the line to be long\n`, j)
		}
		body = append(body, `"}]}`...)
	}
	return append(body, "]}"...)
}

// benchEngine runs the preset balanced, which has every component.
func benchEngine(b *testing.B) *pipeline.Engine {
	var names []string
	for _, e := range Catalogue() {
		names = append(names, e.Name)
	}
	return newEngine(build(b, names), store.Metadata, newStore(), verifier())
}

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A warm turn: one new tool result of 4 KB, another one on every iteration, on a
// transcript that is known.
func BenchmarkWarmTurn(b *testing.B) {
	for _, n := range []int{300_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dKB", n/1000), func(b *testing.B) {
			e, now := benchEngine(b), time.Unix(1_700_000_000, 0)
			path := componenttest.Path(transcript.Anthropic)
			x := e.Rewrite(context.Background(), pipeline.Request{Path: path, Body: bigTranscript(n, false), Now: now})
			x.Responded(200, now)
			body := bigTranscript(n, true)
			at := bytes.LastIndex(body, []byte("=== RUN"))
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			start, i := cpu(), 0
			for b.Loop() {
				i++
				copy(body[at:], fmt.Sprintf("%07d", i))
				x := e.Rewrite(context.Background(), pipeline.Request{Path: path, Body: body, Now: now})
				if x.Report().Reason != pipeline.Rewritten {
					b.Fatal(x.Report().Reason)
				}
			}
			b.ReportMetric(float64(cpu()-start)/1e6/float64(b.N), "cpu-ms/op")
		})
	}
}

// The first sight of a whole transcript, with nothing known.
func BenchmarkFirstSight(b *testing.B) {
	body := bigTranscript(1_000_000, true)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	start := cpu()
	for b.Loop() {
		e := benchEngine(b)
		e.Rewrite(context.Background(), pipeline.Request{Path: componenttest.Path(transcript.Anthropic), Body: body, Now: time.Unix(1_700_000_000, 0)})
	}
	b.ReportMetric(float64(cpu()-start)/1e6/float64(b.N), "cpu-ms/op")
}
