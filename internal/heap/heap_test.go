package heap

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 40 << 20: 400, 100 << 20: 160, 160 << 20: 75, 190 << 20: 50, 230 << 20: 50, 1 << 30: 50} {
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

// Up to the ceiling the heap has all its room, and above it never less than the least;
// a larger live heap never has a smaller goal.
func TestGoal(t *testing.T) {
	last := uint64(0)
	for live := uint64(40 << 20); live < 2<<30; live += 1 << 20 {
		goal := live + live*uint64(Percent(live))/100
		slack := live / 100 // a percent is a whole number
		switch {
		case goal+slack < last:
			t.Fatalf("%d live: the goal falls to %d", live, goal)
		case live+Room <= Ceiling && goal+slack < live+Room:
			t.Fatalf("%d live: only %d", live, goal)
		case live+LeastRoom < Ceiling && goal > Ceiling && goal > live*3/2+slack:
			t.Fatalf("%d live: %d, above the ceiling", live, goal)
		case goal+slack < live+LeastRoom:
			t.Fatalf("%d live: %d, less than the least room", live, goal)
		}
		last = max(last, goal)
	}
}
