package cmdfilter

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
