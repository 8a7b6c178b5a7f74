package transcript

import (
	"fmt"
	"strings"
)

// Parse locates everything in body that trimtab looks at. The dialect is a
// candidate from Detect; a body of another shape is refused with ErrShape.
// The transcript refers to body, which must not change afterwards.
func Parse(d Dialect, body []byte) (*Transcript, error) { return (*Seen)(nil).Parse(d, body) }

// Parse is like the function, but does not scan long strings that it knows.
func (s *Seen) Parse(d Dialect, body []byte) (*Transcript, error) {
	t := &Transcript{Dialect: d, Body: body, seen: s}
	p := &parser{reader: reader{body: body, longs: &t.longs, seen: s}, t: t}
	if p.peek() != '{' {
		if _, _, err := p.value(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: the body is no object", ErrShape)
	}
	var seen seenKeys
	if _, err := p.object(func(m member) error { return p.top(m, &seen) }); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if !seen.has("messages") && !seen.has("input") {
		return nil, fmt.Errorf("%w: no messages", ErrShape)
	}
	p.pair()
	p.hints()
	return p.t, nil
}

type parser struct {
	reader
	t *Transcript

	blocks slab[Block]
	leaves slab[Leaf]
	open   []Block    // the blocks of the lists that are being read, the outer ones first
	raws   []rawBlock // of the message that is being read; its memory is used again
}

// slab hands out slices of larger pieces of memory.
type slab[T any] struct{ free []T }

// keep returns a copy of items that nobody else appends to.
func (s *slab[T]) keep(items ...T) []T {
	if len(items) == 0 {
		return nil
	}
	if len(s.free) < len(items) {
		s.free = make([]T, max(64, len(items)))
	}
	out := s.free[:len(items):len(items)]
	s.free = s.free[len(items):]
	copy(out, items)
	return out
}

// top reads one member of the request.
func (p *parser) top(m member, seen *seenKeys) error {
	t := p.t
	responses := t.Dialect == OpenAIResponses
	switch m.key {
	case "model", "stream", "system", "instructions", "tools", "messages", "input", "metadata", "prompt_cache_key",
		"context_management", "truncation", "previous_response_id", "conversation", "cache_control":
		if err := seen.once(m); err != nil {
			return err
		}
	default:
		return p.skip()
	}
	switch {
	case m.key == "messages" && !responses:
		return p.messages()
	case m.key == "input" && responses:
		return p.input()
	case m.key == "system" && t.Dialect == Anthropic, m.key == "instructions" && responses:
		return p.system()
	case m.key == "tools":
		return p.tools()
	case m.key == "metadata":
		return p.metadata()
	case m.key == "context_management" && p.peek() == '{':
		return p.contextManagement(m)
	}
	v, kind, err := p.value()
	if err != nil {
		return err
	}
	switch m.key {
	case "model":
		t.Model = p.text(v, kind)
	case "stream":
		t.Stream = kind == 't'
	case "prompt_cache_key":
		t.Hints.PromptCacheKey = p.text(v, kind)
	case "cache_control":
		t.automatic = append(t.automatic, v)
	case "context_management":
		p.option(m, v, kind != 'n')
	case "truncation":
		p.option(m, v, p.text(v, kind) == "auto")
	case "previous_response_id", "conversation":
		p.option(m, v, kind != 'n')
		t.PreviousResponse = t.PreviousResponse || kind != 'n'
	}
	return nil
}

// contextManagement reads what the provider is asked to take out of the
// transcript. Thinking alone, which Claude Code names in each of its requests, is
// nothing that anything points at; whatever else stands there may be.
func (p *parser) contextManagement(m member) error {
	edits := false
	span, err := p.object(func(m member) error {
		if m.key != "edits" || p.peek() != '[' {
			edits = true
			return p.skip()
		}
		_, err := p.array(func(int) error {
			thinking, err := p.clearsThinking()
			edits = edits || !thinking
			return err
		})
		return err
	})
	p.option(m, span, edits)
	return err
}

// clearsThinking reads one edit.
func (p *parser) clearsThinking() (bool, error) {
	if p.peek() != '{' {
		return false, p.skip()
	}
	types, thinking := 0, false
	_, err := p.object(func(m member) error {
		if m.key != "type" {
			return p.skip()
		}
		v, kind, err := p.value()
		types++
		thinking = err == nil && strings.HasPrefix(p.text(v, kind), "clear_thinking_")
		return err
	})
	return types == 1 && thinking, err
}

// option notes a member that is part of the input chain.
func (p *parser) option(m member, v Span, edits bool) {
	p.t.options = append(p.t.options, option{m.key, v})
	p.t.ProviderEdits = p.t.ProviderEdits || edits
}

// text is a string's text, or "" for any other kind.
func (p *parser) text(v Span, k kind) string {
	if k != '"' {
		return ""
	}
	return p.str(v)
}

// word is like text; the words that every transcript is full of cost no memory.
func (p *parser) word(v Span, k kind) string {
	for _, w := range [...]string{
		"text", "user", "tool_use", "tool_result", "assistant", "tool", "thinking", "function_call",
		"function_call_output", "reasoning", "message", "input_text", "output_text", "system", "developer",
	} {
		if v.Len() == len(w)+2 && string(p.body[v.Start+1:v.End-1]) == w && k == '"' {
			return w
		}
	}
	return p.text(v, k)
}

// metadata finds the client's ids for the conversation.
func (p *parser) metadata() error {
	if p.peek() != '{' {
		return p.skip()
	}
	_, err := p.object(func(m member) error {
		v, kind, err := p.value()
		if err != nil {
			return err
		}
		switch m.key {
		case "user_id":
			p.t.Hints.Session = sessionOf(p.text(v, kind))
		case "taskId":
			p.t.Hints.TaskID = p.text(v, kind)
		}
		return nil
	})
	return err
}

// tools reads the declarations.
func (p *parser) tools() error {
	if p.peek() != '[' {
		v, _, err := p.value()
		p.t.toolsSpan = v
		return err
	}
	span, err := p.array(func(int) error {
		if p.peek() != '{' {
			return p.skip()
		}
		var tool Tool
		var err error
		tool.Span, err = p.tool(&tool)
		p.t.Tools = append(p.t.Tools, tool)
		return err
	})
	p.t.toolsSpan = span
	return err
}

// tool reads one declaration, or the function inside one.
func (p *parser) tool(tool *Tool) (Span, error) {
	return p.object(func(m member) error {
		kind := p.peek()
		switch {
		case m.key == "name" && kind == '"':
			v, _, err := p.value()
			tool.Name = p.str(v)
			return err
		case (m.key == "function" || m.key == "custom") && kind == '{':
			_, err := p.tool(tool)
			return err
		case m.key == "type" && kind == '"':
			v, _, err := p.value()
			tool.Type = p.str(v)
			return err
		}
		return p.skip()
	})
}

// system reads the system prompt: a string or blocks.
func (p *parser) system() error {
	var err error
	p.t.systemSpan, err = p.content(&p.t.System, nil)
	return err
}

// content reads a string, or an array of blocks, or skips anything else. raw
// collects what a block says of calls and results; nil where there are none.
func (p *parser) content(blocks *[]Block, raw *[]rawBlock) (Span, error) {
	switch p.peek() {
	case '"':
		v, _, err := p.value()
		*blocks = p.blocks.keep(Block{Type: "text", Span: v, Text: v, Bare: true})
		if raw != nil {
			*raw = append(*raw, rawBlock{})
		}
		return v, err
	case '[':
		outer := len(p.open)
		s, err := p.array(func(int) error {
			b, rb, err := p.block()
			p.open = append(p.open, b)
			if raw != nil {
				*raw = append(*raw, rb)
			}
			return err
		})
		*blocks = p.blocks.keep(p.open[outer:]...)
		p.open = p.open[:outer]
		return s, err
	default:
		v, _, err := p.value()
		return v, err
	}
}

// rawBlock is what a block, message or item says besides its type and text.
type rawBlock struct {
	id, name, callID, args Span
	isError                bool
	content                Span
	parts                  []Block // the parts of content or output
	bareContent            bool    // content is a string
	hasContent             bool
}

// block reads one content block.
func (p *parser) block() (Block, rawBlock, error) {
	var b Block
	var rb rawBlock
	if p.peek() != '{' {
		v, kind, err := p.value()
		b.Span, b.Type = v, "unknown"
		if kind == '"' {
			b.Type = "string"
		}
		return b, rb, err
	}
	var seen seenKeys
	var err error
	b.Span, err = p.object(func(m member) error { return p.blockMember(m, &b, &rb, &seen) })
	return b, rb, err
}

// blockMember reads one member of a block.
func (p *parser) blockMember(m member, b *Block, rb *rawBlock, seen *seenKeys) error {
	switch m.key {
	case "type", "text", "id", "name", "input", "tool_use_id", "call_id", "content", "output", "is_error", "arguments", "action":
		if err := seen.once(m); err != nil {
			return err
		}
	case "cache_control", "cachePoint":
		return p.mark(m, b)
	default:
		return p.skip()
	}
	kind := p.peek()
	if (m.key == "content" || m.key == "output") && (kind == '[' || kind == '"') {
		rb.hasContent, rb.bareContent = true, kind == '"'
		span, err := p.content(&rb.parts, nil)
		rb.content = span
		for _, part := range rb.parts {
			b.Marks = append(b.Marks, part.Marks...)
			b.TTL1h = b.TTL1h || part.TTL1h
		}
		return err
	}
	v, kind, err := p.value()
	if err != nil {
		return err
	}
	switch m.key {
	case "type":
		b.Type = p.word(v, kind)
	case "text":
		if kind == '"' {
			b.Text = v
		}
	case "id":
		rb.id = v
	case "name":
		rb.name = v
	case "tool_use_id", "call_id":
		rb.callID = v
	case "input", "arguments", "action":
		rb.args = v
	case "is_error":
		rb.isError = kind == 't'
	}
	return nil
}

// mark reads a cache breakpoint.
func (p *parser) mark(m member, b *Block) error {
	v, _, err := p.value()
	if err != nil {
		return err
	}
	b.Marks = append(b.Marks, p.removal(m, v.End))
	b.TTL1h = b.TTL1h || strings.Contains(string(p.body[v.Start:v.End]), `"1h"`)
	return nil
}
