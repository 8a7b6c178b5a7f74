package promptcache

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// What can't be counted as text costs what a usual one costs: 1,500 tokens for
// an image or a page of a document, and one token for six bytes of base64 that
// hides a model's own words.
const (
	simImageTokens    = 1500
	simOpaquePerToken = 6
)

// field is one member of an object.
type field struct {
	name string
	raw  jsontext.Value
}

type fields []field

func readFields(raw jsontext.Value) (fields, error) {
	var f fields
	dec := lenientDecoder(raw)
	err := eachMember(dec, func(name string) error {
		v, err := dec.ReadValue()
		f = append(f, field{name, v})
		return err
	})
	return f, err
}

func (f fields) get(name string) jsontext.Value {
	for _, m := range f {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

// text returns a member that is a string, decoded, or nothing.
func (f fields) text(name string) string { return decoded(f.get(name)) }

func decoded(raw jsontext.Value) string {
	if raw.Kind() != jsontext.KindString {
		return ""
	}
	s, _ := jsontext.AppendUnquote(nil, raw) // errors only about lone surrogates, which it replaces
	return string(s)
}

// elements returns the elements of an array, or a lone value as the only one.
func elements(raw jsontext.Value) ([]jsontext.Value, error) {
	if raw.Kind() != jsontext.KindBeginArray {
		return []jsontext.Value{raw}, nil
	}
	dec := lenientDecoder(raw)
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var all []jsontext.Value
	for dec.PeekKind() != jsontext.KindEndArray {
		v, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// reading is one block while it is read: what it is told apart by, what is
// counted of it, and its breakpoints.
type reading struct {
	canon  []byte
	text   strings.Builder
	extra  int
	marks  int
	ttl    float64
	opaque bool // may not carry a breakpoint
}

func (r *reading) block(c *BlockCounter, keepText bool) simBlock {
	text := r.text.String()
	b := simBlock{
		hash: xxhash.Sum64(r.canon), tokens: r.extra + c.count(text),
		marks: r.marks, ttl: r.ttl, cacheable: !r.opaque,
	}
	if keepText {
		b.text = text
	}
	return b
}

// say adds text to what is counted, on a line of its own.
func (r *reading) say(s string) {
	if s == "" {
		return
	}
	if r.text.Len() > 0 {
		r.text.WriteByte('\n')
	}
	r.text.WriteString(s)
}

func (r *reading) word(s string) {
	r.canon = binary.AppendUvarint(r.canon, uint64(len(s)))
	r.canon = append(r.canon, s...)
}

// value adds a value to the canonical form: decoded, so that two spellings of a
// string are one, with the members of objects in the order they came in.
func (r *reading) value(raw jsontext.Value) error {
	dec := lenientDecoder(raw)
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		r.canon = append(r.canon, byte(tok.Kind()))
		if k := tok.Kind(); k == jsontext.KindString || k == jsontext.KindNumber {
			r.word(tok.String())
		}
		if dec.StackDepth() == 0 {
			return nil
		}
	}
}

// members adds an object's members to the canonical form, sorted, breakpoints
// taken out and counted. special takes over members that it says true for.
func (r *reading) members(f fields, special func(field) (bool, error)) error {
	sorted := slices.Clone(f)
	slices.SortStableFunc(sorted, func(a, b field) int { return strings.Compare(a.name, b.name) })
	for _, m := range sorted {
		if m.name == "cache_control" {
			if err := r.mark(m.raw); err != nil {
				return err
			}
			continue
		}
		r.word(m.name)
		if done, err := special(m); done || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.value(m.raw); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) mark(raw jsontext.Value) error {
	ttl, err := markTTL(raw)
	if ttl > 0 {
		r.marks++
		r.ttl = max(r.ttl, ttl)
	}
	return err
}

func plain(field) (bool, error) { return false, nil }

// readBlocks reads one raw value of a kind.
func (c *BlockCounter) readBlocks(kind blockKind, raw jsontext.Value) ([]simBlock, error) {
	switch kind {
	case kindAnthropicMessage:
		return c.readAnthropicMessage(raw)
	case kindSystem:
		r := &reading{}
		if err := r.anthropicBlock(raw); err != nil {
			return nil, err
		}
		return []simBlock{r.block(c, false)}, nil
	case kindTool, kindChatTool:
		r := &reading{}
		if err := r.declaration(raw); err != nil {
			return nil, err
		}
		return []simBlock{r.block(c, kind == kindChatTool)}, nil
	case kindInstructions:
		r := &reading{}
		err := r.item("system", raw)
		return []simBlock{r.block(c, true)}, err
	case kindChatMessage, kindItem:
		r := &reading{}
		err := r.item("user", raw)
		return []simBlock{r.block(c, true)}, err
	default: // kindOption
		r := &reading{}
		err := r.value(raw)
		return []simBlock{r.block(c, false)}, err
	}
}

// declaration is a tool, counted as it is written.
func (r *reading) declaration(raw jsontext.Value) error {
	if raw.Kind() != jsontext.KindBeginObject {
		r.say(string(raw))
		return r.value(raw)
	}
	f, err := readFields(raw)
	if err != nil {
		return err
	}
	for _, m := range f {
		if m.name != "cache_control" {
			r.say(m.name + ": " + string(m.raw))
		}
	}
	return r.members(f, plain)
}

// readAnthropicMessage gives each content block its role, since messages of one
// role that follow each other are one turn to the provider.
func (c *BlockCounter) readAnthropicMessage(raw jsontext.Value) ([]simBlock, error) {
	if raw.Kind() != jsontext.KindBeginObject {
		return nil, nil
	}
	f, err := readFields(raw)
	if err != nil {
		return nil, err
	}
	content := f.get("content")
	if content == nil {
		return nil, nil
	}
	parts, err := elements(content)
	if err != nil {
		return nil, err
	}
	blocks := make([]simBlock, 0, len(parts))
	for _, part := range parts {
		r := &reading{}
		r.word(f.text("role"))
		if err := r.anthropicBlock(part); err != nil {
			return nil, err
		}
		blocks = append(blocks, r.block(c, false))
	}
	return blocks, nil
}

// anthropicBlock reads a content block. A string is one text block.
func (r *reading) anthropicBlock(raw jsontext.Value) error {
	if raw.Kind() == jsontext.KindString {
		return r.anthropicFields(fields{{"type", jsontext.Value(`"text"`)}, {"text", raw}})
	}
	if raw.Kind() != jsontext.KindBeginObject {
		return r.value(raw)
	}
	f, err := readFields(raw)
	if err != nil {
		return err
	}
	return r.anthropicFields(f)
}

func (r *reading) anthropicFields(f fields) error {
	switch typ := f.text("type"); typ {
	case "text":
		text := f.text("text")
		r.opaque = r.opaque || text == ""
		r.say(text)
	case "thinking":
		r.opaque = true
		r.say(f.text("thinking"))
	case "redacted_thinking":
		r.opaque = true
		r.extra += len(f.get("data")) / simOpaquePerToken
	case "tool_use":
		r.say(f.text("name"))
		r.say(string(f.get("input")))
	case "tool_result":
		return r.members(f, r.nested)
	case "image", "document":
		r.extra += simImageTokens
	default:
		for _, m := range f {
			if m.name != "type" && m.name != "cache_control" {
				r.say(string(m.raw))
			}
		}
	}
	return r.members(f, plain)
}

// nested reads the content of a tool result; its blocks count as one with it.
func (r *reading) nested(m field) (bool, error) {
	if m.name != "content" {
		return false, nil
	}
	parts, err := elements(m.raw)
	if err != nil {
		return true, err
	}
	for _, part := range parts {
		inner := &reading{}
		if err := inner.anthropicBlock(part); err != nil {
			return true, err
		}
		r.canon = append(r.canon, inner.canon...)
		r.say(inner.text.String())
		r.extra += inner.extra
		r.marks += inner.marks
		r.ttl = max(r.ttl, inner.ttl)
	}
	return true, nil
}
