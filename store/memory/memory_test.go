package memory

import (
	"context"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/storetest"
)

func TestFactsContract(t *testing.T) {
	storetest.Facts(t, func(max int, horizon time.Duration) store.Facts {
		return NewFacts(FactsOptions{MaxEntries: max, Horizon: horizon})
	})
}

func TestTextsContract(t *testing.T) {
	storetest.Texts(t, func(bytes int64, horizon, originals time.Duration) store.Texts {
		return NewTexts(TextsOptions{MaxBytes: bytes, Horizon: horizon, OriginalHorizon: originals})
	})
}

func TestOriginalHorizonIsNeverAboveTheDecisions(t *testing.T) {
	s := NewTexts(TextsOptions{Horizon: 10 * time.Second, OriginalHorizon: time.Minute}).Stats()
	if s.OriginalHorizon != 10*time.Second {
		t.Errorf("in force: %v", s.OriginalHorizon)
	}
	if d := NewTexts(TextsOptions{}).Stats(); d.OriginalHorizon != 1800*time.Second || d.Horizon != 10000*time.Second {
		t.Errorf("defaults: %v %v", d.OriginalHorizon, d.Horizon)
	}
}

// Becoming an original moves a deadline earlier; the sweep's bound must follow,
// or the slot is never reclaimed.
func TestBecomingAnOriginalLowersTheSweepsBound(t *testing.T) {
	ctx, now := context.Background(), time.Unix(1000, 0)
	s := NewTexts(TextsOptions{MaxBytes: 10, Horizon: time.Hour, OriginalHorizon: time.Minute})
	k := store.NewKeyer(nil)
	if ok, _ := s.PutGenerated(ctx, now, k.Key([]byte("a")), "12345678"); !ok {
		t.Fatal("refused")
	}
	if ok, _ := s.PutOriginal(ctx, now, k.Key([]byte("a")), "12345678"); !ok {
		t.Fatal("refused")
	}
	if ok, _ := s.PutOriginal(ctx, now.Add(2*time.Minute), k.Key([]byte("b")), "12345678"); !ok {
		t.Error("the expired original's room was not reclaimed")
	}
	if got := s.Stats(); got.Expired != 1 || got.Bytes != 8 || got.Live != 1 {
		t.Errorf("stats %+v", got)
	}
}

// Revived counts once per reclamation, and neither first writes nor refreshes.
func TestRevivedCountsOncePerReclamation(t *testing.T) {
	ctx, now := context.Background(), time.Unix(1000, 0)
	s := NewTexts(TextsOptions{OriginalHorizon: time.Minute})
	key := store.NewKeyer(nil).Key([]byte("a"))
	put := func(at time.Time) { s.PutOriginal(ctx, at, key, "text") }
	put(now)
	put(now.Add(time.Second))
	if s.Stats().Revived != 0 {
		t.Error("a refresh is counted")
	}
	put(now.Add(time.Hour))
	put(now.Add(time.Hour))
	if got := s.Stats(); got.Revived != 1 || got.Expired != 1 {
		t.Errorf("stats %+v", got)
	}
}

// A refused original that had been there before is a broken promise.
func TestMissingCountsBrokenPromisesOnly(t *testing.T) {
	ctx, now := context.Background(), time.Unix(1000, 0)
	s := NewTexts(TextsOptions{MaxBytes: 8, OriginalHorizon: time.Minute, Horizon: time.Hour})
	k := store.NewKeyer(nil)
	s.PutOriginal(ctx, now, k.Key([]byte("a")), "12345678")
	later := now.Add(2 * time.Minute)
	s.PutGenerated(ctx, later, k.Key([]byte("b")), "12345678")
	s.PutOriginal(ctx, later, k.Key([]byte("a")), "12345678")
	s.PutOriginal(ctx, later, k.Key([]byte("c")), "12345678")
	if got := s.Stats(); got.Refused != 2 || got.Missing != 1 {
		t.Errorf("stats %+v", got)
	}
}
