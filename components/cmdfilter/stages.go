package cmdfilter

import "strings"

// What is known of a line.
const (
	askedKeep uint8 = 1 << iota
	isKept
	askedSignal
	isSignal
	isFirst // of a group
)

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
