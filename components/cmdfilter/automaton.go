package cmdfilter

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// maxStates bounds an automaton; an expression that needs more is left to
// package regexp.
const maxStates = 300

// automaton is an expression as a table: some twenty times as fast as package
// regexp, which is asked where there is no table. It is immutable.
type automaton struct {
	class [utf8.RuneSelf]uint8 // of each ASCII character
	wide  []rune               // where the further classes begin, in order; the first is the end of ASCII
	width int                  // number of classes
	next  []uint16             // by state and class
	found []bool               // by state: it matches whatever follows
	ends  []bool               // by state: it matches if the line ends here
}

// match says whether the expression matches a line.
func (a *automaton) match(s string) bool {
	state := 0
	for i := 0; i < len(s); {
		class, n := 0, 1
		if c := s[i]; c < utf8.RuneSelf {
			class = int(a.class[c])
		} else {
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			class = a.classOf(r)
		}
		i += n
		state = int(a.next[state*a.width+class])
		if a.found[state] {
			return true
		}
		if state == deadState {
			return false
		}
	}
	return a.ends[state]
}

// classOf is the class of a character outside ASCII.
func (a *automaton) classOf(r rune) int {
	i := len(a.wide) - 1
	for a.wide[i] > r {
		i--
	}
	return a.width - len(a.wide) + i
}

// deadState is the state from which nothing matches; 0 is the first one.
const deadState = 1

// newAutomaton makes the table of an expression, or nil if it is not simple enough.
func newAutomaton(tree *syntax.Regexp) *automaton {
	prog, err := syntax.Compile(tree)
	if err != nil {
		return nil
	}
	for _, in := range prog.Inst {
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
			return nil
		}
	}
	b := &subsets{prog: prog, index: map[string]int{}, a: &automaton{}}
	if !b.classes() {
		return nil
	}
	b.anchored = prog.StartCond()&syntax.EmptyBeginText != 0
	b.add(b.closure([]int{prog.Start}, syntax.EmptyBeginText|syntax.EmptyBeginLine))
	b.add(nil) // the dead state
	for i := 0; i < len(b.sets); i++ {
		if len(b.sets) > maxStates {
			return nil
		}
		for c := range b.a.width {
			b.a.next = append(b.a.next, uint16(b.step(i, b.sample[c])))
		}
	}
	return b.a
}

// subsets is the construction of an automaton: its states are sets of places in
// the program.
type subsets struct {
	prog     *syntax.Prog
	anchored bool // it can match from the start of the line only
	sets     [][]int
	index    map[string]int
	sample   []rune // one character of each class
	a        *automaton
}

// maxWide bounds the classes of characters outside ASCII: they are searched.
const maxWide = 40

// classes finds the characters that the program never tells apart; ok is false if
// there are too many classes.
func (b *subsets) classes() (ok bool) {
	cut := map[rune]bool{0: true, utf8.RuneSelf: true} // a class begins here
	for i := range b.prog.Inst {
		switch in := &b.prog.Inst[i]; in.Op {
		case syntax.InstRune, syntax.InstRune1:
			if len(in.Rune) == 1 { // with or without case
				cut[in.Rune[0]], cut[in.Rune[0]+1] = true, true
				for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
					cut[r], cut[r+1] = true, true
				}
			}
			for j := 0; j+1 < len(in.Rune); j += 2 {
				cut[in.Rune[j]], cut[in.Rune[j+1]+1] = true, true
			}
		case syntax.InstRuneAnyNotNL:
			cut['\n'], cut['\n'+1] = true, true
		default:
		}
	}
	for r := range rune(utf8.RuneSelf) {
		if cut[r] {
			b.sample = append(b.sample, r)
		}
		b.a.class[r] = uint8(len(b.sample) - 1)
	}
	for r := range cut {
		if r >= utf8.RuneSelf && r <= utf8.MaxRune {
			b.a.wide = append(b.a.wide, r)
		}
	}
	slices.Sort(b.a.wide)
	b.sample = append(b.sample, b.a.wide...)
	b.a.width = len(b.sample)
	return len(b.a.wide) <= maxWide
}

// closure follows what needs no character. flags say which anchors hold.
func (b *subsets) closure(from []int, flags syntax.EmptyOp) []int {
	seen := make([]bool, len(b.prog.Inst))
	var out []int
	for len(from) > 0 {
		pc := from[len(from)-1]
		from = from[:len(from)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		in := &b.prog.Inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			from = append(from, int(in.Out), int(in.Arg))
		case syntax.InstCapture, syntax.InstNop:
			from = append(from, int(in.Out))
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				from = append(from, int(in.Out))
			} else {
				out = append(out, pc) // it may hold at the end of the line
			}
		case syntax.InstFail:
		default:
			out = append(out, pc)
		}
	}
	slices.Sort(out)
	return out
}

// add returns the number of a set, which is made a state if it is new.
func (b *subsets) add(set []int) int {
	key := make([]byte, 0, 2*len(set))
	for _, pc := range set {
		key = append(key, byte(pc), byte(pc>>8))
	}
	if set == nil {
		key = []byte("dead")
	}
	if i, ok := b.index[string(key)]; ok {
		return i
	}
	i := len(b.sets)
	b.index[string(key)] = i
	b.sets = append(b.sets, set)
	b.a.found = append(b.a.found, b.matches(set))
	flags := syntax.EmptyEndText | syntax.EmptyEndLine
	if i == 0 {
		flags |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	}
	b.a.ends = append(b.a.ends, b.matches(b.closure(slices.Clone(set), flags)))
	return i
}

func (b *subsets) matches(set []int) bool {
	return slices.ContainsFunc(set, func(pc int) bool { return b.prog.Inst[pc].Op == syntax.InstMatch })
}

// step is the state behind a character.
func (b *subsets) step(state int, r rune) int {
	var to []int
	for _, pc := range b.sets[state] {
		switch in := &b.prog.Inst[pc]; in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if in.MatchRune(r) {
				to = append(to, int(in.Out))
			}
		default:
		}
	}
	if !b.anchored && state != deadState {
		to = append(to, b.prog.Start)
	}
	if len(to) == 0 {
		return deadState
	}
	set := b.closure(to, 0)
	if len(set) == 0 {
		return deadState
	}
	return b.add(set)
}
