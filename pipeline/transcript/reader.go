package transcript

import (
	"errors"
	"fmt"
	"slices"
)

// The reasons for which Parse refuses a body. They are matched with errors.Is;
// a refused body is forwarded as it came.
var (
	// ErrSyntax: the body is not one JSON value.
	ErrSyntax = errors.New("not valid JSON")
	// ErrShape: the body is JSON, but not a shape of its dialect that can be
	// edited safely (also: a key that matters stands twice).
	ErrShape = errors.New("not a known shape")
)

// reader walks JSON and knows the byte offsets of what it reads. It accepts what
// providers may accept: duplicate names and invalid UTF-8. Where a duplicate
// would matter, the parser refuses it by itself.
type reader struct {
	body  []byte
	at    int // where it stands
	depth int // how many objects and arrays it is in

	longs *longs // where long strings are noted, if anywhere
	seen  *Seen  // knows long strings; may be nil
}

// value reads one whole value and returns its span and kind.
func (r *reader) value() (Span, kind, error) {
	k := r.peek()
	s := Span{Start: r.at}
	if err := r.skip(); err != nil {
		return Span{}, 0, err
	}
	s.End = r.at
	return s, k, nil
}

// end checks that nothing but white space follows.
func (r *reader) end() error {
	if r.next(); r.at < len(r.body) {
		return r.syntax()
	}
	return nil
}

// member is one member of an object, located before its value is read.
type member struct {
	key   string // decoded, so that an escaped spelling is the same key
	known int8   // its place in knownKeys, -1 if it is none of them
	start int    // where the key's quote stands
	prev  int    // where the member before, or the opening brace, ends
	first bool
}

// object reads an object and calls f for each member; f reads the value. It
// returns the object's span.
func (r *reader) object(f func(m member) error) (Span, error) {
	r.next()
	s := Span{Start: r.at}
	m := member{prev: s.Start + 1, first: true}
	more, err := r.open('{')
	for more && err == nil {
		if err = r.member(&m); err != nil {
			break
		}
		if err = f(m); err != nil {
			break
		}
		m.prev, m.first = r.at, false
		more, err = r.more('{')
	}
	if err != nil {
		return Span{}, err
	}
	s.End = r.at
	return s, nil
}

// member reads a member's name, up to its value.
func (r *reader) member(m *member) error {
	name, err := r.name()
	if err != nil {
		return err
	}
	m.start = name.Start
	m.key, m.known = key(r.body[name.Start:name.End])
	if r.peek() == 0 {
		return r.syntax()
	}
	return nil
}

// array reads an array and calls f before each element; f reads the element.
func (r *reader) array(f func(i int) error) (Span, error) {
	r.next()
	s := Span{Start: r.at}
	more, err := r.open('[')
	for i := 0; more && err == nil; i++ {
		if r.peek() == 0 {
			return Span{}, r.syntax()
		}
		if err = f(i); err == nil {
			more, err = r.more('[')
		}
	}
	if err != nil {
		return Span{}, err
	}
	s.End = r.at
	return s, nil
}

// str decodes the JSON string at s.
func (r *reader) str(s Span) string {
	t, _ := Decode(r.body[s.Start:s.End])
	return t
}

// removal is the span to leave out so that the rest is the object without the
// member that ends at end: with the comma before it, or after it if it is first.
func (r *reader) removal(m member, end int) Span {
	if !m.first {
		return Span{m.prev, end}
	}
	for i := end; i < len(r.body); i++ {
		switch r.body[i] {
		case ' ', '\t', '\n', '\r':
			continue
		case ',':
			return Span{m.start, i + 1}
		}
		break
	}
	return Span{m.start, end}
}

// key is a member's name, decoded, so that an escaped spelling is the same key,
// and its place in knownKeys. The names that the parser looks at cost no
// allocation.
func key(raw []byte) (name string, known int8) {
	inside := raw[1 : len(raw)-1]
	if n := len(inside); n+1 < len(keysOfLength) {
		for i := keysOfLength[n]; i < keysOfLength[n+1]; i++ {
			if string(inside) == knownKeys[i] {
				return knownKeys[i], i
			}
		}
	}
	name, _ = Decode(raw)
	if len(name) == len(inside) {
		return name, -1 // no escape has shortened it, and so it is none of them
	}
	return name, int8(slices.Index(knownKeys[:], name))
}

// knownKeys are the names that the parser looks at, the shortest first. The place
// of a name is its bit in seenKeys.
var knownKeys = [...]string{
	"id", "type", "text", "role", "name", "input", "model", "tools", "output", "action", "custom", "stream",
	"system", "content", "call_id", "is_error", "function", "messages", "metadata", "arguments", "tool_calls",
	"truncation", "tool_use_id", "tool_call_id", "instructions", "conversation", "cache_control",
	"function_call", "prompt_cache_key", "context_management", "previous_response_id",
}

// keysOfLength is where the names of each length begin in knownKeys.
var keysOfLength = func() (first [24]int8) {
	for i, k := range knownKeys {
		for n := len(k) + 1; n < len(first); n++ {
			first[n] = int8(i + 1)
		}
	}
	return first
}()

// seenKeys refuses keys that stand twice: which one a provider takes is unknown.
type seenKeys uint64

func (s *seenKeys) once(m member) error {
	if m.known < 0 {
		return nil
	}
	if *s&(1<<m.known) != 0 {
		return fmt.Errorf("%w: the key %q stands twice", ErrShape, m.key)
	}
	*s |= 1 << m.known
	return nil
}

func (s seenKeys) has(key string) bool {
	i := slices.Index(knownKeys[:], key)
	return i >= 0 && s&(1<<i) != 0
}
