package replay

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// The cache styles: where the client puts breakpoints in messages.
const (
	styleLastMessage = "claude-code-1msg"
	styleLastTwo     = "claude-code-2msg"
	stylePi          = "pi"
)

const ephemeral = `{"type":"ephemeral"}`

// Body returns the body of the k-th request as its client sent it: the head,
// the items so far and the client's breakpoints, as compact JSON.
func (c *Conversation) Body(k int) []byte {
	items := slices.Clone(c.items[:c.Turns[k].Items])
	size := 64
	if c.Wire == promptcache.WireAnthropic {
		for i := max(0, len(items)-c.marked()); i < len(items); i++ {
			items[i] = markMessage(items[i])
		}
	}
	for _, it := range items {
		size += len(it) + 1
	}
	for _, m := range c.head {
		size += len(m.name) + len(m.value) + 4
	}
	w := &objectWriter{buf: make([]byte, 0, size)}
	if c.Wire == promptcache.WireResponses {
		c.writeResponses(w, items)
	} else {
		c.writeMessages(w, items)
	}
	return w.end()
}

// marked is how many messages at the end carry a breakpoint.
func (c *Conversation) marked() int {
	switch c.style {
	case styleLastTwo:
		return 2
	case styleLastMessage, stylePi:
		return 1
	}
	return 0
}

func (c *Conversation) writeMessages(w *objectWriter, items []jsontext.Value) {
	w.member("model", c.model())
	w.list("messages", items)
	for _, m := range c.head {
		if m.name != "model" {
			w.member(m.name, m.value)
		}
	}
}

func (c *Conversation) writeResponses(w *objectWriter, items []jsontext.Value) {
	written := false
	for _, m := range c.head {
		w.member(m.name, m.value)
		if m.name == "instructions" {
			w.list("input", items)
			written = true
		}
	}
	if !written {
		w.list("input", items)
	}
}

// objectWriter writes one object, member by member.
type objectWriter struct{ buf []byte }

func (w *objectWriter) name(name string) {
	sep := byte(',')
	if len(w.buf) == 0 {
		sep = '{'
	}
	w.buf = append(w.buf, sep)
	w.buf, _ = jsontext.AppendQuote(w.buf, name) // errors only about invalid UTF-8, which it replaces
	w.buf = append(w.buf, ':')
}

func (w *objectWriter) member(name string, value jsontext.Value) {
	w.name(name)
	w.buf = append(w.buf, value...)
}

func (w *objectWriter) list(name string, items []jsontext.Value) {
	w.name(name)
	w.buf = append(w.buf, '[')
	for i, it := range items {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(w.buf, it...)
	}
	w.buf = append(w.buf, ']')
}

func (w *objectWriter) end() []byte { return append(w.buf, '}') }

// markMessage puts a breakpoint on the last block of a message that may carry
// one. Messages without such a block come back as they are.
func markMessage(msg jsontext.Value) jsontext.Value {
	members, err := readMembers(msg)
	if err != nil {
		return msg
	}
	w := &objectWriter{}
	for _, m := range members {
		if m.name == "content" {
			m.value = markContent(m.value)
		}
		w.member(m.name, m.value)
	}
	return w.end()
}

func markContent(content jsontext.Value) jsontext.Value {
	if content.Kind() == jsontext.KindString {
		return slices.Concat(jsontext.Value(`[{"type":"text","text":`), content, jsontext.Value(`,"cache_control":`+ephemeral+`}]`))
	}
	if content.Kind() != jsontext.KindBeginArray {
		return content
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(content), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return content
	}
	var ends []int
	var blocks []jsontext.Value
	for dec.PeekKind() == jsontext.KindBeginObject {
		block, err := dec.ReadValue()
		if err != nil {
			return content
		}
		blocks, ends = append(blocks, block), append(ends, int(dec.InputOffset()))
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		if with, ok := markBlock(blocks[i]); ok {
			return slices.Concat(content[:ends[i]-len(blocks[i])], with, content[ends[i]:])
		}
	}
	return content
}

// markBlock returns a block with a breakpoint, or false if it may not carry one.
func markBlock(block jsontext.Value) (jsontext.Value, bool) {
	members, err := readMembers(block)
	if err != nil {
		return nil, false
	}
	typ, text := find(members, "type"), find(members, "text")
	switch string(typ) {
	case `"thinking"`, `"redacted_thinking"`:
		return nil, false
	case `"text"`:
		if text == nil || string(text) == `""` || text.Kind() == jsontext.KindNull {
			return nil, false
		}
	}
	w, placed := &objectWriter{}, false
	for _, m := range members {
		if m.name == "cache_control" {
			m.value, placed = jsontext.Value(ephemeral), true
		}
		w.member(m.name, m.value)
	}
	if !placed {
		w.member("cache_control", jsontext.Value(ephemeral))
	}
	return w.end(), true
}

func find(members []member, name string) jsontext.Value {
	for _, m := range members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}
