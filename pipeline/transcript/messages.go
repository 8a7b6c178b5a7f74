package transcript

import (
	"bytes"
	"fmt"
)

// bytesPerMessage is how long a message is at a guess, for the memory to begin with.
const bytesPerMessage = 2048

// messages reads the transcript of the Anthropic and Chat dialects.
func (p *parser) messages() error {
	if p.peek() != '[' {
		return fmt.Errorf("%w: messages is no array", ErrShape)
	}
	p.t.Messages = make([]Message, 0, len(p.body)/bytesPerMessage)
	span, err := p.array(func(i int) error {
		if p.peek() != '{' {
			return fmt.Errorf("%w: message %d is no object", ErrShape, i)
		}
		if p.t.Dialect == OpenAIChat {
			return p.chatMessage(i)
		}
		return p.anthropicMessage(i)
	})
	p.t.messagesSpan = span
	return err
}

// anthropicMessage reads one message and its calls and results.
func (p *parser) anthropicMessage(i int) error {
	var msg Message
	raws := p.raws[:0]
	var seen seenKeys
	span, err := p.object(func(m member) error {
		switch m.key {
		case "role":
			if err := seen.once(m); err != nil {
				return err
			}
			v, kind, err := p.value()
			msg.Role = p.word(v, kind)
			return err
		case "content":
			if err := seen.once(m); err != nil {
				return err
			}
			var err error
			msg.contentSpan, err = p.content(&msg.Blocks, &raws)
			return err
		}
		return p.skip()
	})
	if err != nil {
		return err
	}
	msg.Span, p.raws = span, raws
	for b, rb := range raws {
		switch typ := msg.Blocks[b].Type; {
		case typ == "tool_use" && msg.Role == "assistant":
			p.call(i, rb.id, rb.name, rb.args)
		case typ == "tool_result" && msg.Role == "user":
			p.result(i, b, rb)
		}
	}
	p.t.Messages = append(p.t.Messages, msg)
	return nil
}

// call adds a client-executed call.
func (p *parser) call(message int, id, name, args Span) {
	t := p.t
	t.Calls = append(t.Calls, Call{
		Ordinal: len(t.Calls) + 1, ID: p.optional(id), Name: p.optional(name),
		Message: message, Args: args, Result: -1,
	})
}

// optional decodes a string span that may be missing or no string.
func (p *parser) optional(s Span) string {
	if s.Len() < 2 || p.body[s.Start] != '"' {
		return ""
	}
	return p.str(s)
}

// result adds a tool result; pairing comes later.
func (p *parser) result(message, block int, rb rawBlock) {
	r := Result{Message: message, Block: block, Call: -1, IsError: rb.isError, id: p.optional(rb.callID)}
	p.fill(&r, rb)
	p.t.Results = append(p.t.Results, r)
}

// fill takes over the text parts.
func (p *parser) fill(r *Result, rb rawBlock) {
	if !rb.hasContent {
		r.Mixed = true
		return
	}
	var few [4]Leaf
	texts := few[:0]
	for _, part := range rb.parts {
		switch {
		case part.Text.Len() >= 2 && (part.Bare || part.Type == "text" || part.Type == "input_text" || part.Type == "output_text"):
			texts = append(texts, Leaf{Span: part.Text})
		default:
			r.Mixed = true
		}
	}
	r.Texts = p.leaves.keep(texts...)
}

// chatMessage reads one message of Chat Completions.
func (p *parser) chatMessage(i int) error {
	var msg Message
	var body rawBlock
	var seen seenKeys
	span, err := p.object(func(m member) error {
		switch m.key {
		case "role", "content", "tool_calls", "tool_call_id", "function_call", "name":
			if err := seen.once(m); err != nil {
				return err
			}
		case "cache_control", "cachePoint":
			b := Block{}
			err := p.mark(m, &b)
			msg.Marks = append(msg.Marks, b.Marks...)
			return err
		default:
			return p.skip()
		}
		kind := p.peek()
		switch {
		case m.key == "content":
			var err error
			msg.contentSpan, err = p.content(&msg.Blocks, nil)
			body.hasContent = kind == '"' || kind == '['
			return err
		case m.key == "tool_calls" && kind == '[':
			return p.chatCalls(i)
		case m.key == "function_call" && kind == '{':
			return p.chatCall(i, true)
		}
		v, kind, err := p.value()
		switch m.key {
		case "role":
			msg.Role = p.word(v, kind)
		case "tool_call_id":
			body.callID = v
		case "name":
			body.name = v
		}
		return err
	})
	if err != nil {
		return err
	}
	msg.Span = span
	if msg.Role == "tool" || msg.Role == "function" {
		body.parts = msg.Blocks
		if msg.Role == "function" {
			body.callID = body.name
		}
		p.result(i, -1, body)
	}
	p.t.Messages = append(p.t.Messages, msg)
	return nil
}

// chatCalls reads tool_calls.
func (p *parser) chatCalls(message int) error {
	_, err := p.array(func(int) error {
		if p.peek() != '{' {
			return p.skip()
		}
		return p.chatCall(message, false)
	})
	return err
}

// chatCall reads one call of Chat Completions, or its legacy form.
func (p *parser) chatCall(message int, legacy bool) error {
	var id, name, args Span
	inner := func(m member) error {
		v, _, err := p.value()
		switch m.key {
		case "name":
			name = v
		case "arguments", "input":
			args = v
		}
		return err
	}
	var seen seenKeys
	_, err := p.object(func(m member) error {
		if err := seen.once(m); err != nil {
			return err
		}
		if (m.key == "function" || m.key == "custom") && p.peek() == '{' {
			_, err := p.object(inner)
			return err
		}
		if legacy {
			return inner(m)
		}
		v, _, err := p.value()
		if m.key == "id" {
			id = v
		}
		return err
	})
	if legacy {
		id = name
	}
	p.call(message, id, name, args)
	return err
}

// input reads the transcript of Responses: a string or items.
func (p *parser) input() error {
	switch p.peek() {
	case '"':
		v, _, err := p.value()
		p.t.messagesSpan = v
		p.t.Messages = append(p.t.Messages, Message{
			Role: "user", Span: v, contentSpan: v,
			Blocks: []Block{{Type: "text", Span: v, Text: v, Bare: true}},
		})
		return err
	case '[':
		p.t.Messages = make([]Message, 0, len(p.body)/bytesPerMessage)
		span, err := p.array(p.item)
		p.t.messagesSpan = span
		return err
	default:
		return fmt.Errorf("%w: input is neither text nor a list", ErrShape)
	}
}

// item reads one input item.
func (p *parser) item(i int) error {
	if p.peek() != '{' {
		return fmt.Errorf("%w: input item %d is no object", ErrShape, i)
	}
	var msg Message
	b, rb := Block{}, rawBlock{}
	var seen seenKeys
	span, err := p.object(func(m member) error {
		if m.key == "role" {
			if err := seen.once(m); err != nil {
				return err
			}
			v, kind, err := p.value()
			msg.Role = p.word(v, kind)
			return err
		}
		return p.blockMember(m, &b, &rb, &seen)
	})
	if err != nil {
		return err
	}
	msg.Span, b.Span = span, span
	switch b.Type {
	case "function_call", "custom_tool_call", "local_shell_call":
		p.call(i, rb.callID, rb.name, rb.args)
		if b.Type == "local_shell_call" {
			p.t.Calls[len(p.t.Calls)-1].Name = "local_shell"
		}
		msg.Role = "assistant"
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		p.result(i, 0, rb)
		msg.Role = "tool"
	case "message", "":
		msg.Blocks, msg.contentSpan = rb.parts, rb.content
		p.t.Messages = append(p.t.Messages, msg)
		return nil
	}
	if msg.Role == "" && (b.Type == "reasoning" || bytes.HasSuffix([]byte(b.Type), []byte("_call"))) {
		msg.Role = "assistant"
	}
	msg.Blocks = []Block{b}
	p.t.Messages = append(p.t.Messages, msg)
	return nil
}

// pair gives each result the latest unanswered call of its id that stands
// before it; some clients repeat ids.
func (p *parser) pair() {
	t := p.t
	open := make(map[string]int, len(t.Calls)) // the latest unanswered call of an id, plus one
	before := make([]int, len(t.Calls))        // the one before a call, plus one
	next := 0
	for ri := range t.Results {
		r := &t.Results[ri]
		for ; next < len(t.Calls) && t.Calls[next].Message < r.Message; next++ {
			id := t.Calls[next].ID
			before[next] = open[id]
			open[id] = next + 1
		}
		if c := open[r.id] - 1; c >= 0 && r.id != "" {
			open[r.id] = before[c]
			r.Call = c
			t.Calls[c].Result = ri
		}
	}
}
