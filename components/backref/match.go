package backref

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/trimtab-io/trimtab/pipeline"
)

// Bounds on what is tried at one line.
const (
	maxCandidates = 64 // places in earlier sources, in order of appearance
	maxTries      = 8  // of them, the longest first
)

// place is a line of a source.
type place struct {
	of, line int
}

// entry lists where the lines of one window of the target stand earlier.
type entry struct {
	hash   uint32
	at     int // a line of the target at which the window starts
	places []place
	next   int32 // another window with the same slot, or -1
}

// finder looks for windows of n lines of the target in the sources.
type finder struct {
	n       int
	hashes  []uint32 // of the target, by line
	entries []entry
	slots   []int32  // first entry by the low bits of the hash, or -1
	bits    []uint64 // a filter in front of slots
	mask    uint32   // of bits
}

// newFinder indexes the windows of the target, whose hashes are given by line; 0
// is none.
func newFinder(t *target, n int, hashes []uint32) *finder {
	f := &finder{n: n, hashes: hashes}
	count, size := 0, uint32(64)
	for _, h := range hashes {
		if h != 0 {
			count++
		}
	}
	for size < uint32(16*count) && size < 1<<20 {
		size *= 2
	}
	f.entries = make([]entry, 0, count)
	f.bits, f.mask = make([]uint64, size/64), size-1
	f.slots = make([]int32, max(size/8, 1))
	for i := range f.slots {
		f.slots[i] = -1
	}
	for i, h := range hashes {
		if h == 0 || f.entry(t, h, i) != nil {
			continue
		}
		slot := &f.slots[h&uint32(len(f.slots)-1)]
		f.entries = append(f.entries, entry{hash: h, at: i, next: *slot})
		*slot = int32(len(f.entries) - 1)
		f.bits[(h&f.mask)/64] |= 1 << (h & 63)
	}
	return f
}

// entry finds the window that starts at line i of the target.
func (f *finder) entry(t *target, h uint32, i int) *entry {
	for e := f.slots[h&uint32(len(f.slots)-1)]; e >= 0; e = f.entries[e].next {
		if x := &f.entries[e]; x.hash == h && (x.at == i || f.same(t, x.at, &t.table, t.text, i)) {
			return x
		}
	}
	return nil
}

// same confirms a window on bytes.
func (f *finder) same(t *target, at int, other *table, text string, line int) bool {
	for k := range f.n {
		a, b := t.content(t.text, at+k), other.content(text, line+k)
		t.budget -= min(len(a), len(b))
		if a != b {
			return false
		}
	}
	return true
}

// has says that a hash is one of the target's.
func (f *finder) has(h uint32) bool {
	if f.bits[(h&f.mask)/64]&(1<<(h&63)) == 0 {
		return false
	}
	for e := f.slots[h&uint32(len(f.slots)-1)]; e >= 0; e = f.entries[e].next {
		if f.entries[e].hash == h {
			return true
		}
	}
	return false
}

// add notes a place of a source, if its window is one of the target's.
func (f *finder) add(t *target, a *anchor, line int, h uint32) {
	for e := f.slots[h&uint32(len(f.slots)-1)]; e >= 0; e = f.entries[e].next {
		x := &f.entries[e]
		if x.hash != h || len(x.places) >= maxCandidates {
			continue
		}
		if f.same(t, x.at, &a.table, a.text, line) {
			x.places = append(x.places, place{a.index, line})
			return
		}
	}
}

// find searches all sources for the windows of the target.
func (t *target) find() (runs, tall *finder) {
	runs = newFinder(t, int(t.c.settings.GetMinLines()), t.windows(int(t.c.settings.GetMinLines())))
	alone := make([]uint32, t.len())
	for _, i := range t.long(t.text) {
		alone[i] = t.hash[i]
	}
	tall = newFinder(t, 1, alone)
	own := baseHash(t.b.Class.Call.File)
	for i := range t.before.Sources {
		n := t.note(i)
		if n == nil || !n.usable || t.unnamed(i) {
			continue
		}
		if own != 0 && n.base != 0 && own != n.base && !t.c.settings.GetCrossPath() {
			t.searchAround(i, n, tall) // files of other names
			continue
		}
		t.budget -= len(n.win)
		t.search(i, n, runs, tall)
		if t.budget < 0 {
			break
		}
	}
	return runs, tall
}

// search looks through one source.
func (t *target) search(i int, n *note, runs, tall *finder) {
	var a *anchor
	hit := func() bool {
		if a == nil {
			a = t.anchor(i, n)
		}
		return !a.refuse && !a.foreign
	}
	for line, h := range n.win {
		if h == 0 || !runs.has(h) {
			continue
		}
		if !hit() {
			return
		}
		runs.add(t, a, line, h)
	}
	for _, line := range n.tall {
		h := n.hash[line]
		if !tall.has(h) {
			continue
		}
		if !hit() {
			return
		}
		tall.add(t, a, int(line), h)
	}
}

// searchAround looks through a source that shows another file, for what is of
// neither file: a client's own words, which stand outside of the numbered lines.
func (t *target) searchAround(i int, n *note, tall *finder) {
	if len(t.runs) == 0 || len(n.runs) == 0 {
		return
	}
	for _, line := range n.tall {
		if h := n.hash[line]; n.gutter[line] == 0 && tall.has(h) && !t.anchor(i, n).refuse {
			tall.addOutside(t, t.cache[i], int(line), h)
		}
	}
}

// addOutside is add, for lines of the target that stand outside of its numbers.
func (f *finder) addOutside(t *target, a *anchor, line int, h uint32) {
	for e := f.slots[h&uint32(len(f.slots)-1)]; e >= 0; e = f.entries[e].next {
		if x := &f.entries[e]; x.hash == h && t.gutter[x.at] == 0 {
			f.add(t, a, line, h)
			return
		}
	}
}

// baseHash is a hash of a path's last element, 0 for no path. Files whose hashes
// differ are not the same; nothing follows from equal ones.
func baseHash(path string) uint32 {
	if path == "" {
		return 0
	}
	return uint32(xxhash.Sum64String(path[strings.LastIndexByte(path, '/')+1:])) | 1
}

// unnamed says that source i has no ordinal to be named by: it is a result
// without a call.
func (t *target) unnamed(i int) bool { return t.before.Sources[i].Call.Ordinal == 0 }

// candidate is a run of the target's lines that stands in a source.
type candidate struct {
	*anchor
	place
	lines int // how many lines from the place on are equal
}

// candidates are the places where the lines from line i on stand, the longest
// run first, ties in order of appearance.
func (t *target) candidates(i int, runs, tall *finder) []candidate {
	var out []candidate
	for _, f := range [...]*finder{runs, tall} {
		if i >= len(f.hashes) || f.hashes[i] == 0 {
			continue
		}
		e := f.entry(t, f.hashes[i], i)
		if e == nil {
			continue
		}
		for _, p := range e.places {
			if f == tall && slices.ContainsFunc(out, func(c candidate) bool { return c.place == p }) {
				continue
			}
			a := t.cache[p.of]
			if t.barren(a, i, p.line) {
				continue
			}
			out = append(out, candidate{anchor: a, place: p, lines: t.extend(a, i, p.line)})
			if t.budget < 0 {
				return nil
			}
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.lines, a.lines), cmp.Compare(a.source.Offset, b.source.Offset),
			cmp.Compare(a.of, b.of), cmp.Compare(a.line, b.line))
	})
	return out
}

// extend counts the lines that are equal from line i of the target and line j of
// the anchor on, within the numbered runs of both sides.
func (t *target) extend(a *anchor, i, j int) int {
	_, iEnd := t.bounds(i)
	_, jEnd := a.bounds(j)
	n := 0
	for i+n < iEnd && j+n < jEnd {
		if h := t.hash[i+n]; h == 0 || h != a.hash[j+n] {
			break
		}
		x, y := t.content(t.text, i+n), a.content(a.text, j+n)
		t.budget -= 8 + len(x)
		if x != y {
			break
		}
		n++
	}
	return n
}

// identical refers to a whole result that is equal byte for byte but for its
// final terminator.
func (t *target) identical() (pipeline.Edit, bool) {
	if t.len() == 0 {
		return pipeline.Edit{}, false
	}
	sum, size := t.sum()
	for i := range t.before.Sources {
		n := t.note(i)
		if n == nil || !n.whole || n.sum != sum || t.before.Sources[i].Argument != "" || t.unnamed(i) {
			continue
		}
		a := t.anchor(i, n)
		if a.refuse || a.foreign || !equalText(a.text, t.text[:size]) {
			continue
		}
		if e, ok := t.wholeMark(a); ok {
			return e, true
		}
	}
	return pipeline.Edit{}, false
}
