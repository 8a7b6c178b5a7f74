package memory

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/trimtab-io/trimtab/store"
)

// DefaultHorizon is how long a decision outlives its last replay: a decision
// must outlast the idle gaps of a whole task.
const DefaultHorizon = 10000 * time.Second

// FactsOptions bound a Facts.
type FactsOptions struct {
	// Horizon is the sliding time to live; 0 means DefaultHorizon.
	Horizon time.Duration
	// MaxEntries bounds the number of facts (about 150 bytes each); 0 means 200,000.
	MaxEntries int
}

// FactsStats are the counters of a Facts.
type FactsStats struct {
	Live, Capacity                        int
	Committed, Replayed, Refused, Expired uint64
	Horizon                               time.Duration // in force
}

type factEntry struct {
	fact     store.Fact
	deadline time.Time
}

// Facts is a store.Facts in memory. A live fact is never evicted for a new one:
// whoever comes when it is full is refused.
type Facts struct {
	opt   FactsOptions
	mu    sync.Mutex
	lru   *lru.Cache[store.Key, *factEntry]
	stats FactsStats
}

var _ store.Facts = (*Facts)(nil)

// NewFacts returns an empty store.
func NewFacts(opt FactsOptions) *Facts {
	if opt.Horizon <= 0 {
		opt.Horizon = DefaultHorizon
	}
	if opt.MaxEntries <= 0 {
		opt.MaxEntries = 200_000
	}
	c, _ := lru.New[store.Key, *factEntry](opt.MaxEntries) // the size is positive: no error
	return &Facts{opt: opt, lru: c}
}

// live returns the entry under the key, unless it has expired.
func (f *Facts) live(now time.Time, k store.Key) *factEntry {
	e, ok := f.lru.Get(k)
	if !ok {
		return nil
	}
	if now.After(e.deadline) {
		f.lru.Remove(k)
		f.stats.Expired++
		return nil
	}
	if d := now.Add(f.opt.Horizon); d.After(e.deadline) {
		e.deadline = d
	}
	return e
}

// Lookup implements store.Facts.
func (f *Facts) Lookup(_ context.Context, now time.Time, keys []store.Key) ([]store.Fact, []bool, error) {
	facts, found := make([]store.Fact, len(keys)), make([]bool, len(keys))
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, k := range keys {
		if e := f.live(now, k); e != nil {
			facts[i], found[i] = e.fact, true
			f.stats.Replayed++
		}
	}
	return facts, found, nil
}

// Commit implements store.Facts.
func (f *Facts) Commit(_ context.Context, now time.Time, puts []store.Put) ([]store.Fact, []bool, error) {
	inForce, kept := make([]store.Fact, len(puts)), make([]bool, len(puts))
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, p := range puts {
		if e := f.live(now, p.Key); e != nil {
			inForce[i], kept[i] = e.fact, true
			continue
		}
		if f.lru.Len() >= f.opt.MaxEntries && !f.reclaim(now) {
			f.stats.Refused++
			continue
		}
		f.lru.Add(p.Key, &factEntry{fact: p.Fact, deadline: now.Add(f.opt.Horizon)})
		f.stats.Committed++
		inForce[i], kept[i] = p.Fact, true
	}
	return inForce, kept, nil
}

// reclaim removes expired entries from the old end, where deadlines are earliest.
func (f *Facts) reclaim(now time.Time) bool {
	freed := false
	for {
		k, e, ok := f.lru.GetOldest()
		if !ok || !now.After(e.deadline) {
			return freed
		}
		f.lru.Remove(k)
		f.stats.Expired++
		freed = true
	}
}

// Stats returns the counters.
func (f *Facts) Stats() FactsStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	s.Live, s.Capacity, s.Horizon = f.lru.Len(), f.opt.MaxEntries, f.opt.Horizon
	return s
}
