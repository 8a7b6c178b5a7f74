package backref

import (
	"cmp"
	"slices"

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
	at     int // a line of the target at which the window starts
	places []place
	next   *entry // another window with the same hash
}

// finder looks for windows of n lines of the target in the sources.
type finder struct {
	n       int
	hashes  []uint32 // of the target, by line
	entries map[uint32]*entry
	bits    []uint64 // a filter in front of entries
	mask    uint32
}

// newFinder indexes the target's windows. Only windows at the given lines count
// if lines is not nil.
func newFinder(t *target, n int, hashes []uint32) *finder {
	f := &finder{n: n, hashes: hashes, entries: make(map[uint32]*entry, len(hashes))}
	size := uint32(64)
	for size < uint32(16*len(hashes)) && size < 1<<20 {
		size *= 2
	}
	f.bits, f.mask = make([]uint64, size/64), size-1
	for i, h := range hashes {
		if h == 0 || f.entry(t, h, i) != nil {
			continue
		}
		f.entries[h] = &entry{at: i, next: f.entries[h]}
		f.bits[(h&f.mask)/64] |= 1 << (h & 63)
	}
	return f
}

// entry finds the window that starts at line i of the target.
func (f *finder) entry(t *target, h uint32, i int) *entry {
	for e := f.entries[h]; e != nil; e = e.next {
		if f.same(t, e.at, &t.table, t.text, i) {
			return e
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

// maybe says that a hash could be one of the target's.
func (f *finder) maybe(h uint32) bool {
	return f.bits[(h&f.mask)/64]&(1<<(h&63)) != 0
}

// add notes a place of a source, if its window is one of the target's.
func (f *finder) add(t *target, i int, n *note, line int, h uint32) {
	for e := f.entries[h]; e != nil; e = e.next {
		if len(e.places) >= maxCandidates {
			continue
		}
		a := t.anchor(i, n)
		if a.refuse {
			return
		}
		if f.same(t, e.at, &a.table, a.text, line) {
			e.places = append(e.places, place{i, line})
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
	for i := range t.before.Sources {
		n := t.note(i)
		if n == nil || !n.usable || t.unnamed(i) {
			continue
		}
		for line, h := range n.win {
			if h != 0 && runs.maybe(h) {
				runs.add(t, i, n, line, h)
			}
		}
		for _, line := range n.tall {
			if h := n.hash[line]; tall.maybe(h) {
				tall.add(t, i, n, int(line), h)
			}
		}
		if t.budget < 0 {
			break
		}
	}
	return runs, tall
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
		if a.refuse || !equalText(a.text, t.text[:size]) {
			continue
		}
		if e, ok := t.wholeMark(a); ok {
			return e, true
		}
	}
	return pipeline.Edit{}, false
}
