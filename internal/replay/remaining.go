package replay

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Share is what one kind of text still costs after rewriting.
type Share struct {
	// Blocks is how many different texts there are, Once their o200k tokens, and
	// Sent those of all requests together.
	Blocks int `json:"blocks"`
	Once   int `json:"once"`
	Sent   int `json:"sent"`
}

func (s Share) plus(d Share) Share {
	return Share{s.Blocks + d.Blocks, s.Once + d.Once, s.Sent + d.Sent}
}

// weigher sums up what is forwarded in one conversation by kind. Each different
// text is counted once; its tokens are remembered.
type weigher struct {
	count func(string) int
	texts map[[32]byte]int
	sum   map[string]Share
}

func newWeigher(count func(string) int) *weigher {
	return &weigher{count: count, texts: map[[32]byte]int{}, sum: map[string]Share{}}
}

// turn weighs one forwarded body. One that is not understood is left out.
func (w *weigher) turn(d transcript.Dialect, body []byte) {
	t, err := transcript.Parse(d, body)
	if err != nil {
		return
	}
	for _, tool := range t.Tools {
		w.add("declarations of tools", body[tool.Span.Start:tool.Span.End])
	}
	for _, b := range t.System {
		w.add("system prompt", body[b.Span.Start:b.Span.End])
	}
	type place struct{ message, block int }
	isResult := map[place]bool{}
	for _, r := range t.Results {
		isResult[place{r.Message, r.Block}] = true
		name := label(t, r)
		for _, leaf := range r.Texts {
			w.add(name, body[leaf.Span.Start:leaf.Span.End])
		}
	}
	for i, m := range t.Messages {
		if isResult[place{i, -1}] {
			continue
		}
		for k, b := range m.Blocks {
			if !isResult[place{i, k}] {
				w.add(m.Role+": "+b.Type, body[b.Span.Start:b.Span.End])
			}
		}
		if len(m.Blocks) == 0 {
			w.add("other items", body[m.Span.Start:m.Span.End])
		}
	}
}

func (w *weigher) add(name string, raw []byte) {
	key := sha256.Sum256(raw)
	n, known := w.texts[key]
	s := w.sum[name]
	if !known {
		text := string(raw)
		if len(raw) > 1 && raw[0] == '"' {
			text, _ = transcript.Decode(raw)
		}
		n = w.count(text)
		w.texts[key] = n
		s.Blocks++
		s.Once += n
	}
	s.Sent += n
	w.sum[name] = s
}

// label names the kind of a result: its tool's, and for a shell what the command
// does and which program it is.
func label(t *transcript.Transcript, r transcript.Result) string {
	if r.Call < 0 {
		return "result: no call"
	}
	args, freeform := t.Arguments(r.Call)
	name := t.Calls[r.Call].Name
	c := classify.OfCall(name, args, freeform)
	if c.Kind != classify.Shell {
		if c.Kind == classify.Other {
			return "result: other, " + name
		}
		return "result: " + c.Kind.String()
	}
	switch {
	case !c.Command.Known:
		return "result: shell, not understood"
	case c.Command.Several:
		return "result: shell, several commands"
	default:
		return "result: shell, " + c.Sub.String() + ", " + c.Command.Program
	}
}

// Largest returns the names of the shares that are sent most, largest first.
func Largest(of map[string]Share) []string {
	names := slices.Collect(maps.Keys(of))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b].Sent, of[a].Sent), cmp.Compare(a, b))
	})
	return names
}
