package heap

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 40 << 20: 400, 160 << 20: 100, 200 << 20: 80, 1 << 30: 50} {
		if got := Percent(live); got != want {
			t.Errorf("%d bytes live: %d, want %d", live, got, want)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	Run(ctx)
}
