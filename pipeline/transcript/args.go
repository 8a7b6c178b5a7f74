package transcript

import (
	"errors"
	"slices"
	"strconv"
)

// Arguments decodes the strings and literals inside the arguments of call i, in order.
// Freeform is the text of arguments that are one string and no object (custom
// tools). Arguments that are not valid JSON have neither, nor have arguments in
// which an object has a key twice: readers differ in which of the two counts.
func (t *Transcript) Arguments(i int) (args []Arg, freeform string) {
	a := t.arguments(i)
	return a.args, a.freeform
}

// argumentsOf is a call's decoded arguments with what is needed to find a place
// in them again in the body.
type argumentsOf struct {
	args     []Arg
	spans    []Span   // of each string's JSON in inner; literals are not counted
	texts    []string // parallel to spans
	inner    []byte   // the JSON of the arguments; the body's own bytes if not nested
	nested   bool     // the arguments are JSON inside a JSON string
	freeform string
}

func (t *Transcript) arguments(i int) argumentsOf {
	raw := t.Body[t.Calls[i].Args.Start:t.Calls[i].Args.End]
	var a argumentsOf
	if len(raw) == 0 {
		return a
	}
	a.inner = raw
	if raw[0] == '"' {
		text, lossy := Decode(raw)
		if lossy || len(text) == 0 || text[0] != '{' {
			a.freeform = text
			return a
		}
		a.inner, a.nested = []byte(text), true
	}
	r := reader{body: a.inner}
	if err := r.strings(&a, "", ""); err != nil || r.end() != nil {
		a.args, a.spans, a.texts = nil, nil, nil
	}
	return a
}

// errTwice is why arguments with a key that stands twice in one object are not
// read.
var errTwice = errors.New("a key stands twice")

// keySet tells keys of one object that stand twice.
type keySet struct {
	few  []string
	many map[string]bool
}

// add is false if the key is known already.
func (k *keySet) add(key string) bool {
	if k.many == nil && len(k.few) < 16 {
		known := slices.Contains(k.few, key)
		k.few = append(k.few, key)
		return !known
	}
	if k.many == nil {
		k.many = make(map[string]bool, 2*len(k.few))
		for _, f := range k.few {
			k.many[f] = true
		}
	}
	known := k.many[key]
	k.many[key] = true
	return !known
}

// strings collects the strings of the next value.
func (r *reader) strings(a *argumentsOf, name, path string) error {
	switch r.peek() {
	case '{':
		var keys keySet
		_, err := r.object(func(m member) error {
			if !keys.add(m.key) {
				return errTwice
			}
			p := m.key
			if path != "" {
				p = path + "." + m.key
			}
			return r.strings(a, m.key, p)
		})
		return err
	case '[':
		_, err := r.array(func(i int) error { return r.strings(a, name, path+"["+strconv.Itoa(i)+"]") })
		return err
	case '"':
		s, _, err := r.value()
		text, lossy := Decode(r.body[s.Start:s.End])
		a.args = append(a.args, Arg{Name: name, Path: path, Text: text, Lossy: lossy})
		a.spans = append(a.spans, s)
		a.texts = append(a.texts, text)
		return err
	default:
		s, _, err := r.value()
		if err == nil {
			a.args = append(a.args, Arg{Name: name, Path: path, Text: string(r.body[s.Start:s.End]), Literal: true})
		}
		return err
	}
}

// ArgumentSpan finds the raw bytes, as offsets in the body, of the range
// [from, to) of the text of string part of call i's arguments, such that they say
// the same inside any JSON string of the body. ok is false if they don't: if the
// arguments are JSON inside a string, and the range is escaped there.
func (t *Transcript) ArgumentSpan(i, part, from, to int) (s Span, ok bool) {
	a := t.arguments(i)
	if part < 0 || part >= len(a.spans) || from > to || to > len(a.texts[part]) {
		return Span{}, false
	}
	in := NewCursor(a.inner[a.spans[part].Start:a.spans[part].End])
	f, ok1 := in.Seek(from)
	e, ok2 := in.Seek(to)
	f, e = f+a.spans[part].Start+1, e+a.spans[part].Start+1
	if a.nested {
		if !ok1 || !ok2 || string(a.inner[f:e]) != a.texts[part][from:to] {
			return Span{}, false
		}
		out := NewCursor(t.Body[t.Calls[i].Args.Start:t.Calls[i].Args.End])
		var ok3, ok4 bool
		f, ok3 = out.Seek(f)
		e, ok4 = out.Seek(e)
		f, e = f+1, e+1
		ok1, ok2 = ok1 && ok3, ok2 && ok4
	}
	return Span{f + t.Calls[i].Args.Start, e + t.Calls[i].Args.Start}, ok1 && ok2
}
