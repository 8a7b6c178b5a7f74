package cmdfilter

// Filter is one filter of the language, compiled. It is immutable and safe for
// concurrent use.
type Filter struct {
	ID     string // FAMILY.NAME
	Family string
	About  string // what it leaves out, in one line
	Own    bool   // it came from the configuration

	match      []match    // it is for what one of them is for
	delegate   []*pattern // each has the group cmd
	verbatimIf []*pattern // the text stays as it is if a line matches one
	needs      []*pattern // the text stays as it is unless a line matches each
	fails      []*pattern // a line that matches one means failure
	keeps      []*pattern // lines that no stage cuts
	gates      gates
	uncapped   bool // of a failure all is kept, however long it is
	verbatim   bool // the text stays as it is, always
	stages     []stage
}

// gates are when a filter is worth it. The defaults are those of the language.
type gates struct {
	minTokens int     // a shorter text is left alone
	minSaving int     // tokens
	minShare  float64 // of the text's tokens
}

func defaultGates() gates { return gates{minTokens: 80, minSaving: 40, minShare: 0.1} }

// match says for which commands a filter is.
type match struct {
	progs    []string
	subs     [][]string // leading words that are no options; empty: any
	notSubs  [][]string
	flags    []string // one of them is given
	notFlags []string // none of them is given
	values   []string // options that take the next word
	pipe     bool     // head, tail and pagers behind it change nothing
	output   []*pattern
	any      bool
}

// verb is what a stage does.
type verb uint8

const (
	drop verb = iota
	fold
	blocks
	dedupe
	group
	limit
	only
	headtail
	trim
)

// when says on which results a stage runs.
type when uint8

const (
	onOK when = iota
	onFail
	onAny
)

// stage is one step of a filter.
type stage struct {
	verb    verb
	line    int // in its file
	what    string
	on      when
	trusted bool // it may cut lines that hold signal words

	from, to []*pattern // the section that it works on

	re     []*pattern
	unless []*pattern
	same   [2]string // two groups of re that have to be equal

	start, end, until, while, has []*pattern // of blocks
	reset                         []*pattern // of limit

	min, max, head, tail, around, over int
	blank, all, repeats                bool
	mask                               mask
	per                                string
}

func verbNames() []string {
	return []string{"drop", "fold", "blocks", "dedupe", "group", "limit", "only", "headtail", "trim"}
}

// scattered says that the lines a stage cuts stand between lines that are kept,
// so that one mark counts them all.
func (s *stage) scattered() bool {
	return s.verb == drop || s.verb == limit || s.verb == dedupe && s.all
}

// anyMatch says that one of the patterns matches a line.
func anyMatch(ps []*pattern, view string) bool {
	for _, p := range ps {
		if p.match(view) {
			return true
		}
	}
	return false
}

// matches says that a stage's expressions are about a line.
func (s *stage) matches(view string) bool {
	for _, p := range s.re {
		if s.same[0] != "" {
			g := p.groups(view)
			if g == nil || !sameGroups(p, s.same, view, g) {
				continue
			}
		} else if !p.match(view) {
			continue
		}
		return !anyMatch(s.unless, view)
	}
	return false
}

func sameGroups(p *pattern, names [2]string, view string, g []int) bool {
	a, b := 2*p.group(names[0]), 2*p.group(names[1])
	return g[a] >= 0 && g[b] >= 0 && view[g[a]:g[a+1]] == view[g[b]:g[b+1]]
}
