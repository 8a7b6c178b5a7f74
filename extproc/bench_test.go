package extproc_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/extproc"
	"github.com/trimtab-io/trimtab/pipeline"
)

// BenchmarkExchange is one exchange over gRPC without Envoy and engine: what the
// server itself costs.
func BenchmarkExchange(b *testing.B) {
	for _, size := range []int{10 << 10, 100 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			set := settings()
			set.Profiles["default"] = extproc.Limits{MaxBodyBytes: 2 << 20, MaxExpansion: 1, Deadline: set.Profiles["default"].Deadline}
			f := newFake(b, set, func(_ context.Context, r pipeline.Request) *fakeExchange {
				return &fakeExchange{body: r.Body[:len(r.Body)/2]}
			})
			body := strings.Repeat("x", size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				s := f.open("")
				s.ask(post(size))
				s.ask(requestBody(body, true))
				s.ask(responseHeaders("200", "content-type", "text/event-stream"))
				s.ask(responseBody("data: {}\n\n", false))
				if err := s.CloseSend(); err != nil {
					b.Fatal(err)
				}
				if _, err := s.Recv(); err != io.EOF {
					b.Fatal(err)
				}
				s.cancel()
				<-f.seen.summaries
			}
		})
	}
}
