package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// Key names a record. It is an HMAC under the install secret, so that nobody
// who reads the store can confirm a guessed text.
type Key [16]byte

// Keyer makes keys under one install secret. It is safe for concurrent use.
type Keyer struct{ secret []byte }

// NewKeyer takes the install secret. Replicas that share a store share it.
func NewKeyer(secret []byte) Keyer { return Keyer{secret: append([]byte(nil), secret...)} }

// Key is the key of an ordered list of parts; the parts' borders are part of it.
func (k Keyer) Key(parts ...[]byte) Key {
	h := hmac.New(sha256.New, k.secret)
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	var key Key
	copy(key[:], h.Sum(nil))
	return key
}

// Fact is a record from which no text can be read back: a few numbers.
type Fact struct {
	Kind    uint16
	Wording uint16
	Params  [4]int64
}

// Put is one fact to record.
type Put struct {
	Key  Key
	Fact Fact
}

// Facts keeps decisions. No method takes or returns a byte slice or a free
// string. Implementations are safe for concurrent use.
type Facts interface {
	// Lookup returns the facts in force under keys and whether each is there. A
	// hit slides the record's deadline.
	Lookup(ctx context.Context, now time.Time, keys []Key) (facts []Fact, found []bool, err error)
	// Commit records each fact whose key is absent, and returns the facts in
	// force afterwards: a concurrent loser uses the winner's. A record that is
	// refused (the store is full) is false in kept; its decision is not taken.
	Commit(ctx context.Context, now time.Time, puts []Put) (inForce []Fact, kept []bool, err error)
}

// Texts keeps texts. It exists at level Everything only.
type Texts interface {
	// Get returns the text under the key, and slides its deadline.
	Get(ctx context.Context, now time.Time, key Key) (text string, found bool, err error)
	// PutOriginal stores the original behind a mark, as a payload that can be
	// made again from the request in flight. It may be refused.
	PutOriginal(ctx context.Context, now time.Time, key Key, text string) (kept bool, err error)
	// PutGenerated stores a text that a model wrote, which lasts as long as a
	// decision. It may be refused.
	PutGenerated(ctx context.Context, now time.Time, key Key, text string) (kept bool, err error)
}

// Store is what the pipeline may keep. At Off both are nil; at Metadata there
// is no Texts value to hold.
type Store struct {
	Level Level
	Facts Facts
	Texts Texts
}

// At returns what is left of the store at a level: never more than it has.
func (s Store) At(l Level) Store {
	if l > s.Level {
		l = s.Level
	}
	out := Store{Level: l}
	if l >= Metadata {
		out.Facts = s.Facts
	}
	if l >= Everything {
		out.Texts = s.Texts
	}
	return out
}
