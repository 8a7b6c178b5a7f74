package memory

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/trimtab-io/trimtab/store"
)

// DefaultOriginalHorizon is how long an original outlives its last use: it can be
// made again from the request in flight.
const DefaultOriginalHorizon = 1800 * time.Second

// TextsOptions bound a Texts.
type TextsOptions struct {
	// Horizon is that of generated texts; 0 means DefaultHorizon.
	Horizon time.Duration
	// OriginalHorizon is that of originals; 0 means DefaultOriginalHorizon. It is
	// never above Horizon.
	OriginalHorizon time.Duration
	// MaxBytes bounds the texts together; 0 means 256 MiB.
	MaxBytes int64
}

// TextsStats are the counters of a Texts. Expired and Revived both zero mean that
// the budget never bound, not that the horizon works.
type TextsStats struct {
	Live            int
	Bytes, MaxBytes int64
	// Refused counts texts not taken because the budget was full; Missing, the
	// refused ones among originals that had been there before, behind a mark that
	// was already sent.
	Refused, Missing, Expired, Revived uint64
	Horizon, OriginalHorizon           time.Duration // in force
}

type textEntry struct {
	text     string
	original bool
	deadline time.Time
}

// Texts is a store.Texts in memory. A live text is never evicted for a new one.
type Texts struct {
	opt   TextsOptions
	mu    sync.Mutex
	live  map[store.Key]*textEntry
	gone  *lru.Cache[store.Key, struct{}] // originals that expiry took
	bytes int64
	next  time.Time // nothing expires before it
	stats TextsStats
}

var _ store.Texts = (*Texts)(nil)

// NewTexts returns an empty store.
func NewTexts(opt TextsOptions) *Texts {
	if opt.Horizon <= 0 {
		opt.Horizon = DefaultHorizon
	}
	if opt.OriginalHorizon <= 0 {
		opt.OriginalHorizon = DefaultOriginalHorizon
	}
	opt.OriginalHorizon = min(opt.OriginalHorizon, opt.Horizon)
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = 256 << 20
	}
	gone, _ := lru.New[store.Key, struct{}](20_000) // the size is positive: no error
	return &Texts{opt: opt, live: map[store.Key]*textEntry{}, gone: gone}
}

// stamp is the one place that sets a deadline; it keeps the sweep's bound below.
func (t *Texts) stamp(e *textEntry, now time.Time) {
	h := t.opt.Horizon
	if e.original {
		h = t.opt.OriginalHorizon
	}
	e.deadline = now.Add(h)
	if t.next.IsZero() || e.deadline.Before(t.next) {
		t.next = e.deadline
	}
}

// Get implements store.Texts.
func (t *Texts) Get(_ context.Context, now time.Time, key store.Key) (string, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.live[key]
	if e == nil {
		return "", false, nil
	}
	if now.After(e.deadline) {
		t.expire(key, e)
		return "", false, nil
	}
	t.stamp(e, now)
	return e.text, true, nil
}

// PutOriginal implements store.Texts.
func (t *Texts) PutOriginal(_ context.Context, now time.Time, key store.Key, text string) (bool, error) {
	return t.put(now, key, &textEntry{text: text, original: true}), nil
}

// PutGenerated implements store.Texts.
func (t *Texts) PutGenerated(_ context.Context, now time.Time, key store.Key, text string) (bool, error) {
	return t.put(now, key, &textEntry{text: text}), nil
}

func (t *Texts) put(now time.Time, key store.Key, e *textEntry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.live[key]
	if old != nil && now.After(old.deadline) {
		t.expire(key, old)
		old = nil
	}
	var had int64
	if old != nil {
		had = int64(len(old.text))
	}
	if t.bytes-had+int64(len(e.text)) > t.opt.MaxBytes {
		t.sweep(now)
	}
	if t.bytes-had+int64(len(e.text)) > t.opt.MaxBytes {
		t.stats.Refused++
		if t.gone.Contains(key) {
			t.stats.Missing++
		}
		return false
	}
	if t.gone.Remove(key) {
		t.stats.Revived++
	}
	t.bytes += int64(len(e.text)) - had
	t.live[key] = e
	t.stamp(e, now)
	return true
}

func (t *Texts) expire(key store.Key, e *textEntry) {
	delete(t.live, key)
	t.bytes -= int64(len(e.text))
	t.stats.Expired++
	if e.original {
		t.gone.Add(key, struct{}{})
	}
}

// sweep removes what has expired, unless the bound says that nothing can have.
func (t *Texts) sweep(now time.Time) {
	if now.Before(t.next) {
		return
	}
	t.next = time.Time{}
	for k, e := range t.live {
		if now.After(e.deadline) {
			t.expire(k, e)
		} else if t.next.IsZero() || e.deadline.Before(t.next) {
			t.next = e.deadline
		}
	}
}

// Stats returns the counters.
func (t *Texts) Stats() TextsStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	s.Live, s.Bytes, s.MaxBytes = len(t.live), t.bytes, t.opt.MaxBytes
	s.Horizon, s.OriginalHorizon = t.opt.Horizon, t.opt.OriginalHorizon
	return s
}
