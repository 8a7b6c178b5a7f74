package backref

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
)

// sum is the hash of the text without its final terminator, and its length.
func (t *target) sum() (sum uint64, size int) {
	text := strings.TrimSuffix(t.text, "\n")
	return xxhash.Sum64String(text), len(text)
}

func equalText(a, b string) bool { return strings.TrimSuffix(a, "\n") == b }

// reference says that lines [from, to) of the target stand in the anchor from
// line on.
type reference struct {
	*anchor
	from, to int
	line     int
	mark     []pipeline.Piece // without brackets' surroundings: see marks.go
	saved    int
}

// diagonal is a pair of a source and the distance of its lines from the
// target's.
type diagonal struct{ source, shift int }

// barren says that a run through these lines was tried before and can't be
// taken from a later line on either.
func (t *target) barren(a *anchor, i, line int) bool {
	return i < t.dead[diagonal{a.index, line - i}]
}

// references replaces runs of lines, left to right.
func (t *target) references() (pipeline.Edit, pipeline.Gate) {
	if t.len() == 0 {
		return pipeline.Edit{}, GateNew
	}
	t.dead = map[diagonal]int{}
	runs, tall := t.find()
	var refs []reference
	done, tried := 0, false
	for i := 0; i < t.len(); {
		if t.budget < 0 {
			return pipeline.Edit{}, GateWork
		}
		cs := t.candidates(i, runs, tall)
		if len(cs) == 0 {
			i++
			continue
		}
		tried = true
		r, ok := t.choose(i, done, cs, len(refs) == 0)
		if !ok {
			i++
			continue
		}
		refs = append(refs, r)
		i, done = r.to, r.to
	}
	switch {
	case t.budget < 0:
		return pipeline.Edit{}, GateWork
	case len(refs) == 0 && tried:
		return pipeline.Edit{}, GateNoWin
	case len(refs) == 0:
		return pipeline.Edit{}, GateNew
	}
	return t.edit(refs), ""
}

// choose takes, of the longest candidates at line i, the one that covers most
// lines after shortening. Lines before done are already referred to.
func (t *target) choose(i, done int, cs []candidate, first bool) (best reference, ok bool) {
	for n, c := range cs {
		if n == maxTries || ok && c.lines <= best.to-best.from {
			break
		}
		r, fits := t.shorten(i, done, c)
		if fits {
			fits = t.judge(&r, first)
		}
		if !fits {
			t.dead[diagonal{c.index, c.line - i}] = i + c.lines
			continue
		}
		if !ok || r.to-r.from > best.to-best.from {
			best, ok = r, true
		}
	}
	return best, ok
}

// judge words the mark and says whether the reference is worth it.
func (t *target) judge(r *reference, first bool) bool {
	if n := r.to - r.from; n < int(t.c.settings.GetMinLines()) && !t.hasLong(r.from, r.to) {
		return false
	}
	old := tokens.Estimate(t.text[t.start[r.from]:t.end(t.text, r.to-1)])
	cost := tokens.Estimate(t.spell(r.mark))
	if first && t.before.Acted == 0 {
		cost += firstCost
	}
	r.saved = old - cost
	return r.saved >= int(t.c.settings.GetMinSavedTokens())
}

// firstCost is about what the explanation on the first reference of a body costs
// in tokens.
const firstCost = 9

func (t *target) hasLong(from, to int) bool {
	for i := from; i < to; i++ {
		if len(t.content(t.text, i)) >= longLine {
			return true
		}
	}
	return false
}

// shorten cuts a candidate down to what a reference can say: away from changes,
// from a line whose gutter is shown, and to end lines that can be quoted.
func (t *target) shorten(i, done int, c candidate) (r reference, ok bool) {
	r = reference{anchor: c.anchor, from: i, to: i + c.lines, line: c.line}
	if c.edited {
		t.clearOfChanges(&r)
	}
	own, theirs := t.run(i), c.run(c.line)
	if theirs >= 0 && !c.tellsForm(theirs) {
		return r, false
	}
	t.clearOfOthers(&r, &t.table, own, r.from)
	t.clearOfOthers(&r, &c.table, theirs, r.line)
	shown := own >= 0 && (theirs < 0 || !t.sameForm(own, theirs, &r))
	q := quoter{t: t, a: c.anchor}
	var begin, end quote
	for ; ; r.advance() {
		if r.from >= r.to || t.budget < 0 {
			return r, false
		}
		if shown && !t.showsForm(r, own, theirs, done) {
			continue
		}
		if theirs < 0 {
			if begin, ok = q.begin(r.line); !ok {
				continue
			}
		}
		break
	}
	if theirs < 0 {
		for ; ; r.to-- {
			if r.from >= r.to || t.budget < 0 {
				return r, false
			}
			if end, ok = q.end(begin, r.line, r.line+r.to-r.from-1); ok {
				break
			}
		}
	}
	r.mark = t.runMark(r, own, theirs, begin, end)
	return r, true
}

// tellsForm says that the form of a run's numbers is told by any lines of it that
// are forwarded: not if one line proves that a colon has no space, and if only some
// numbers are padded, of a text that is not forwarded whole.
func (n *note) tellsForm(run int) bool {
	r := n.runs[run]
	padded, _ := classify.GutterOf("", r.Gutter, r.Last())
	return n.whole || r.Gutter.Sep != ":" && (r.Gutter.Width == 0 || padded > 0)
}

// clearOfOthers cuts a reference down to lines of a run, from a line on, whose
// numbers are those of no other line: others would say nothing.
func (t *target) clearOfOthers(r *reference, of *table, run, line int) {
	if run < 0 {
		return
	}
	first := of.runs[run].First + line - of.runs[run].From
	n, least := r.to-r.from, int(t.c.settings.GetMinLines())
	if n < least {
		least = 1 // a long line
	}
	from, to := of.free(run, first, first+n-1, least, &t.budget)
	r.from, r.line = r.from+from-first, r.line+from-first
	r.to = r.from + to - from + 1
}

// advance leaves the first line literal.
func (r *reference) advance() { r.from, r.line = r.from+1, r.line+1 }

// margin is how many lines beside a change stay literal.
const margin = 2

// clearOfChanges keeps lines beside a change literal, so that an edit can be
// copied from one place: at an end at which both sides go on with another line.
func (t *target) clearOfChanges(r *reference) {
	tFrom, tTo := t.bounds(r.from)
	aFrom, aTo := r.bounds(r.line)
	count := r.to - r.from
	if i, j := r.from-1, r.line-1; i >= tFrom && j >= aFrom && t.content(t.text, i) != r.content(r.text, j) {
		r.from, r.line = r.from+margin, r.line+margin
	}
	if i, j := r.to, r.line+r.to-r.from; i < tTo && j < aTo && count > 0 && t.content(t.text, i) != r.content(r.text, j) {
		r.to -= margin
	}
}

// sameForm says that the anchor's gutter, with the target's numbers, is the
// target's.
func (t *target) sameForm(own, theirs int, r *reference) bool {
	run := t.runs[own]
	first := run.First + r.from - run.From
	a := run.Gutter.Append(nil, first)
	b := r.runs[theirs].Gutter.Append(nil, first)
	return string(a) == string(b)
}

// showsForm says that the line before the reference is literal and shows, on its
// own, the form of the target's numbers.
func (t *target) showsForm(r reference, own, theirs, done int) bool {
	run := t.runs[own]
	i := r.from - 1
	if i < run.From || i < done || t.gutter[i] == 0 {
		return false
	}
	line := t.text[t.start[i]:t.end(t.text, i)]
	rest := strings.TrimSuffix(t.content(t.text, i), "\r")
	switch run.Gutter.Sep {
	case ":":
		if rest == "" || rest[0] == ' ' {
			return false
		}
	case ": ":
		if rest == "" {
			return false
		}
	}
	if theirs >= 0 {
		// It must not pass for the anchor's form.
		g := r.runs[theirs].Gutter.Append(nil, run.First+i-run.From)
		return !strings.HasPrefix(line, string(g))
	}
	return true
}

// edit puts the references in their places.
func (t *target) edit(refs []reference) pipeline.Edit {
	var e pipeline.Edit
	var pieces pipeline.Pieces
	at := 0
	for n, r := range refs {
		pieces.Keep(at, int(t.start[r.from]))
		mark := slices.Clone(r.mark)
		at = t.next(r.to - 1)
		pieces = append(pieces, t.closed(mark, n == 0 && t.before.Acted == 0, at > t.end(t.text, r.to-1))...)
		e.Uses = append(e.Uses, pipeline.Use{Source: r.source.Ref, SavedTokens: r.saved})
	}
	pieces.Keep(at, len(t.text))
	e.Pieces = pieces
	return e
}
