package envoytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// record is what Envoy and the server leave behind of a run.
type record struct {
	accessLog string
	logs      *safeBuffer
}

func newRecord(t testing.TB) *record {
	return &record{accessLog: filepath.Join(t.TempDir(), "access.json"), logs: &safeBuffer{}}
}

// show prints what was said if the test has failed.
func (r *record) show(t testing.TB) {
	if t.Failed() {
		t.Logf("what Envoy and the server said:\n%s", r.logs)
	}
}

// Logs are what Envoy and the server said so far.
func (r *record) Logs() string { return r.logs.String() }

// Access returns what Envoy logged of the requests so far, once there are n.
func (r *record) Access(t testing.TB, n int) []map[string]any {
	t.Helper()
	for range 500 {
		data, err := os.ReadFile(r.accessLog)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if lines := bytes.SplitAfter(data, []byte("\n")); len(lines) > n {
			entries := make([]map[string]any, 0, len(lines))
			for _, line := range lines[:len(lines)-1] {
				var entry map[string]any
				if err := json.Unmarshal(line, &entry); err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				entries = append(entries, entry)
			}
			return entries
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("Envoy has not logged %d requests", n)
	return nil
}

// safeBuffer keeps what several write.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
