package pipeline

import (
	"encoding/binary"

	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// source is one text that a later block may point at.
type source struct {
	Source
	key   transcript.Sum // of the memo entry that holds its notes
	notes *notes
}

// callPlan remembers which strings of a call's arguments are sources, as
// numbers; names are from the product's own list.
type callPlan struct {
	parts    []argPart
	kind     classify.Kind
	reads    bool           // it reads a file, as a read or by a viewer
	identity transcript.Sum // keyed
}

type argPart struct {
	part  int
	name  string
	notes notes
}

func (c *callPlan) size() int {
	n := 96
	for i := range c.parts {
		n += 96 + c.parts[i].notes.size()
	}
	return n
}

// prefix is what stands before a leaf. The sources are listed once per pass.
func (r *run) prefix(l *leaf) Prefix {
	if r.sources == nil {
		r.listSources()
	}
	n := r.upTo[l.result]
	return Prefix{Sources: r.listed[:n:n]}
}

// listSources lists all texts of the body that may be pointed at.
func (r *run) listSources() {
	r.sources = make([]*source, 0, len(r.t.Results)+8)
	results := make([]source, len(r.t.Results))
	r.upTo = make([]int, len(r.t.Results))
	r.noted = make([][]Index, len(r.g.described))
	c := 0
	for i := range r.t.Results {
		for c < len(r.t.Calls) && r.t.Calls[c].Message < r.t.Results[i].Message {
			r.arguments(c)
			c++
		}
		r.upTo[i] = len(r.sources)
		r.resultSource(i, &results[i])
		r.sources = append(r.sources, &results[i])
	}
	r.listed = make([]Source, len(r.sources))
	for i, s := range r.sources {
		r.listed[i] = s.Source
	}
}

// resultSource makes s result i as a source.
func (r *run) resultSource(i int, s *source) {
	res := &r.t.Results[i]
	s.Source = Source{
		IsError: res.IsError, Parts: len(res.Texts), Message: res.Message,
		Ref: LeafRef{Index: i}, Text: func() string { return "" }, Kept: func() []Range { return nil },
		Forwarded: func() string { return "" },
	}
	s.Call = Call{Class: func() classify.Call { return classify.Call{} }}
	if res.Call >= 0 {
		s.Call = r.callOf(res.Call)
	}
	if res.Mixed {
		s.Parts = 0
	}
	s.Class = func() classify.Class { return classify.OfResult(s.Call.Class(), s.Text(), res.IsError) }
	s.Offset = r.offset(i)
	if s.Parts != 1 {
		return
	}
	l := r.leaves[r.first[i]]
	s.Text = func() string { return r.decode(l) }
	s.Kept = func() []Range { return l.plan.kept }
	var shown *plan // what text is the outcome of
	var text string
	s.Forwarded = func() string {
		if l.plan != shown {
			shown, text = l.plan, r.forwarded(l)
		}
		return text
	}
	s.key = l.key
}

// forwarded is the leaf's text as it goes out.
func (r *run) forwarded(l *leaf) string {
	if !l.plan.changed() {
		return r.decode(l)
	}
	text, _ := transcript.Decode(append(l.plan.write([]byte{'"'}, r.t, l.span), '"'))
	return text
}

// arguments adds the string arguments of call c that hold new text.
func (r *run) arguments(c int) {
	key := r.callKey(c)
	cp := r.planAt(c, key)
	for i := range cp.parts {
		a := &cp.parts[i]
		s := &source{key: key, notes: &a.notes}
		text := func() string {
			arg, _ := r.stringArg(c, a.part)
			return arg.Text
		}
		s.Source = Source{
			Call: r.callOf(c), Argument: a.name, Parts: 1, Message: r.t.Calls[c].Message,
			Offset: r.before[r.t.Calls[c].Message], Ref: LeafRef{Argument: true, Index: c, Part: a.part},
			Text: text, Kept: func() []Range { return []Range{{0, len(text())}} }, Forwarded: text,
		}
		r.sources = append(r.sources, s)
	}
}

// callKey is the digest of everything up to the call's message, and its place.
func (r *run) callKey(c int) transcript.Sum {
	m := r.t.Calls[c].Message
	if c == 0 || r.t.Calls[c-1].Message != m {
		r.firstCall = c // calls are asked for in order
	}
	place := transcript.Sum{15: 2}
	binary.LittleEndian.PutUint64(place[:], uint64(c-r.firstCall))
	return r.e.hasher.Chain(r.chains[m], place)
}

// planOf is what is remembered of call c. Calls are asked for in order.
func (r *run) planOf(c int) *callPlan { return r.planAt(c, r.callKey(c)) }

func (r *run) planAt(c int, key transcript.Sum) *callPlan {
	if v, ok := r.e.memo.get(key); ok {
		if cp, ok := v.(*callPlan); ok {
			return cp
		}
	}
	return r.e.memo.put(key, r.callPlan(c)).(*callPlan)
}

// callPlan works out which arguments of call c are sources.
func (r *run) callPlan(c int) *callPlan {
	k := r.classified(c)
	cp := &callPlan{kind: k.call.Kind, identity: r.e.hasher.Chain(r.e.seed, transcript.Sum(k.call.Identity))}
	cp.reads = k.call.Kind == classify.Read || k.call.Sub == classify.Viewer
	if !k.call.Writes {
		return cp
	}
	part := 0
	for _, a := range k.args {
		if a.Literal {
			continue
		}
		if k.call.HoldsNewText(a) && plainName(a.Name) {
			cp.parts = append(cp.parts, argPart{part: part, name: a.Name})
		}
		part++
	}
	return cp
}

// plainName says that a name, which is one of the product's list but for case
// and underscores, has nothing else in it.
func plainName(name string) bool {
	for _, c := range []byte(name) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' {
			return false
		}
	}
	return len(name) <= 24
}

// withNotes fills in what component c's Index says of the sources.
func (r *run) withNotes(p Prefix, c int, pure Pure) Prefix {
	ix, ok := pure.(Indexer)
	if !ok {
		return p
	}
	for i := len(r.noted[c]); i < len(p.Sources); i++ {
		s := r.sources[i]
		n := s.notes
		if n == nil {
			n = r.leafNotes(s)
		}
		var note Index
		if n != nil {
			var grown int
			note, grown = n.get(c, len(r.g.described), func() Index { return ix.Index(s.Source) })
			r.e.memo.grow(s.key, grown)
		}
		r.noted[c] = append(r.noted[c], note)
	}
	p.Notes = r.noted[c][:len(p.Sources):len(p.Sources)]
	return p
}

// leafNotes are the notes of a result, which live with its plan.
func (r *run) leafNotes(s *source) *notes {
	if len(r.t.Results[s.Ref.Index].Texts) == 0 {
		return nil
	}
	l := r.leaves[r.first[s.Ref.Index]]
	if l.plan == nil {
		return nil
	}
	return &l.plan.notes
}

// sourceText is the received text that a copied piece is cut from.
func (r *run) sourceText(of LeafRef) (string, bool) {
	if !of.Argument {
		if of.Index < 0 || of.Index >= len(r.first) || of.Part < 0 || of.Part >= len(r.t.Results[of.Index].Texts) {
			return "", false
		}
		l := r.leaves[r.first[of.Index]+of.Part]
		return r.decode(l), true
	}
	if of.Index < 0 || of.Index >= len(r.calls) {
		return "", false
	}
	a, ok := r.stringArg(of.Index, of.Part)
	return a.Text, ok && !a.Lossy
}

// stringArg is string part of call c's arguments; literals are not counted.
func (r *run) stringArg(c, part int) (transcript.Arg, bool) {
	for _, a := range r.classified(c).args {
		if a.Literal {
			continue
		}
		if part == 0 {
			return a, true
		}
		part--
	}
	return transcript.Arg{}, false
}
