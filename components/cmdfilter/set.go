package cmdfilter

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
)

//go:embed filters/*.yaml
var builtinFiles embed.FS

// Set is a list of filters, the earlier ones before the later ones. It is
// immutable and safe for concurrent use.
type Set struct {
	filters []*Filter
	byProg  map[string][]candidate
	shapes  []candidate // with an output to be told by
	last    []*Filter   // for any command that no other filter is for
	signals *signals
}

// candidate is a filter with one of its matches.
type candidate struct {
	filter *Filter
	match  *match
}

// NewSet makes a set. Of two filters of one name the first counts.
func NewSet(filters []*Filter) *Set {
	s := &Set{byProg: map[string][]candidate{}, signals: newSignals()}
	for _, f := range filters {
		if slices.ContainsFunc(s.filters, func(g *Filter) bool { return g.ID == f.ID }) {
			continue
		}
		s.filters = append(s.filters, f)
		for i := range f.match {
			s.add(candidate{f, &f.match[i]})
		}
	}
	return s
}

func (s *Set) add(c candidate) {
	for _, p := range c.match.progs {
		s.byProg[p] = append(s.byProg[p], c)
	}
	if len(c.match.output) > 0 {
		s.shapes = append(s.shapes, c)
	}
	if c.match.any {
		s.last = append(s.last, c.filter)
	}
}

// Filters lists the filters in their order.
func (s *Set) Filters() []*Filter { return slices.Clone(s.filters) }

// Builtin returns the built-in filters. They are compiled once in a process. The
// error is that of a file in the binary, which a test excludes.
func Builtin() (*Set, error) { return builtin() }

var builtin = sync.OnceValues(func() (*Set, error) {
	names, err := fs.Glob(builtinFiles, "filters/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []*Filter
	for _, name := range names {
		data, err := fs.ReadFile(builtinFiles, name)
		if err != nil {
			return nil, err
		}
		filters, errs := Load(name, data)
		if len(errs) > 0 {
			return nil, errs[0]
		}
		for _, f := range filters {
			if slices.ContainsFunc(all, func(g *Filter) bool { return g.ID == f.ID }) {
				return nil, fmt.Errorf("%s: filter %s: the name stands in another file as well", name, f.ID)
			}
		}
		all = append(all, filters...)
	}
	return NewSet(all), nil
})

// fingerprint is a number that tells the built-in filters of this binary from
// others: their text is part of what is written.
var fingerprint = sync.OnceValue(func() int {
	h := xxhash.New()
	names, _ := fs.Glob(builtinFiles, "filters/*.yaml") // the pattern is right
	for _, name := range names {
		data, _ := fs.ReadFile(builtinFiles, name) // it is in the binary
		h.Write(data)
	}
	return int(h.Sum64()>>34) + 1
})

// find returns the filter for a command, or the gate that says why there is none.
func (s *Set) find(c *classify.Command, text string) (*Filter, pipeline.Gate) {
	if c.Several {
		return nil, GateSeveral
	}
	for _, k := range s.byProg[c.Program] {
		if !k.match.command(c) {
			continue
		}
		if !k.match.pipes(c) {
			return nil, GatePiped
		}
		return k.filter, ""
	}
	if len(s.byProg[c.Program]) > 0 {
		return nil, GateNoFilter
	}
	if len(c.Stages) > 1 && !transparent(c.Stages[1:], true) {
		return nil, GatePiped
	}
	if prints(c) {
		return nil, GateNoFilter
	}
	if f := s.shaped(text); f != nil {
		return f, ""
	}
	if len(s.last) > 0 {
		return s.last[0], ""
	}
	return nil, GateNoFilter
}

// prints says that a command prints data that were asked for, which look like
// the output of any other command only by accident.
func prints(c *classify.Command) bool {
	switch c.SubKind() {
	case classify.Lister, classify.Differ, classify.HTTP, classify.Info:
		return true
	case classify.Data:
		switch c.Program {
		case "python", "python3", "node", "ruby", "perl", "php", "ts-node", "tsx", "lua", "Rscript":
			return given(c.Args, "-c") || given(c.Args, "-e") || given(c.Args, "-r") || given(c.Args, "-p")
		}
		return true
	default:
		return false
	}
}

// Bounds of what is looked at to tell an output by its shape.
const (
	shapeLines = 8
	shapeBytes = 2000
)

// shaped finds the filter that one of the first lines is typical of.
func (s *Set) shaped(text string) *Filter {
	if len(s.shapes) == 0 {
		return nil
	}
	head := text[:min(len(text), shapeBytes)]
	n := 0
	for line := range strings.SplitSeq(head, "\n") {
		view := shown(line)
		if strings.TrimSpace(view) == "" {
			continue
		}
		for _, k := range s.shapes {
			if anyMatch(k.match.output, view) {
				return k.filter
			}
		}
		if n++; n == shapeLines {
			return nil
		}
	}
	return nil
}

// command says that a filter is for a command, pipes aside.
func (m *match) command(c *classify.Command) bool {
	words := operands(c.Args, m.values)
	if len(m.subs) > 0 && !leads(m.subs, words) || leads(m.notSubs, words) {
		return false
	}
	if len(m.flags) > 0 && !slices.ContainsFunc(m.flags, func(f string) bool { return given(c.Args, f) }) {
		return false
	}
	for _, f := range asked() {
		if given(c.Args, f) {
			return false
		}
	}
	return !slices.ContainsFunc(m.notFlags, func(f string) bool { return given(c.Args, f) })
}

// asked are the options with which a program prints what was asked for instead of
// what it does.
func asked() [4]string { return [4]string{"--help", "--version", "--json", "--porcelain"} }

// operands are the words that are no options, nor values of them.
func operands(args, values []string) []string {
	var words []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains(values, a):
			i++
		case a == "--":
			return append(words, args[i+1:]...)
		case strings.HasPrefix(a, "-"), strings.HasPrefix(a, "+") && len(a) > 1:
		default:
			words = append(words, a)
		}
	}
	return words
}

// leads says that one of the phrases stands at the start of the words.
func leads(phrases [][]string, words []string) bool {
	return slices.ContainsFunc(phrases, func(p []string) bool {
		return len(words) >= len(p) && slices.Equal(words[:len(p)], p)
	})
}

// numberOption stands for options such as -5.
const numberOption = "-NUM"

// given says that an option is among the arguments: as it is, with =value, or, if
// it is one letter, in a bundle such as -sb or -n10.
func given(args []string, option string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if option == numberOption && len(a) > 1 && a[0] == '-' && strings.Trim(a[1:], "0123456789") == "" {
			return true
		}
		if a == option || strings.HasPrefix(a, option) && len(a) > len(option) && a[len(option)] == '=' {
			return true
		}
		if len(option) == 2 && option[0] == '-' && len(a) > 2 && len(a) <= 6 && a[0] == '-' && a[1] != '-' &&
			strings.IndexByte(a[1:], option[1]) >= 0 && strings.IndexFunc(a[1:], notBundle) < 0 {
			return true
		}
	}
	return false
}

func notBundle(r rune) bool { return (r < '0' || r > '9') && (r > 'z' || !letter(byte(r))) }

// pipes says that what stands behind the command in its pipeline leaves the
// filter its work.
func (m *match) pipes(c *classify.Command) bool { return transparent(c.Stages[1:], m.pipe) }

// transparent says that programs show lines of their input as they are.
func transparent(stages []string, windows bool) bool {
	for _, p := range stages {
		switch p {
		case "cat", "tee":
		case "head", "tail", "less", "more":
			if !windows {
				return false
			}
		default:
			return false
		}
	}
	return true
}
