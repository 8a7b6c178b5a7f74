package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/store"
)

var keyer = store.NewKeyer([]byte("test"))

func key(s string) store.Key { return keyer.Key([]byte(s)) }

// Facts runs the contract of store.Facts. open makes an empty store.
func Facts(t *testing.T, open func(max int, horizon time.Duration) store.Facts) {
	ctx, now := context.Background(), time.Unix(1_000_000, 0)
	fact := func(n int64) store.Fact { return store.Fact{Kind: 1, Wording: 2, Params: [4]int64{n, -n, 0, 1 << 40}} }
	commit := func(t *testing.T, f store.Facts, at time.Time, k string, n int64) (store.Fact, bool) {
		t.Helper()
		got, kept, err := f.Commit(ctx, at, []store.Put{{Key: key(k), Fact: fact(n)}})
		if err != nil {
			t.Fatal(err)
		}
		return got[0], kept[0]
	}
	find := func(t *testing.T, f store.Facts, at time.Time, k string) (store.Fact, bool) {
		t.Helper()
		got, found, err := f.Lookup(ctx, at, []store.Key{key("nothing"), key(k)})
		if err != nil {
			t.Fatal(err)
		}
		if found[0] {
			t.Fatal("a key that was never written is found")
		}
		return got[1], found[1]
	}
	t.Run("the first fact under a key stays", func(t *testing.T) {
		f := open(10, time.Hour)
		commit(t, f, now, "a", 1)
		if got, kept := commit(t, f, now, "a", 2); got != fact(1) || !kept {
			t.Errorf("the loser gets %+v, %v", got, kept)
		}
		if got, ok := find(t, f, now, "a"); !ok || got != fact(1) {
			t.Errorf("found %+v, %v", got, ok)
		}
	})
	t.Run("a full store refuses and never evicts", func(t *testing.T) {
		f := open(2, time.Hour)
		commit(t, f, now, "a", 1)
		commit(t, f, now, "b", 2)
		if _, kept := commit(t, f, now, "c", 3); kept {
			t.Error("a third fact is kept")
		}
		for _, k := range []string{"a", "b"} {
			if _, ok := find(t, f, now, k); !ok {
				t.Errorf("%s is gone", k)
			}
		}
		if _, kept := commit(t, f, now.Add(2*time.Hour), "c", 3); !kept {
			t.Error("an expired fact's room is not reclaimed")
		}
	})
	t.Run("a lookup slides the deadline", func(t *testing.T) {
		f := open(10, time.Minute)
		commit(t, f, now, "a", 1)
		at := now
		for range 5 {
			at = at.Add(50 * time.Second)
			if _, ok := find(t, f, at, "a"); !ok {
				t.Fatalf("gone after %v of use", at.Sub(now))
			}
		}
		if _, ok := find(t, f, at.Add(61*time.Second), "a"); ok {
			t.Error("it outlives its horizon")
		}
	})
	t.Run("concurrent writers agree", func(t *testing.T) {
		f := open(10, time.Hour)
		got := make([]store.Fact, 8)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() {
				g, _, err := f.Commit(ctx, now, []store.Put{{Key: key("a"), Fact: fact(int64(i))}})
				if err == nil {
					got[i] = g[0]
				}
			})
		}
		wg.Wait()
		for _, g := range got {
			if g != got[0] {
				t.Fatalf("different facts in force: %v", got)
			}
		}
	})
}

// Texts runs the contract of store.Texts. open makes an empty store.
func Texts(t *testing.T, open func(bytes int64, horizon, originals time.Duration) store.Texts) {
	ctx, now := context.Background(), time.Unix(1_000_000, 0)
	get := func(t *testing.T, s store.Texts, at time.Time, k string) (string, bool) {
		t.Helper()
		text, ok, err := s.Get(ctx, at, key(k))
		if err != nil {
			t.Fatal(err)
		}
		return text, ok
	}
	t.Run("what was put is got", func(t *testing.T) {
		s := open(1000, time.Hour, time.Minute)
		if kept, err := s.PutOriginal(ctx, now, key("a"), "x\x00é"); !kept || err != nil {
			t.Fatal(kept, err)
		}
		if text, ok := get(t, s, now, "a"); !ok || text != "x\x00é" {
			t.Errorf("got %q, %v", text, ok)
		}
		if _, ok := get(t, s, now, "b"); ok {
			t.Error("a key that was never written is found")
		}
	})
	t.Run("originals go before generated texts", func(t *testing.T) {
		s := open(1000, time.Hour, time.Minute)
		_, _ = s.PutOriginal(ctx, now, key("o"), "original")
		_, _ = s.PutGenerated(ctx, now, key("g"), "generated")
		at := now.Add(2 * time.Minute)
		if _, ok := get(t, s, at, "o"); ok {
			t.Error("the original outlives its horizon")
		}
		if _, ok := get(t, s, at, "g"); !ok {
			t.Error("the generated text does not last as long as a decision")
		}
	})
	t.Run("a full store refuses and never evicts", func(t *testing.T) {
		s := open(10, time.Hour, time.Minute)
		_, _ = s.PutOriginal(ctx, now, key("a"), "12345678")
		if kept, _ := s.PutOriginal(ctx, now, key("b"), "12345678"); kept {
			t.Error("it takes more than its budget")
		}
		if kept, _ := s.PutOriginal(ctx, now, key("a"), "1234567890"); !kept {
			t.Error("replacing a live text within the budget is refused")
		}
		if kept, _ := s.PutOriginal(ctx, now, key("c"), "12345678901"); kept {
			t.Error("a text larger than the whole budget is taken")
		}
		if text, ok := get(t, s, now, "a"); !ok || text != "1234567890" {
			t.Errorf("got %q, %v", text, ok)
		}
	})
}
