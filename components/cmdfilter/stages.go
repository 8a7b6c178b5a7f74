package cmdfilter

import "strings"

// reason is why lines were cut: one stage's work on one text.
type reason struct {
	stage *stage
	// lines behind which marks of a group stand, with the places they name.
	groups []places
}

// places are where else the text of a line stood.
type places struct {
	after int      // the last line of the one that is kept
	lines int      // that stand at each place
	at    []placed // of the others, in order
}

// placed is a range of the text.
type placed struct{ from, to int }

// text is a text that stages work on.
type text struct {
	all   string
	lines []line
	cut   []uint16 // by line: 0, or 1 + the index of the reason
	skip  []int32  // by line: bytes cut off its beginning; nil if none are
	// skipBy is, by line, 1 + the index of the reason for that.
	skipBy []uint16

	keeps   [][]*pattern
	asked   [][]*pattern // those of keeps that bind a stage that loses nothing, too
	signals *signals
	known   []uint8 // by line: what was worked out about it
	reasons []reason
}

// What is known of a line.
const (
	askedKeep uint8 = 1 << iota
	isKept
	askedSignal
	isSignal
	isFirst // of a group
)

func newText(all string, s *signals) *text {
	t := &text{all: all, lines: split(all), signals: s}
	t.cut = make([]uint16, len(t.lines))
	t.known = make([]uint8, len(t.lines))
	return t
}

// kept says that line i is one that no stage cuts.
func (t *text) kept(i int) bool {
	if t.known[i]&askedKeep == 0 {
		t.known[i] |= askedKeep
		for _, ps := range t.keeps {
			if anyMatch(ps, t.lines[i].view) {
				t.known[i] |= isKept
			}
		}
	}
	return t.known[i]&isKept != 0
}

// signal says that line i holds a word that reports a failure.
func (t *text) signal(i int) bool {
	if t.known[i]&askedSignal == 0 {
		t.known[i] |= askedSignal
		if t.signals.in(t.lines[i].view) {
			t.known[i] |= isSignal
		}
	}
	return t.known[i]&isSignal != 0
}

// free says that a stage may cut line i.
func (t *text) free(s *stage, i int) bool {
	return t.cut[i] == 0 && !t.kept(i) && (s.trusted || !t.signal(i))
}

// span is a range of lines.
type span struct{ from, to int }

// run runs a stage on the lines [lo, hi).
func (t *text) run(s *stage, lo, hi int) {
	t.reasons = append(t.reasons, reason{stage: s})
	sections := t.sections(s, lo, hi)
	switch s.verb {
	case drop:
		t.drop(s, sections)
	case fold:
		t.fold(s, sections)
	case blocks:
		t.blocks(s, sections)
	case dedupe:
		if s.all {
			t.dedupeAll(s, sections)
		} else {
			t.dedupeRuns(s, sections)
		}
	case group:
		t.group(s, sections)
	case limit:
		t.limit(s, sections)
	case only:
		t.only(s, sections)
	case headtail:
		t.headtail(s, sections)
	case trim:
		t.trim(s, sections)
	}
}

// sections are the ranges that a stage works on: what stands between a line that
// matches from and the next that matches to, both left out.
func (t *text) sections(s *stage, lo, hi int) []span {
	if len(s.from) == 0 && len(s.to) == 0 {
		return []span{{lo, hi}}
	}
	var out []span
	open := -1
	if len(s.from) == 0 {
		open = lo
	}
	for i := lo; i < hi; i++ {
		view := t.lines[i].view
		if open >= 0 && anyMatch(s.to, view) {
			out = append(out, span{open, i})
			open = -1
		}
		if open < 0 && anyMatch(s.from, view) {
			open = i + 1
		}
	}
	if open >= 0 {
		out = append(out, span{open, hi})
	}
	return out
}

// remove cuts line i for the stage that is running.
func (t *text) remove(i int) { t.cut[i] = uint16(len(t.reasons)) }

func (t *text) drop(s *stage, sections []span) {
	var found []int
	for _, sec := range sections {
		for i := sec.from; i < sec.to; i++ {
			if s.matches(t.lines[i].view) && t.free(s, i) {
				found = append(found, i)
			}
		}
	}
	if len(found) < s.min {
		return
	}
	for _, i := range found {
		t.remove(i)
	}
}

func (t *text) fold(s *stage, sections []span) {
	for _, sec := range sections {
		start, end, n := -1, -1, 0 // of the run; end is behind its last line
		flush := func() {
			if start >= 0 {
				t.foldRun(s, start, end, n)
			}
			start, n = -1, 0
		}
		for i := sec.from; i < sec.to; i++ {
			view := t.lines[i].view
			switch {
			case t.cut[i] != 0:
			case s.matches(view) && t.free(s, i):
				if start < 0 {
					start = i
				}
				end = i + 1
				n++
			case s.blank && strings.TrimSpace(view) == "" && !t.kept(i):
			default:
				flush()
			}
		}
		flush()
	}
}

// foldRun cuts a run of n lines, and the blank lines between them.
func (t *text) foldRun(s *stage, from, to, n int) {
	if n-s.head-s.tail < s.min {
		return
	}
	seen := 0
	for i := from; i < to; i++ {
		if t.cut[i] != 0 {
			continue
		}
		if !s.blank || strings.TrimSpace(t.lines[i].view) != "" {
			seen++
			if seen <= s.head || seen > n-s.tail {
				continue
			}
		} else if seen < s.head || seen >= n-s.tail {
			continue
		}
		t.remove(i)
	}
}

func (t *text) blocks(s *stage, sections []span) {
	seen := map[string]int{} // blocks so far, by what per names
	for _, sec := range sections {
		for i := sec.from; i < sec.to; {
			if t.cut[i] != 0 || !anyMatch(s.start, t.lines[i].view) {
				i++
				continue
			}
			end, ok := t.blockEnd(s, i, sec.to)
			if !ok {
				i++
				continue
			}
			t.block(s, i, end, seen)
			i = end
		}
	}
}

// goesOn says that a line belongs to a block whose first line holds key, if that
// matters.
func (s *stage) goesOn(key, view string) bool {
	if s.same[0] == "" {
		return anyMatch(s.while, view)
	}
	for _, p := range s.while {
		if g := p.groups(view); g != nil {
			if i := 2 * p.group(s.same[1]); g[i] >= 0 && view[g[i]:g[i+1]] == key {
				return true
			}
		}
	}
	return false
}

// blockEnd is behind the last line of the block that starts at i.
func (t *text) blockEnd(s *stage, i, hi int) (end int, ok bool) {
	key := ""
	if s.same[0] != "" {
		key = named(s.start, s.same[0], t.lines[i].view)
	}
	for j := i + 1; j < hi; j++ {
		view := t.lines[j].view
		switch {
		case len(s.end) > 0:
			if anyMatch(s.end, view) {
				return j + 1, true
			}
		case len(s.until) > 0:
			if anyMatch(s.until, view) {
				return j, true
			}
		case !s.goesOn(key, view):
			return j, true
		}
	}
	return hi, len(s.end) == 0
}

func (t *text) block(s *stage, from, to int, seen map[string]int) {
	has := len(s.has) == 0
	for i := from; i < to; i++ {
		view := t.lines[i].view
		has = has || anyMatch(s.has, view)
		if anyMatch(s.unless, view) {
			return
		}
	}
	if has && s.max > 0 {
		key := ""
		if s.per != "" {
			key = named(s.start, s.per, t.lines[from].view)
		}
		if seen[key]++; seen[key] <= s.max {
			return
		}
	}
	from, to = from+s.head, to-s.tail
	if !has || to-from < s.min {
		return
	}
	for i := from; i < to; i++ {
		if t.kept(i) || !s.trusted && t.signal(i) {
			if s.head+s.tail == 0 {
				return // a block is cut whole or not at all
			}
		}
	}
	for i := from; i < to; i++ {
		if t.free(s, i) {
			t.remove(i)
		}
	}
}

func (t *text) dedupeRuns(s *stage, sections []span) {
	var buf []byte
	for _, sec := range sections {
		start, n := -1, 0
		var last uint64
		flush := func(end int) {
			if start >= 0 {
				t.repeats(s, start, end, n)
			}
		}
		for i := sec.from; i < sec.to; i++ {
			if t.cut[i] != 0 {
				continue
			}
			view := t.lines[i].view
			if len(s.re) > 0 && !s.matches(view) {
				flush(i)
				start = -1
				continue
			}
			var key uint64
			key, buf = s.mask.key(buf, view)
			if start >= 0 && key == last {
				n++
				continue
			}
			flush(i)
			start, n, last = i, 1, key
		}
		flush(sec.to)
	}
}

// repeats cuts a run of n equal lines but the first ones and the last ones.
func (t *text) repeats(s *stage, from, to, n int) {
	if n < s.min || n-s.head-s.tail < 1 {
		return
	}
	seen := 0
	for i := from; i < to && seen < n; i++ {
		if t.cut[i] != 0 {
			continue
		}
		seen++
		if seen > s.head && seen <= n-s.tail && t.repeated(s, i) {
			t.remove(i)
		}
	}
}

// repeated says that line i may be cut as a repeat: an exact repeat of a line
// that is kept loses nothing, whatever it says.
func (t *text) repeated(s *stage, i int) bool {
	if s.mask == 0 {
		return t.cut[i] == 0 && !t.kept(i)
	}
	return t.free(s, i)
}

func (t *text) dedupeAll(s *stage, sections []span) {
	var buf []byte
	count := map[uint64]int{}
	var order []int
	var ks []uint64
	for _, sec := range sections {
		for i := sec.from; i < sec.to; i++ {
			view := t.lines[i].view
			if t.cut[i] != 0 || strings.TrimSpace(view) == "" || len(s.re) > 0 && !s.matches(view) {
				continue
			}
			var key uint64
			key, buf = s.mask.key(buf, view)
			count[key]++
			order, ks = append(order, i), append(ks, key)
		}
	}
	seen := map[uint64]int{}
	for j, i := range order {
		k := ks[j]
		seen[k]++
		if count[k] >= s.min && seen[k] > s.head && seen[k] <= count[k]-s.tail && t.repeated(s, i) {
			t.remove(i)
		}
	}
}

func (t *text) limit(s *stage, sections []span) {
	type hit struct {
		line int
		key  string
	}
	var hits []hit
	count := map[string]int{}
	flush := func() {
		seen := map[string]int{}
		for _, h := range hits {
			seen[h.key]++
			if count[h.key] > s.over && seen[h.key] > s.max && seen[h.key] <= count[h.key]-s.tail && t.free(s, h.line) {
				t.remove(h.line)
			}
		}
		hits = hits[:0]
		clear(count)
	}
	for _, sec := range sections {
		for i := sec.from; i < sec.to; i++ {
			view := t.lines[i].view
			if len(s.reset) > 0 && anyMatch(s.reset, view) {
				flush()
			}
			if t.cut[i] != 0 || !s.matches(view) {
				continue
			}
			key := ""
			if s.per != "" {
				key = named(s.re, s.per, view)
			}
			hits = append(hits, hit{i, key})
			count[key]++
		}
	}
	flush()
}

// named is what a group of the first pattern that matches holds.
func named(ps []*pattern, group, view string) string {
	for _, p := range ps {
		if g := p.groups(view); g != nil {
			if i := 2 * p.group(group); g[i] >= 0 {
				return view[g[i]:g[i+1]]
			}
			return ""
		}
	}
	return ""
}

func (t *text) only(s *stage, sections []span) {
	for _, sec := range sections {
		near := sec.from // lines before it are context of a line that is kept
		for i := sec.from; i < sec.to; i++ {
			if !t.wanted(s, i) {
				continue
			}
			for j := max(near, sec.from); j < i-s.around; j++ {
				if t.free(s, j) {
					t.remove(j)
				}
			}
			near = i + 1 + s.around
		}
		for j := near; j < sec.to; j++ {
			if t.free(s, j) {
				t.remove(j)
			}
		}
	}
}

// wanted says that line i is one of those that are kept.
func (t *text) wanted(s *stage, i int) bool {
	return t.cut[i] == 0 && (len(s.re) > 0 && s.matches(t.lines[i].view) || t.kept(i) || !s.trusted && t.signal(i))
}

func (t *text) headtail(s *stage, sections []span) {
	for _, sec := range sections {
		var left []int
		for i := sec.from; i < sec.to; i++ {
			if t.cut[i] == 0 {
				left = append(left, i)
			}
		}
		if len(left) > s.over {
			t.only(s, []span{{left[s.head], left[len(left)-1-s.tail] + 1}})
		}
	}
}

func (t *text) trim(s *stage, sections []span) {
	for _, sec := range sections {
		before := ""
		for i := sec.from; i < sec.to; i++ {
			if t.cut[i] != 0 || t.kept(i) {
				continue
			}
			n, head := t.prefix(s, i)
			same := head == before
			before = head
			if n == 0 || s.repeats && !same || n == len(t.lines[i].view) {
				continue
			}
			if t.skip == nil {
				t.skip, t.skipBy = make([]int32, len(t.lines)), make([]uint16, len(t.lines))
			}
			if t.skip[i] > 0 {
				continue
			}
			t.skip[i], t.skipBy[i] = int32(n), uint16(len(t.reasons))
		}
	}
}

// prefix is how many bytes of line i a trim cuts off, and what of them has to be
// as in the line before if only repeats are cut off: the group same, or all. A
// line that a terminal shows differently from its bytes is left alone.
func (t *text) prefix(s *stage, i int) (n int, head string) {
	l := &t.lines[i]
	if !strings.HasPrefix(t.all[l.from:l.to], l.view) {
		return 0, ""
	}
	for _, p := range s.re {
		g := p.groups(l.view)
		if g == nil || g[0] != 0 || anyMatch(s.unless, l.view) {
			continue
		}
		if same := 2 * p.group("same"); same >= 0 && g[same] >= 0 {
			return g[1], l.view[g[same]:g[same+1]]
		}
		return g[1], l.view[:g[1]]
	}
	return 0, ""
}

func (t *text) group(s *stage, sections []span) {
	type set struct {
		lines []int // the first ones
		of    int   // lines that each is long
		at    []placed
	}
	index := map[string]int{}
	var sets []set
	for _, sec := range sections {
		for i := sec.from; i < sec.to; i++ {
			if !t.groupable(i) {
				continue
			}
			key, at, ok := t.place(s, i)
			if !ok {
				continue
			}
			n := 1
			for len(s.while) > 0 && i+n < sec.to && t.groupable(i+n) && anyMatch(s.while, t.lines[i+n].view) {
				key += "\x00" + t.lines[i+n].view
				n++
			}
			j, known := index[key]
			if !known {
				j = len(sets)
				index[key] = j
				sets = append(sets, set{of: n})
			}
			sets[j].lines, sets[j].at = append(sets[j].lines, i), append(sets[j].at, at)
		}
	}
	r := &t.reasons[len(t.reasons)-1]
	for _, set := range sets {
		if len(set.lines)-s.head < s.min {
			continue
		}
		r.groups = append(r.groups, places{after: set.lines[s.head-1] + set.of - 1, lines: set.of, at: set.at[s.head:]})
		for k, from := range set.lines {
			for i := from; i < from+set.of; i++ {
				if k < s.head {
					t.known[i] |= askedKeep | isKept | isFirst
				} else {
					t.remove(i)
				}
			}
		}
	}
}

// groupable says that line i may be cut if its text stands elsewhere: it need not
// be free, since nothing is lost.
func (t *text) groupable(i int) bool {
	if t.cut[i] != 0 || t.known[i]&isFirst != 0 {
		return false
	}
	for _, ps := range t.asked {
		if anyMatch(ps, t.lines[i].view) {
			return false
		}
	}
	return true
}

// place takes the place off a line: what is left is what lines are grouped by.
func (t *text) place(s *stage, i int) (key string, at placed, ok bool) {
	l := &t.lines[i]
	if !strings.HasPrefix(t.all[l.from:l.to], l.view) || anyMatch(s.unless, l.view) {
		return "", placed{}, false
	}
	for _, p := range s.re {
		g := p.groups(l.view)
		if g == nil {
			continue
		}
		a := 2 * p.group("at")
		if g[a] < 0 || g[a] == g[a+1] || strings.IndexFunc(l.view[g[a]:g[a+1]], notInMark) >= 0 {
			return "", placed{}, false
		}
		return l.view[:g[a]] + "\x00" + l.view[g[a+1]:], placed{l.from + g[a], l.from + g[a+1]}, true
	}
	return "", placed{}, false
}

func notInMark(r rune) bool { return r <= ' ' || r > '~' || r == ']' }
