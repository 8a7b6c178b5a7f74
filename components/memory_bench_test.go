package components

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/heap"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Ten thousand conversations of 300 KB, each seen once, at level metadata: what
// the process holds of them, with the collector set as the service sets it.
func BenchmarkTenThousandConversations(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go heap.Run(ctx)
	body := bigTranscript(300_000, true)
	body = bytes.Replace(body, []byte(`"content":"go"`), []byte(`"content":"conversation 0000000000"`), 1)
	at := bytes.Index(body, []byte("0000000000"))
	line := bytes.Index(body, []byte("parser"))
	for b.Loop() {
		e, now := benchEngine(b), time.Unix(1_700_000_000, 0)
		for i := range 10_000 {
			copy(body[at:], fmt.Sprintf("%010d", i))
			copy(body[line:], fmt.Sprintf("p%05d", i))
			x := e.Rewrite(context.Background(), pipeline.Request{Path: componenttest.Path(transcript.Anthropic), Body: body, Now: now})
			x.Responded(200, now)
		}
		b.ReportMetric(float64(rss(b)), "rss-MB")
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
		runtime.KeepAlive(e)
	}
}

// rss is the process's resident memory in MB.
func rss(b *testing.B) int {
	s, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("no /proc")
	}
	_, v, _ := strings.Cut(string(s), "VmRSS:")
	var kb int
	if _, err := fmt.Sscan(v, &kb); err != nil {
		b.Fatal(err)
	}
	return kb / 1000
}
