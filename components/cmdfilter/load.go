package cmdfilter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Bounds of the language.
const (
	maxDocument = 1 << 20 // bytes
	maxFilters  = 200     // in a document
	maxStages   = 40      // in a filter
	maxList     = 100     // expressions in a list
	maxLines    = 100000  // the largest number of lines that a setting may name
	maxWhat     = 80      // characters of a mark's text
)

var idForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+$`)

// Load reads a document of filters strictly. It returns the filters that are
// right, and an error for each thing that is wrong, with file and line, the
// filter's name and what is allowed. A wrong filter does not disable the others.
func Load(file string, data []byte) (filters []*Filter, errs []error) {
	l := &loader{file: file}
	if len(data) > maxDocument {
		return nil, []error{fmt.Errorf("%s: the document is larger than 1 MiB", file)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, []error{fmt.Errorf("%s: the document is empty", file)}
	case err != nil:
		return nil, []error{fmt.Errorf("%s: this is not YAML: %w", file, err)}
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, []error{fmt.Errorf("%s: there is a second document; write one", file)}
	}
	family := ""
	l.section(doc.Content[0], "the document", keys{
		"family":  func(n *yaml.Node) { family = l.text(n, "family") },
		"filters": func(n *yaml.Node) { filters = l.filters(n) },
	})
	if family == "" {
		l.fail(doc.Content[0], "the document has no family")
	}
	for _, f := range filters {
		f.Family = family
	}
	return filters, l.errs
}

// loader reads nodes and remembers what is wrong.
type loader struct {
	file string
	id   string // of the filter being read
	errs []error
}

func (l *loader) fail(n *yaml.Node, format string, args ...any) {
	in := ""
	if l.id != "" {
		in = "filter " + l.id + ": "
	}
	l.errs = append(l.errs, fmt.Errorf("%s:%d: %s%s", l.file, n.Line, in, fmt.Sprintf(format, args...)))
}

// keys are what a section may hold.
type keys map[string]func(*yaml.Node)

func (k keys) names() []string {
	var names []string
	for n := range k {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// section calls the reader of each key of a mapping.
func (l *loader) section(n *yaml.Node, where string, k keys) {
	if n.Kind != yaml.MappingNode {
		l.fail(n, "%s must be a section with the keys %s", where, trimtabv1.List(k.names()))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := k[key.Value]
		switch {
		case !ok:
			l.fail(key, "unknown key %q in %s; want one of %s", key.Value, where, trimtabv1.List(k.names()))
		case seen[key.Value]:
			l.fail(key, "%s stands twice in %s", key.Value, where)
		case value.Kind == yaml.AliasNode:
			l.fail(value, "%s: aliases are not allowed", key.Value)
		default:
			seen[key.Value] = true
			read(value)
		}
	}
}

func (l *loader) filters(n *yaml.Node) (out []*Filter) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || len(n.Content) > maxFilters {
		l.fail(n, "filters must be a list of 1 to %d filters", maxFilters)
		return nil
	}
	seen := map[string]bool{}
	for _, item := range n.Content {
		before := len(l.errs)
		f := l.filter(item)
		if seen[f.ID] {
			l.fail(item, "the name stands twice")
		}
		seen[f.ID] = true
		if len(l.errs) == before {
			out = append(out, f)
		}
		l.id = ""
	}
	return out
}

func (l *loader) filter(n *yaml.Node) *Filter {
	f := &Filter{gates: defaultGates()}
	// The name is read first, so that every error names the filter.
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "id" {
			l.id = n.Content[i+1].Value
		}
	}
	l.section(n, "a filter", keys{
		"id":           func(n *yaml.Node) { f.ID = l.text(n, "id") },
		"about":        func(n *yaml.Node) { f.About = l.text(n, "about") },
		"match":        func(n *yaml.Node) { f.match = l.matches(n) },
		"delegate":     func(n *yaml.Node) { f.delegate = l.patterns(n, "delegate") },
		"verbatim_if":  func(n *yaml.Node) { f.verbatimIf = l.patterns(n, "verbatim_if") },
		"require":      func(n *yaml.Node) { f.needs = l.patterns(n, "require") },
		"fail_signals": func(n *yaml.Node) { f.fails = l.patterns(n, "fail_signals") },
		"keep_always":  func(n *yaml.Node) { f.keeps = l.patterns(n, "keep_always") },
		"on_failure":   func(n *yaml.Node) { f.uncapped = l.choice(n, "on_failure", "verbatim_cap", "verbatim") == 1 },
		"verbatim":     func(n *yaml.Node) { f.verbatim = l.flag(n, "verbatim") },
		"gates":        func(n *yaml.Node) { f.gates = l.gates(n) },
		"stages":       func(n *yaml.Node) { f.stages = l.stages(n) },
	})
	switch {
	case !idForm.MatchString(f.ID):
		l.fail(n, "id %q must be FAMILY.NAME in small letters, digits and dashes", f.ID)
	case f.About == "" || strings.Contains(f.About, "\n"):
		l.fail(n, "about must say in one line what the filter leaves out")
	case len(f.match) == 0:
		l.fail(n, "it has no match")
	case f.verbatim && len(f.stages)+len(f.delegate) > 0:
		l.fail(n, "it is verbatim, so it can have neither stages nor delegate")
	case len(f.stages) == 0 && len(f.delegate) == 0 && !f.verbatim:
		l.fail(n, "it has neither stages nor delegate; write verbatim: true if its text is to stay as it is")
	}
	for _, p := range f.delegate {
		if p.group("cmd") < 0 {
			l.fail(n, "delegate: %q has no group (?P<cmd>...)", p.source)
		}
	}
	return f
}

// matches reads one match, or a list of them.
func (l *loader) matches(n *yaml.Node) (list []match) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		list = append(list, l.match(item))
	}
	return list
}

func (l *loader) match(n *yaml.Node) (m match) {
	l.section(n, "match", keys{
		"prog":        func(n *yaml.Node) { m.progs = l.texts(n, "prog") },
		"sub":         func(n *yaml.Node) { m.subs = l.words(n, "sub") },
		"not_sub":     func(n *yaml.Node) { m.notSubs = l.words(n, "not_sub") },
		"flags":       func(n *yaml.Node) { m.flags = l.texts(n, "flags") },
		"not_flags":   func(n *yaml.Node) { m.notFlags = l.texts(n, "not_flags") },
		"value_flags": func(n *yaml.Node) { m.values = l.texts(n, "value_flags") },
		"pipe_ok":     func(n *yaml.Node) { m.pipe = l.flag(n, "pipe_ok") },
		"output":      func(n *yaml.Node) { m.output = l.patterns(n, "output") },
		"any":         func(n *yaml.Node) { m.any = l.flag(n, "any") },
	})
	if len(m.progs) == 0 && len(m.output) == 0 && !m.any {
		l.fail(n, "match names no command: give prog, output or any")
	}
	return m
}

func (l *loader) gates(n *yaml.Node) gates {
	g := defaultGates()
	l.section(n, "gates", keys{
		"min_tokens": func(n *yaml.Node) { g.minTokens = l.number(n, "min_tokens", 0, 100000) },
		"min_saving": func(n *yaml.Node) { g.minSaving = l.number(n, "min_saving", 1, 100000) },
		"min_share": func(n *yaml.Node) {
			v, err := strconv.ParseFloat(n.Value, 64)
			if err != nil || !(v >= 0 && v <= 1) {
				l.fail(n, "min_share must be a number from 0 to 1")
				return
			}
			g.minShare = v
		},
	})
	return g
}

func (l *loader) stages(n *yaml.Node) (out []stage) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || len(n.Content) > maxStages {
		l.fail(n, "stages must be a list of 1 to %d stages", maxStages)
		return nil
	}
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode || len(item.Content) != 2 {
			l.fail(item, "a stage must be written {VERB: {...}} with one of %s", trimtabv1.List(verbNames()))
			continue
		}
		v := slices.Index(verbNames(), item.Content[0].Value)
		if v < 0 {
			l.fail(item, "there is no stage %q; want one of %s", item.Content[0].Value, trimtabv1.List(verbNames()))
			continue
		}
		out = append(out, l.stage(verb(v), item.Content[1]))
	}
	return out
}

// stage reads one stage. Which keys it may have depends on its verb.
func (l *loader) stage(v verb, n *yaml.Node) stage {
	s := stage{verb: v, line: n.Line}
	name := verbNames()[v]
	count := func(key string, at *int, lo int) func(*yaml.Node) {
		return func(n *yaml.Node) { *at = l.number(n, key, lo, maxLines) }
	}
	list := func(key string, at *[]*pattern) func(*yaml.Node) {
		return func(n *yaml.Node) { *at = l.patterns(n, key) }
	}
	flag := func(key string, at *bool) func(*yaml.Node) {
		return func(n *yaml.Node) { *at = l.flag(n, key) }
	}
	k := keys{
		"what":    func(n *yaml.Node) { s.what = l.text(n, "what") },
		"on":      func(n *yaml.Node) { s.on = when(l.choice(n, "on", "ok", "fail", "any")) },
		"from":    list("from", &s.from),
		"to":      list("to", &s.to),
		"trusted": flag("trusted", &s.trusted),
	}
	re := func() {
		k["re"] = list("re", &s.re)
		k["unless"] = list("unless", &s.unless)
	}
	switch v {
	case drop:
		re()
		s.min = 1
		k["min"] = count("min", &s.min, 1)
		k["same"] = func(n *yaml.Node) { s.same = l.pair(n) }
	case fold:
		re()
		s.min = 3
		k["min"], k["head"], k["tail"] = count("min", &s.min, 1), count("head", &s.head, 0), count("tail", &s.tail, 0)
		k["blank"] = flag("blank", &s.blank)
		k["same"] = func(n *yaml.Node) { s.same = l.pair(n) }
	case blocks:
		s.min = 3
		k["min"], k["head"], k["tail"] = count("min", &s.min, 1), count("head", &s.head, 0), count("tail", &s.tail, 0)
		k["start"], k["end"], k["until"], k["while"] = list("start", &s.start), list("end", &s.end), list("until", &s.until), list("while", &s.while)
		k["if"], k["unless"] = list("if", &s.has), list("unless", &s.unless)
		k["max"] = count("max", &s.max, 0)
		k["per"] = func(n *yaml.Node) { s.per = l.text(n, "per") }
		k["same"] = func(n *yaml.Node) { s.same = l.pair(n) }
	case dedupe:
		re()
		k["min"] = count("min", &s.min, 2)
		k["tail"] = count("tail", &s.tail, 0)
		k["head"] = count("head", &s.head, 1)
		k["scope"] = func(n *yaml.Node) { s.all = l.choice(n, "scope", "run", "all") == 1 }
		k["mask"] = func(n *yaml.Node) {
			for _, m := range l.texts(n, "mask") {
				i := slices.Index(maskNames(), m)
				if i < 0 {
					l.fail(n, "mask must be of %s, not %q", trimtabv1.List(maskNames()), m)
					continue
				}
				s.mask |= 1 << i
			}
		}
	case group:
		re()
		s.min, s.head = 4, 1
		k["min"], k["head"] = count("min", &s.min, 2), count("head", &s.head, 1)
		k["while"] = list("while", &s.while)
	case limit:
		re()
		k["max"], k["tail"], k["over"] = count("max", &s.max, 0), count("tail", &s.tail, 0), count("over", &s.over, 0)
		k["per"] = func(n *yaml.Node) { s.per = l.text(n, "per") }
		k["reset"] = list("reset", &s.reset)
	case only:
		re()
		k["around"] = count("around", &s.around, 0)
	case headtail:
		k["head"], k["tail"] = count("head", &s.head, 0), count("tail", &s.tail, 0)
		k["over"], k["around"] = count("over", &s.over, 0), count("around", &s.around, 0)
	case trim:
		re()
		k["repeats"] = flag("repeats", &s.repeats)
	}
	l.section(n, name, k)
	l.checkStage(n, &s)
	return s
}
