package cmdfilter

import "strings"

// places are where else the text of a line stood.
type places struct {
	after int      // the last line of the one that is kept
	lines int      // that stand at each place
	at    []placed // of the others, in order
}

// placed is a range of the text.
type placed struct{ from, to int }

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
