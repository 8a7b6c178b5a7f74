package cmdfilter

// reason is why lines were cut: one stage's work on one text.
type reason struct {
	stage *stage
	// lines behind which marks of a group stand, with the places they name.
	groups []places
}

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
