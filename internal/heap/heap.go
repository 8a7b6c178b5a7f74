package heap

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Room is how many bytes the heap may grow above what is live before it is
// collected. At 1 MB a request a larger one saves less than a percent of CPU.
const Room = 160 << 20

// Where as much room would lead over Ceiling there is less, down to LeastRoom: what
// ten thousand conversations leave behind fits below it (200 MB live), so that the
// process stays below 400 MB with all that is no heap.
const (
	Ceiling   = 280 << 20
	LeastRoom = 96 << 20
)

// The bounds of the collector's target, in percent of the live heap. Above the
// higher nothing is gained (measured with 1 MB bodies: 3.3 ms of CPU per request
// at 100, 2.2 ms at 400); below the lower the collector would eat the CPU.
const (
	lowest  = 50
	highest = 400
)

const live = "/gc/heap/live:bytes"

// Percent is the collector's target for a live heap of so many bytes.
func Percent(liveBytes uint64) int {
	if liveBytes == 0 {
		return highest
	}
	room := uint64(Room)
	if liveBytes+room > Ceiling {
		room = LeastRoom
		if liveBytes+LeastRoom < Ceiling {
			room = Ceiling - liveBytes
		}
	}
	return int(min(max(room*100/liveBytes, lowest), highest))
}

// Run keeps the collector's target right until ctx ends.
func Run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	sample := []metrics.Sample{{Name: live}}
	set := 0
	for {
		metrics.Read(sample)
		if p := Percent(sample[0].Value.Uint64()); p != set {
			debug.SetGCPercent(p)
			set = p
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
