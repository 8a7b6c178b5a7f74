package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

// Mode is what a profile does with its rewrites.
type Mode uint8

// The modes of a profile.
const (
	// Enforce sends the rewritten body.
	Enforce Mode = iota
	// Observe works everything out and sends the body as it came.
	Observe
)

// Limits bound the work on one request. They count bytes, so that the outcome
// repeats.
type Limits struct {
	// LinearOver is the editable text of a request, in bytes, from which on only
	// components of linear cost run; 0 means 8 MiB, some ten times what agents send.
	LinearOver int
	// LinearBlock is the same for one block; 0 means 2 MiB.
	LinearBlock int
	// Deadline is the wall-clock net; 0 means none. When it fires the request
	// goes out as it came.
	Deadline time.Duration
}

// Profile is one effective, resolved profile.
type Profile struct {
	Name       string
	Components []Component
	Level      store.Level
	// Exclude are patterns of tool names, as in path.Match, whose results are
	// never rewritten.
	Exclude []string
	Mode    Mode
	// HoldoutShare is the share of conversations left untouched, 0 to 1;
	// HoldoutSeed keys the choice.
	HoldoutShare float64
	HoldoutSeed  string
	Limits       Limits
}

// Generation is a profile as a conversation is pinned to it. It is immutable.
type Generation struct {
	ID      string
	Profile Profile

	described []Description
	seed      transcript.Sum
	refs      atomic.Int64
}

// newGeneration hashes what the forwarded bytes depend on.
func newGeneration(p Profile, secret store.Keyer) *Generation {
	if p.Limits.LinearOver == 0 {
		p.Limits.LinearOver = 8 << 20
	}
	if p.Limits.LinearBlock == 0 {
		p.Limits.LinearBlock = 2 << 20
	}
	g := &Generation{Profile: p}
	h := sha256.New()
	fmt.Fprintf(h, "tokens %d level %s mode %d holdout %v %q linear %d %d\n", tokens.Version, p.Level, p.Mode,
		p.HoldoutShare, p.HoldoutSeed, p.Limits.LinearOver, p.Limits.LinearBlock)
	for _, x := range p.Exclude {
		fmt.Fprintf(h, "exclude %q\n", x)
	}
	for _, c := range p.Components {
		d := c.Describe()
		g.described = append(g.described, d)
		settings, _ := proto.MarshalOptions{Deterministic: true}.Marshal(d.Config)
		fmt.Fprintf(h, "component %q wording %d settings %x\n", d.Name, d.Wording, settings)
	}
	sum := h.Sum(nil)
	g.ID = hex.EncodeToString(sum[:6])
	k := secret.Key([]byte("generation"), sum)
	copy(g.seed[:], k[:])
	return g
}

// excludes says that the profile leaves the tool's results alone.
func (g *Generation) excludes(tool string) bool {
	for _, x := range g.Profile.Exclude {
		if ok, err := path.Match(x, tool); ok && err == nil || strings.EqualFold(x, tool) {
			return true
		}
	}
	return false
}

// holdsOut says that a conversation of that identity is in the untouched arm. The
// seed alone keys the choice, so that it is the same in every process, after a
// restart too.
func (g *Generation) holdsOut(identity ...[]byte) bool {
	if g.Profile.HoldoutShare <= 0 {
		return false
	}
	k := store.NewKeyer([]byte(g.Profile.HoldoutSeed)).Key(append([][]byte{[]byte("holdout")}, identity...)...)
	return float64(binary.LittleEndian.Uint32(k[:]))/(1<<32) < g.Profile.HoldoutShare
}
