package extproc

import "sync/atomic"

// inFlight counts the bytes of bodies that are held. It never waits: over the
// bound a request goes through untouched, which costs less than holding it up.
type inFlight struct{ n atomic.Int64 }

// take reserves n bytes unless that would exceed limit.
func (f *inFlight) take(n, limit int64) bool {
	for {
		held := f.n.Load()
		if held+n > limit {
			return false
		}
		if f.n.CompareAndSwap(held, held+n) {
			return true
		}
	}
}

func (f *inFlight) release(n int64) { f.n.Add(-n) }
