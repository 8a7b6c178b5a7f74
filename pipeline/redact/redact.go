package redact

import (
	"crypto/sha256"
	"regexp"
	"slices"
	"strings"
)

// Tier is how a secret is known. A higher tier includes the lower ones.
type Tier uint8

// The tiers. None finds nothing.
const (
	None Tier = iota
	// Shaped are tokens with a shape of their own: next to no false positives.
	Shaped
	// Contextual are values behind a key, a header or a command that names a secret.
	Contextual
	// Entropy are values that look random.
	Entropy
)

// Match is one secret.
type Match struct {
	From, To int // its value in the text
	Kind     string
}

// Pattern is a rule of the user's own, which belongs to tier 1. The first group, or
// the whole match if it has none, is the value.
type Pattern struct {
	Kind   string
	Regexp *regexp.Regexp
}

// Options are what a detector knows besides the built-in rules.
type Options struct {
	Patterns []Pattern
	// Allow are expressions of values that are no secrets.
	Allow []*regexp.Regexp
	// AllowHashes are SHA-256 sums of values that are no secrets, so that a
	// configuration that names them holds none itself.
	AllowHashes [][sha256.Size]byte
}

// Detector finds secrets.
type Detector struct {
	opt   Options
	rules []rule
	// begin lists, for each tier, the rules that may begin with two bytes, as an
	// index into lists.
	begin [Entropy + 1][]uint16
	lists [][]uint16
}

// rule is one way in which a secret is known. It begins where literal stands.
type rule struct {
	kind    string
	tier    Tier
	literal string
	fold    bool // letters of the literal in any case
	// find reads from the place of the literal on, and finds the value's bounds.
	find func(text string, at int) (from, to int, ok bool)
}

// New makes a detector.
func New(opt Options) *Detector {
	d := &Detector{opt: opt, rules: rules(), lists: [][]uint16{nil}}
	for tier := Shaped; tier <= Entropy; tier++ {
		d.begin[tier] = make([]uint16, 1<<16)
		for i, r := range d.rules {
			if r.tier <= tier {
				d.index(d.begin[tier], uint16(i))
			}
		}
	}
	return d
}

// index enters a rule under each two bytes that it may begin with.
func (d *Detector) index(begin []uint16, i uint16) {
	r := &d.rules[i]
	for _, a := range cases(r.literal[0], r.fold) {
		for _, b := range second(r) {
			k := int(a)<<8 | int(b)
			if begin[k] == 0 {
				begin[k] = uint16(len(d.lists))
				d.lists = append(d.lists, nil)
			}
			d.lists[begin[k]] = append(d.lists[begin[k]], i)
		}
	}
}

// second are the bytes that may follow a rule's first one: any, if its literal is
// a single byte.
func second(r *rule) []byte {
	if len(r.literal) > 1 {
		return cases(r.literal[1], r.fold)
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

// cases are the bytes that a byte of a literal stands for.
func cases(c byte, fold bool) []byte {
	if upper := c &^ 0x20; fold && upper >= 'A' && upper <= 'Z' {
		return []byte{upper, upper | 0x20}
	}
	return []byte{c}
}

// Find returns the secrets up to a tier, in order and not touching each other's
// bytes. Its cost is linear in the text: some milliseconds for a megabyte.
func (d *Detector) Find(text string, tier Tier) []Match {
	if tier == None {
		return nil
	}
	var found []Match
	begin := d.begin[tier]
	for i := 0; i+1 < len(text); i++ {
		list := begin[int(text[i])<<8|int(text[i+1])]
		if list == 0 {
			continue
		}
		for _, k := range d.lists[list] {
			r := &d.rules[k]
			if !r.stands(text, i) {
				continue
			}
			if from, to, ok := r.find(text, i); ok && from < to && !d.allowed(text[from:to]) {
				found = append(found, Match{from, to, r.kind})
			}
		}
	}
	for _, p := range d.opt.Patterns {
		for _, m := range p.Regexp.FindAllStringSubmatchIndex(text, -1) {
			from, to := m[0], m[1]
			if len(m) > 3 && m[2] >= 0 {
				from, to = m[2], m[3]
			}
			if from < to && !d.allowed(text[from:to]) && !placeholder(text[from:to]) {
				found = append(found, Match{from, to, p.Kind})
			}
		}
	}
	if tier >= Entropy {
		found = append(found, d.random(text)...)
	}
	return disjoint(found)
}

func (r *rule) stands(text string, at int) bool {
	if len(text)-at < len(r.literal) {
		return false
	}
	s := text[at : at+len(r.literal)]
	if len(s) > 2 && s[2]|0x20 != r.literal[2]|0x20 {
		return false
	}
	return s == r.literal || r.fold && strings.EqualFold(s, r.literal)
}

// allowed says that the user calls a value harmless.
func (d *Detector) allowed(v string) bool {
	if len(d.opt.AllowHashes) > 0 && slices.Contains(d.opt.AllowHashes, sha256.Sum256([]byte(v))) {
		return true
	}
	for _, re := range d.opt.Allow {
		if re.MatchString(v) {
			return true
		}
	}
	return false
}

// disjoint sorts matches and joins those that overlap under the kind of the one
// that begins first; of two that begin at one place the longer one wins.
func disjoint(found []Match) []Match {
	slices.SortStableFunc(found, func(a, b Match) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return b.To - a.To
	})
	out := found[:0]
	for _, m := range found {
		if n := len(out); n > 0 && m.From < out[n-1].To {
			out[n-1].To = max(out[n-1].To, m.To)
			continue
		}
		out = append(out, m)
	}
	return out
}

// Start begins every placeholder.
const Start = "[REDACTED:"

// Placeholder is what stands in a secret's place.
func Placeholder(kind string) string { return Start + kind + "]" }

// Text is the text with a placeholder for each secret up to the tier.
func (d *Detector) Text(text string, tier Tier) string {
	found := d.Find(text, tier)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, m := range found {
		b.WriteString(text[at:m.From])
		b.WriteString(Placeholder(m.Kind))
		at = m.To
	}
	b.WriteString(text[at:])
	return b.String()
}

// Kinds lists the kinds of the built-in rules with their tiers, in the order of the
// rules.
func Kinds() (kinds []string, tiers map[string]Tier) {
	tiers = map[string]Tier{"high_entropy": Entropy}
	for _, r := range rules() {
		if _, ok := tiers[r.kind]; !ok {
			kinds = append(kinds, r.kind)
			tiers[r.kind] = r.tier
		}
		tiers[r.kind] = min(tiers[r.kind], r.tier)
	}
	return append(kinds, "high_entropy"), tiers
}
