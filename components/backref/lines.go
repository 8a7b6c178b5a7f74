package backref

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
)

// table is a text as lines, in numbers only, so that it may be kept at every
// storage level. Hashes lead to candidates and decide nothing.
type table struct {
	start  []uint32 // of each line
	gutter []uint8  // bytes of its gutter
	hash   []uint32 // of its content without gutter and terminator; 0: not usable
	size   uint32   // of the text
	runs   []classify.Numbered
	loose  []int32 // numbers of lines outside of the runs that look numbered, sorted
}

// newTable splits a text. Gutters are taken off where the call prints numbers.
func newTable(text string, numbered bool) table {
	n := strings.Count(text, "\n") + 1
	t := table{start: make([]uint32, 0, n), hash: make([]uint32, 0, n), size: uint32(len(text))}
	for at := 0; at < len(text); {
		t.start = append(t.start, uint32(at))
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	t.gutter = make([]uint8, len(t.start))
	if numbered {
		t.takeGutters(text)
	}
	lossy, marked := strings.Contains(text, "\uFFFD"), strings.Contains(text, pipeline.MarkStart)
	run := 0
	for i := range t.start {
		content := t.content(text, i)
		h := uint32(xxhash.Sum64String(content))
		if h == 0 {
			h = 1
		}
		for run < len(t.runs) && i >= t.runs[run].To {
			run++
		}
		switch {
		case lossy && strings.Contains(content, "\uFFFD"):
			h = 0
		case marked && pipeline.HasMark(text[t.start[i]:t.end(text, i)]):
			h = 0
		case t.gutter[i] == 0 && run < len(t.runs) && i >= t.runs[run].From:
			h = 0 // a blank line without the space of its gutter
		}
		t.hash = append(t.hash, h)
	}
	return t
}

// takeGutters finds the numbered runs. Runs that could not be written again
// from their form count as bare text.
func (t *table) takeGutters(text string) {
	lines := make([]string, len(t.start))
	for i := range lines {
		lines[i] = text[t.start[i]:t.end(text, i)]
	}
	for _, r := range classify.NumberedRuns(lines, classify.MinNumbered) {
		if !r.Regular {
			continue
		}
		for i := r.From; i < r.To; i++ {
			if _, content := classify.GutterOf(lines[i], r.Gutter, r.First+i-r.From); content > 0 {
				t.gutter[i] = uint8(content)
			}
		}
		t.runs = append(t.runs, r)
	}
	if len(t.runs) == 0 {
		return
	}
	for i := range lines {
		if n, ok := classify.NumberOf(lines[i]); ok && t.run(i) < 0 {
			t.loose = append(t.loose, int32(n))
		}
	}
	slices.Sort(t.loose)
}

// free is the first stretch of at least least of the numbers first to last of a
// run that no other line has, in whatever form and however few its neighbours
// are; none if to is less than from. The work is charged to a budget.
func (t *table) free(run, first, last, least int, budget *int) (from, to int) {
	for from = first; from+least-1 <= last && *budget >= 0; {
		*budget -= 1 + len(t.runs)
		a, b := t.taken(run, from)
		if min(a-1, last)-from+1 >= least {
			return from, min(a-1, last)
		}
		from = b + 1
	}
	return from, from - 1
}

// taken is the first stretch of numbers from n on that lines outside of a run have.
func (t *table) taken(run, n int) (from, to int) {
	from = math.MaxInt
	if i := sort.Search(len(t.loose), func(i int) bool { return int(t.loose[i]) >= n }); i < len(t.loose) {
		from, to = int(t.loose[i]), int(t.loose[i])
	}
	for i, r := range t.runs {
		if a := max(r.First, n); i != run && r.Last() >= n && a < from {
			from, to = a, r.Last()
		}
	}
	return from, to
}

func (t *table) len() int { return len(t.start) }

// end is where line i ends, without its terminator.
func (t *table) end(text string, i int) int {
	if i+1 < len(t.start) {
		return int(t.start[i+1]) - 1
	}
	if n := len(text); n > 0 && text[n-1] == '\n' {
		return n - 1
	}
	return len(text)
}

// next is where the line after i starts, or the end of the text.
func (t *table) next(i int) int {
	if i+1 < len(t.start) {
		return int(t.start[i+1])
	}
	return int(t.size)
}

// content is line i without gutter and terminator.
func (t *table) content(text string, i int) string {
	return text[int(t.start[i])+int(t.gutter[i]) : t.end(text, i)]
}

// after is the index of the first numbered run that ends behind line i.
func (t *table) after(i int) int {
	return sort.Search(len(t.runs), func(r int) bool { return t.runs[r].To > i })
}

// run is the index of the numbered run that line i is in, or -1.
func (t *table) run(i int) int {
	if r := t.after(i); r < len(t.runs) && t.runs[r].From <= i {
		return r
	}
	return -1
}

// bounds are the lines around i that a run may not leave: those of its numbered
// run, or the bare lines between two of them.
func (t *table) bounds(i int) (from, to int) {
	r := t.after(i)
	if r < len(t.runs) && t.runs[r].From <= i {
		return t.runs[r].From, t.runs[r].To
	}
	from, to = 0, t.len()
	if r > 0 {
		from = t.runs[r-1].To
	}
	if r < len(t.runs) {
		to = t.runs[r].From
	}
	return from, to
}

// forwarded clears the hashes of lines whose content is not forwarded literally
// and in full.
func (t *table) forwarded(text string, kept []pipeline.Range) {
	k := 0
	for i := range t.start {
		from, to := int(t.start[i])+int(t.gutter[i]), t.end(text, i)
		if from == to {
			to++ // a blank line stands if its terminator does
		}
		for k < len(kept) && kept[k].To < to {
			k++
		}
		if k == len(kept) || kept[k].From > from {
			t.hash[i] = 0
			t.comesLoose(text, i, kept)
		}
	}
	slices.Sort(t.loose)
}

// comesLoose notes a line that is not forwarded as it is, and looks numbered as it
// is forwarded.
func (t *table) comesLoose(text string, i int, kept []pipeline.Range) {
	if len(t.runs) == 0 || t.run(i) >= 0 {
		return
	}
	from, to := int(t.start[i]), t.end(text, i)
	var room [64]byte // the start says it
	line := room[:0]
	for k := sort.Search(len(kept), func(k int) bool { return kept[k].To > from }); k < len(kept) && kept[k].From < to; k++ {
		a, b := max(kept[k].From, from), min(kept[k].To, to)
		line = append(line, text[a:min(b, a+cap(room)-len(line))]...)
	}
	if n, ok := classify.NumberOf(string(line)); ok {
		t.loose = append(t.loose, int32(n))
	}
}

// windows are the hashes of every n lines that follow each other and may be one
// run; 0 where there are none.
func (t *table) windows(n int) []uint32 {
	out := make([]uint32, t.len())
	for i := 0; i+n <= t.len(); i++ {
		h, whole := uint32(2166136261), true
		for _, x := range t.hash[i : i+n] {
			if x == 0 {
				whole = false
				break
			}
			h = (h ^ x) * 2654435761
			h ^= h >> 15
		}
		if !whole {
			continue
		}
		if h == 0 {
			h = 1
		}
		out[i] = h
	}
	for _, r := range t.runs {
		for _, edge := range [...]int{r.From, r.To} {
			for i := max(0, edge-n+1); i < edge && i < len(out); i++ {
				out[i] = 0
			}
		}
	}
	return out
}

// longLine is how many bytes make a single line worth a reference of its own.
const longLine = 160

// long lists the usable lines that are long enough to seed a run alone.
func (t *table) long(text string) []uint32 {
	var out []uint32
	for i := range t.start {
		if t.hash[i] != 0 && t.end(text, i)-int(t.start[i])-int(t.gutter[i]) >= longLine {
			out = append(out, uint32(i))
		}
	}
	return out
}

// note is what backref keeps in mind of a source: numbers only.
type note struct {
	table
	win  []uint32
	tall []uint32 // long lines

	usable   bool // lines of it may be anchors
	whole    bool // all of it is forwarded literally
	replaced bool // nothing of it is
	failed   bool // it is an error
	edits    bool // the call edits files
	identity [16]byte
	sum      uint64 // of the text without its final terminator
	base     uint32 // of the name of the call's one file, 0 if it names none
}

// Bytes implements pipeline.Index.
func (n *note) Bytes() int {
	return 160 + 4*(cap(n.start)+cap(n.hash)+cap(n.win)+cap(n.tall)) + cap(n.gutter) + 96*cap(n.runs) + 4*cap(n.loose)
}

// Index implements pipeline.Indexer.
func (c *Component) Index(s pipeline.Source) pipeline.Index {
	n := &note{}
	if s.Parts != 1 || s.Lossy || s.Call.Ordinal == 0 {
		return n
	}
	text := s.Text()
	if uint64(len(text)) > maxText {
		return n
	}
	numbered := false
	call := s.Call.Class()
	n.base = baseHash(call.File)
	if s.Argument == "" {
		numbered = call.Numbers
		n.failed = classify.Failed(call, text, s.IsError)
		n.edits = call.Writes
		n.identity = call.Identity
	}
	n.table = newTable(text, numbered)
	n.sum = xxhash.Sum64String(strings.TrimSuffix(text, "\n"))
	kept := s.Kept()
	n.replaced = len(kept) == 0 && text != "" || isWholeMark(strings.TrimSuffix(text, "\n"))
	n.usable = len(kept) > 0
	if !n.usable {
		n.table = table{}
		return n
	}
	n.forwarded(text, kept)
	n.whole = n.len() > 0
	for _, h := range n.hash {
		n.whole = n.whole && h != 0
	}
	n.win = n.windows(int(c.settings.GetMinLines()))
	n.tall = n.long(text)
	return n
}

// isWholeMark says that a text is a reference to a whole result: it went out like
// that before, to us or to somebody before us.
func isWholeMark(text string) bool {
	rest, ok := strings.CutPrefix(text, pipeline.MarkStart)
	return ok && pipeline.IsMark(text) &&
		(strings.HasPrefix(rest, "same as #") || strings.HasPrefix(rest, "identical output to #"))
}

// maxText bounds a text that is looked at, in bytes: offsets are 32 bits wide.
const maxText = 1 << 30
