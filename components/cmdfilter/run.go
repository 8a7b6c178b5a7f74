package cmdfilter

import (
	"slices"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
)

// Bounds of what is kept of a failure.
const (
	failTokens = 6000 // up to here all of it
	failHead   = 60   // lines
	failTail   = 80
	failAround = 3
	failLines  = 400 // with a signal, and around them
)

// result is what a set made of a text.
type result struct {
	gate    pipeline.Gate
	filters []*Filter // that were applied, in order
	failed  bool
	text    *text
	pieces  pipeline.Pieces
	before  int // tokens
	after   int
}

// run finds the filter of a result and applies it. marked says that the text has
// marks already; it is asked last, since it is dearer than most gates.
func (s *Set) run(class classify.Class, all string, marked func() bool) result {
	cmd := &class.Call.Command
	if len(cmd.Parts) > 0 {
		return s.runParts(class, all, marked)
	}
	f, gate := s.find(cmd, all)
	if gate != "" {
		return result{gate: gate}
	}
	if f = s.delegated(f, all, 0); f == nil {
		return result{gate: GateNoFilter}
	}
	if f.verbatim {
		return result{gate: GateState, filters: []*Filter{f}}
	}
	r := result{filters: []*Filter{f}, before: tokens.Estimate(all)}
	switch {
	case r.before < f.gates.minTokens:
		r.gate = GateSmall
	case marked():
		r.gate = GateMark
	}
	if r.gate != "" {
		return r
	}
	r.text = newText(all, s.signals)
	r.failed = class.Failed || classify.FidelityOf(class, all) >= classify.Fail
	r.gate = r.text.apply(f, 0, len(r.text.lines), &r.failed)
	if r.gate != "" && r.gate != GateFailed {
		return r
	}
	if r.failed && r.before > failTokens && !f.uncapped {
		r.text.capFailure()
		r.gate = ""
	}
	return r.finish(f.gates)
}

// finish writes the pieces, if they are worth it.
func (r result) finish(g gates) result {
	if r.gate != "" {
		return r
	}
	if r.pieces = r.text.pieces(); r.pieces == nil {
		r.gate = GateSame
		if r.failed {
			r.gate = GateFailed
		}
		return r
	}
	r.after = tokens.Estimate(r.pieces.Text(r.text.all))
	if saved := r.before - r.after; saved < g.minSaving || float64(saved) < g.minShare*float64(r.before) {
		r.gate = GateLittle
	}
	return r
}

// apply runs a filter on the lines [lo, hi). failed is what is known of the
// command; it becomes true if a line says so.
func (t *text) apply(f *Filter, lo, hi int, failed *bool) pipeline.Gate {
	proof := make([]bool, len(f.needs))
	for i := lo; i < hi; i++ {
		view := t.lines[i].view
		*failed = *failed || anyMatch(f.fails, view)
		if anyMatch(f.verbatimIf, view) {
			return GateState
		}
		for j, p := range f.needs {
			proof[j] = proof[j] || p.match(view)
		}
	}
	if !*failed {
		for _, ok := range proof {
			if !ok {
				return GateProof
			}
		}
	}
	t.keeps, t.asked = [][]*pattern{f.keeps, f.needs, f.fails}, [][]*pattern{f.keeps, f.needs}
	ran := false
	for i := range f.stages {
		s := &f.stages[i]
		if s.on == onAny || (s.on == onFail) == *failed {
			t.run(s, lo, hi)
			ran = true
		}
	}
	if *failed && !ran {
		return GateFailed
	}
	return ""
}

// capFailure keeps of a very long failure the head, the tail, and the lines with
// signals and what stands around them.
func (t *text) capFailure() {
	var left []int
	for i := range t.lines {
		if t.cut[i] == 0 {
			left = append(left, i)
		}
	}
	if len(left) <= failHead+failTail {
		return
	}
	from, to := left[failHead], left[len(left)-failTail]
	keep := make([]bool, len(t.lines))
	n := 0
	for i := from; i < to && n < failLines; i++ {
		if t.cut[i] != 0 || !t.signal(i) && !t.kept(i) {
			continue
		}
		for j := max(from, i-failAround); j <= min(i+failAround, to-1); j++ {
			if !keep[j] {
				keep[j] = true
				n++
			}
		}
	}
	t.reasons = append(t.reasons, reason{stage: &stage{verb: headtail, what: "the middle of a long failure"}})
	for i := from; i < to; i++ {
		if t.cut[i] == 0 && !keep[i] {
			t.remove(i)
		}
	}
}

// Bounds of delegation.
const (
	delegateDepth = 3
	delegateLines = 8
)

// delegated follows a filter to that of the command which the first lines of the
// output name; nil if there is none and the filter has no stages of its own.
func (s *Set) delegated(f *Filter, all string, depth int) *Filter {
	if len(f.delegate) == 0 || depth == delegateDepth {
		return f
	}
	rest, found := all, ""
	for range delegateLines {
		line, more, ok := strings.Cut(rest, "\n")
		if cmd := named(f.delegate, "cmd", shown(line)); cmd != "" {
			found = cmd
		}
		if rest = more; !ok {
			break
		}
	}
	if found != "" {
		cmd := classify.Resolve(found)
		if g, gate := s.find(&cmd, all); gate == "" && g != f && cmd.Program != "" && !(len(f.stages) > 0 && slices.Contains(s.last, g)) {
			return s.delegated(g, all, depth+1)
		}
	}
	if g := s.shaped(all); g != nil && g != f {
		return g
	}
	if len(f.stages) == 0 {
		return nil
	}
	return f
}

// runParts splits the output of several commands at the lines that echo printed
// between them, and filters each part by the one command that printed it.
func (s *Set) runParts(class classify.Class, all string, marked func() bool) result {
	parts := class.Call.Command.Parts
	if !separated(parts) {
		return result{gate: GateSeveral}
	}
	if marked() {
		return result{gate: GateMark}
	}
	r := result{before: tokens.Estimate(all), failed: class.Failed}
	if r.before < defaultGates().minTokens {
		return result{gate: GateSmall}
	}
	r.text = newText(all, s.signals)
	at, ok := r.text.separators(parts)
	if !ok {
		return result{gate: GateSeveral}
	}
	r.gate = GateNoFilter
	for i, p := range parts {
		if isEcho(&p) || i > 0 && !isEcho(&parts[i-1]) || i+1 < len(parts) && !isEcho(&parts[i+1]) {
			continue
		}
		lo, hi := 0, len(r.text.lines)
		if i > 0 {
			lo = at[i-1] + 1
		}
		if i+1 < len(parts) {
			hi = at[i+1]
		}
		from, to := r.text.offset(lo), r.text.offset(hi)
		f, gate := s.find(&parts[i], all[from:to])
		if gate != "" || !filterableSub(&parts[i]) {
			continue
		}
		if f = s.delegated(f, all[from:to], 0); f == nil || f.verbatim {
			continue
		}
		failed := r.failed
		if r.text.apply(f, lo, hi, &failed) == "" {
			r.filters, r.gate = append(r.filters, f), ""
		}
	}
	return r.finish(defaultGates())
}

func isEcho(c *classify.Command) bool { return c.Program == "echo" || c.Program == "printf" }

// filterableSub says that a part is no viewer, search or echo.
func filterableSub(c *classify.Command) bool {
	switch c.SubKind() {
	case classify.Viewer, classify.Seeker, classify.Printer:
		return false
	default:
		return true
	}
}

// separated says that echoed lines stand between the commands.
func separated(parts []classify.Command) bool {
	echoes := 0
	for i := range parts {
		if isEcho(&parts[i]) {
			if _, ok := echoed(&parts[i]); !ok {
				return false
			}
			echoes++
		}
	}
	return echoes > 0 && echoes < len(parts)
}

// echoed is the line that an echo prints, if that is known.
func echoed(c *classify.Command) (line string, ok bool) {
	args := c.Args
	if c.Program == "printf" {
		if len(args) != 1 || !strings.HasSuffix(args[0], `\n`) || strings.Count(args[0], `\`) != 1 || strings.Contains(args[0], "%") {
			return "", false
		}
		line = strings.TrimSuffix(args[0], `\n`)
	} else {
		line = strings.Join(args, " ")
	}
	return line, !c.Opaque && len(c.Stages) == 1 && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "-")
}

// separators finds the line of each echo, in order; ok is false if one is
// missing or stands twice, so that it is not known which is which.
func (t *text) separators(parts []classify.Command) (at []int, ok bool) {
	at = make([]int, len(parts))
	next := 0
	for i := range parts {
		if !isEcho(&parts[i]) {
			continue
		}
		want, _ := echoed(&parts[i])
		found := -1
		for j := next; j < len(t.lines); j++ {
			if t.lines[j].view != want {
				continue
			}
			if found >= 0 && !again(parts[i+1:], want) {
				return nil, false
			}
			if found < 0 {
				found = j
			}
		}
		if found < 0 {
			return nil, false
		}
		at[i], next = found, found+1
	}
	return at, true
}

// again says that a later echo prints the same line.
func again(parts []classify.Command, line string) bool {
	for i := range parts {
		if isEcho(&parts[i]) {
			if l, _ := echoed(&parts[i]); l == line {
				return true
			}
		}
	}
	return false
}

// offset is where line i begins, or the end of the text.
func (t *text) offset(i int) int {
	if i == len(t.lines) {
		return len(t.all)
	}
	return t.lines[i].from
}
