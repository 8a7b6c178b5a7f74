package cmdfilter

import "strings"

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
