package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
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

// reader walks JSON and knows the byte offsets of what it reads.
type reader struct {
	body []byte
	dec  *jsontext.Decoder
}

// newReader accepts what providers may accept: duplicate names and invalid
// UTF-8. Where a duplicate would matter, the parser refuses it by itself.
func newReader(body []byte) *reader {
	return &reader{body: body, dec: jsontext.NewDecoder(bytes.NewBuffer(body),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

func syntax(err error) error { return fmt.Errorf("%w: %w", ErrSyntax, err) }

// value reads one whole value and returns its span and kind.
func (r *reader) value() (Span, jsontext.Kind, error) {
	v, err := r.dec.ReadValue()
	if err != nil {
		return Span{}, 0, syntax(err)
	}
	end := int(r.dec.InputOffset())
	return Span{end - len(v), end}, v.Kind(), nil
}

// skip reads one whole value without returning it.
func (r *reader) skip() error {
	if err := r.dec.SkipValue(); err != nil {
		return syntax(err)
	}
	return nil
}

// token reads one token and returns where it ends.
func (r *reader) token() (int, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return 0, syntax(err)
	}
	return int(r.dec.InputOffset()), nil
}

// end checks that nothing but white space follows.
func (r *reader) end() error {
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: bytes after the end", ErrSyntax)
	}
	return nil
}

// member is one member of an object, located before its value is read.
type member struct {
	key   string // decoded, so that an escaped spelling is the same key
	start int    // where the key's quote stands
	prev  int    // where the member before, or the opening brace, ends
	first bool
}

// object reads an object and calls f for each member; f reads the value. It
// returns the object's span.
func (r *reader) object(f func(m member) error) (Span, error) {
	end, err := r.token()
	if err != nil {
		return Span{}, err
	}
	s := Span{Start: end - 1}
	m := member{prev: end, first: true}
	for r.dec.PeekKind() != '}' {
		k, err := r.dec.ReadValue()
		if err != nil {
			return Span{}, syntax(err)
		}
		m.start = int(r.dec.InputOffset()) - len(k)
		m.key = key(k)
		if err := f(m); err != nil {
			return Span{}, err
		}
		m.prev, m.first = int(r.dec.InputOffset()), false
	}
	if s.End, err = r.token(); err != nil {
		return Span{}, err
	}
	return s, nil
}

// array reads an array and calls f before each element; f reads the element.
func (r *reader) array(f func(i int) error) (Span, error) {
	end, err := r.token()
	if err != nil {
		return Span{}, err
	}
	s := Span{Start: end - 1}
	for i := 0; r.dec.PeekKind() != ']'; i++ {
		if r.dec.PeekKind() == 0 {
			break // let the token below report the error
		}
		if err := f(i); err != nil {
			return Span{}, err
		}
	}
	if s.End, err = r.token(); err != nil {
		return Span{}, err
	}
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

// key is a member's name, decoded, so that an escaped spelling is the same key.
// The names that the parser looks at cost no allocation.
func key(raw []byte) string {
	for _, k := range knownKeys {
		if len(raw) == len(k)+2 && string(raw[1:len(raw)-1]) == k {
			return k
		}
	}
	k, _ := Decode(raw)
	return k
}

// knownKeys are the names that the parser looks at, the most frequent first. The
// place of a name is its bit in seenKeys.
var knownKeys = [...]string{
	"type", "text", "content", "role", "tool_use_id", "id", "name", "input", "call_id", "output", "is_error",
	"arguments", "cache_control", "tool_calls", "tool_call_id", "function", "action", "custom", "function_call",
	"model", "stream", "system", "instructions", "tools", "messages", "metadata", "prompt_cache_key",
	"context_management", "truncation", "previous_response_id", "conversation",
}

// seenKeys refuses keys that stand twice: which one a provider takes is unknown.
type seenKeys uint64

func (s *seenKeys) once(key string) error {
	for i, k := range knownKeys {
		if k != key {
			continue
		}
		if *s&(1<<i) != 0 {
			return fmt.Errorf("%w: the key %q stands twice", ErrShape, key)
		}
		*s |= 1 << i
		return nil
	}
	return nil
}

func (s seenKeys) has(key string) bool {
	for i, k := range knownKeys {
		if k == key {
			return s&(1<<i) != 0
		}
	}
	return false
}
