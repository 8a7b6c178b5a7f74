package cmdfilter

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxPattern bounds the text of one expression, in bytes.
const maxPattern = 400

// blanks are what is white space in an expression.
const blanks = " \t\n\f\r\v"

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

func (s *byteSet) union(o byteSet) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s *byteSet) size() (n int) {
	for b := range 256 {
		if s.has(byte(b)) {
			n++
		}
	}
	return n
}

// pattern is a compiled expression with cheap tests that most lines fail: the
// bytes that a match can begin with, and texts of which every match holds one.
// It is immutable, but for a table that is made when it is first needed.
type pattern struct {
	source string
	re     *regexp.Regexp
	blank  bool              // it matches white space alone
	table  func() *automaton // nil if there is none
	skip   bool              // white space may stand before the first byte
	anchor bool              // it can match at the start of a line only
	first  byteSet           // if anchor
	texts  []string          // every match holds one of them; empty: not known
	closed bool              // it has to match the whole line
}

// newPattern compiles an expression. It refuses one that no cheap test can rule
// out, since it would be tried on every line.
func newPattern(source string) (*pattern, error) {
	if source == "" {
		return nil, errors.New("an expression is empty")
	}
	if len(source) > maxPattern {
		return nil, fmt.Errorf("an expression has %d bytes; at most %d are allowed", len(source), maxPattern)
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%q is no RE2 expression: %w", source, err)
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("%q is no RE2 expression: %w", source, err)
	}
	p := &pattern{source: source, re: re}
	tree = tree.Simplify()
	p.blank = source == `^\s*$` || source == `^$`
	p.closed = closedAt(tree, syntax.OpBeginText, true) && closedAt(tree, syntax.OpEndText, false)
	p.texts = needed(tree)
	if closedAt(tree, syntax.OpBeginText, true) {
		rest := tree
		if tail, ok := afterSpace(tree); ok {
			p.skip, rest = true, tail
		}
		set, empty := firstBytes(rest)
		p.anchor = !empty && set.size() < 256
		p.first = set
	}
	p.table = sync.OnceValue(func() *automaton { return newAutomaton(tree) })
	if !p.blank && !p.anchor && len(p.texts) == 0 {
		return nil, fmt.Errorf("%q would be tried on every line: begin it with ^ and something that is not arbitrary, or let it hold a fixed text", source)
	}
	return p, nil
}

// match says whether the expression matches a line.
func (p *pattern) match(s string) bool {
	if p.blank {
		return strings.TrimLeft(s, blanks) == ""
	}
	return p.may(s) && p.sure(s)
}

// may is the cheap test.
func (p *pattern) may(s string) bool {
	if p.anchor {
		i := 0
		if p.skip {
			for i < len(s) && strings.IndexByte(blanks, s[i]) >= 0 {
				i++
			}
		}
		if i == len(s) || !p.first.has(s[i]) {
			return false
		}
	}
	if len(p.texts) == 0 {
		return true
	}
	for _, t := range p.texts {
		if strings.Contains(s, t) {
			return true
		}
	}
	return false
}

// sure decides.
func (p *pattern) sure(s string) bool {
	if a := p.table(); a != nil {
		return a.match(s)
	}
	return p.re.MatchString(s)
}

// groups returns the places of the expression's groups in a line, as
// regexp.FindStringSubmatchIndex does, or nil.
func (p *pattern) groups(s string) []int {
	if !p.may(s) {
		return nil
	}
	return p.re.FindStringSubmatchIndex(s)
}

// group is the number of a named group, -1 if there is none.
func (p *pattern) group(name string) int { return p.re.SubexpIndex(name) }

// closedAt says that every match of the tree begins, or ends, at an anchor.
func closedAt(t *syntax.Regexp, anchor syntax.Op, begin bool) bool {
	switch t.Op {
	case anchor:
		return true
	case syntax.OpCapture:
		return closedAt(t.Sub[0], anchor, begin)
	case syntax.OpConcat:
		sub := t.Sub[len(t.Sub)-1]
		if begin {
			sub = t.Sub[0]
		}
		return closedAt(sub, anchor, begin)
	case syntax.OpAlternate:
		for _, s := range t.Sub {
			if !closedAt(s, anchor, begin) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// afterSpace returns what follows ^\s* or ^ * at the start of a concatenation.
func afterSpace(t *syntax.Regexp) (*syntax.Regexp, bool) {
	if t.Op != syntax.OpConcat || len(t.Sub) < 3 || t.Sub[0].Op != syntax.OpBeginText {
		return nil, false
	}
	switch s := t.Sub[1]; s.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		set, empty := firstBytes(s.Sub[0])
		if empty {
			return nil, false
		}
		for b := range 256 {
			if set.has(byte(b)) && strings.IndexByte(blanks, byte(b)) < 0 {
				return nil, false
			}
		}
		rest := &syntax.Regexp{Op: syntax.OpConcat, Sub: t.Sub[2:]}
		f, empty := firstBytes(rest)
		for _, b := range []byte(blanks) {
			empty = empty || f.has(b)
		}
		return rest, !empty
	default:
		return nil, false
	}
}

// firstBytes is the set of bytes that a match can begin with; empty says that a
// match can have no byte at all.
func firstBytes(t *syntax.Regexp) (set byteSet, empty bool) {
	switch t.Op {
	case syntax.OpLiteral:
		r := t.Rune[0]
		addRune(&set, r, r)
		if t.Flags&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				addRune(&set, f, f)
			}
		}
		return set, false
	case syntax.OpCharClass:
		for i := 0; i+1 < len(t.Rune); i += 2 {
			addRune(&set, t.Rune[i], t.Rune[i+1])
		}
		return set, false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		addRune(&set, 0, utf8.MaxRune)
		return set, false
	case syntax.OpCapture, syntax.OpPlus:
		return firstBytes(t.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		set, _ = firstBytes(t.Sub[0])
		return set, true
	case syntax.OpConcat:
		for _, s := range t.Sub {
			f, e := firstBytes(s)
			set.union(f)
			if !e {
				return set, false
			}
		}
		return set, true
	case syntax.OpAlternate:
		for _, s := range t.Sub {
			f, e := firstBytes(s)
			set.union(f)
			empty = empty || e
		}
		return set, empty
	case syntax.OpNoMatch:
		return set, false
	default: // anchors, boundaries, the empty match
		return set, true
	}
}

func addRune(set *byteSet, lo, hi rune) {
	for r := lo; r <= hi && r < utf8.RuneSelf; r++ {
		set.add(byte(r))
	}
	if hi >= utf8.RuneSelf {
		for b := utf8.RuneSelf; b < 256; b++ {
			set.add(byte(b))
		}
	}
}

// maxTexts bounds the fixed texts that are searched for in a line.
const maxTexts = 8

// needed returns texts of which every match of the tree holds at least one; nil
// if there are none, or too many.
func needed(t *syntax.Regexp) []string {
	switch t.Op {
	case syntax.OpLiteral:
		if t.Flags&syntax.FoldCase != 0 {
			return nil
		}
		return []string{string(t.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(t.Sub[0])
	case syntax.OpConcat:
		var best []string
		for _, s := range t.Sub {
			if n := needed(s); n != nil && (best == nil || shortest(n) > shortest(best)) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, s := range t.Sub {
			n := needed(s)
			if n == nil {
				return nil
			}
			all = append(all, n...)
		}
		if len(all) > maxTexts {
			return nil
		}
		return all
	default:
		return nil
	}
}

func shortest(list []string) int {
	n := len(list[0])
	for _, s := range list {
		n = min(n, len(s))
	}
	return n
}
