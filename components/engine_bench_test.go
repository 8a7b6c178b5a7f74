package components

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

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

func benchEngine(b *testing.B) *pipeline.Engine {
	var cs []pipeline.Component
	for _, e := range Catalogue() {
		c, err := New(e.Name, nil)
		if err != nil {
			b.Fatal(err)
		}
		cs = append(cs, c)
	}
	e := pipeline.New(pipeline.Options{Secret: []byte("s"), Store: store.Store{Level: store.Metadata, Facts: memory.NewFacts(memory.FactsOptions{})}})
	e.Apply([]pipeline.Profile{{Name: "default", Components: cs, Level: store.Metadata}}, "default")
	return e
}

func BenchmarkWarmTurn(b *testing.B) {
	for _, n := range []int{300_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := benchEngine(b)
			now := time.Unix(1700000000, 0)
			first, second := bigTranscript(n, false), bigTranscript(n, true)
			x := e.Rewrite(context.Background(), pipeline.Request{Path: "/v1/messages", Body: first, Now: now})
			x.Responded(200, now)
			b.SetBytes(int64(len(second)))
			b.ReportAllocs()
			for b.Loop() {
				x := e.Rewrite(context.Background(), pipeline.Request{Path: "/v1/messages", Body: second, Now: now})
				_ = x
			}
		})
	}
}

func BenchmarkFirstSight(b *testing.B) {
	body := bigTranscript(1_000_000, true)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		e := benchEngine(b)
		e.Rewrite(context.Background(), pipeline.Request{Path: "/v1/messages", Body: body, Now: time.Unix(1700000000, 0)})
	}
}
