package componenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Script is a conversation in no dialect: what a client would send of it can be
// written in each.
type Script struct {
	System string
	Nonce  string // put in front of the system prompt
	User   string
	Steps  []Step
	// EditsByLine declares a tool that edits by line number.
	EditsByLine bool
	// ContextEditing asks the provider to drop earlier content by itself.
	ContextEditing bool
}

// Step is one answer of the assistant and what came back: results of its calls,
// or a text of the user if there are none.
type Step struct {
	Say   string
	Calls []ToolCall
	User  string
}

// ToolCall is one call with its result.
type ToolCall struct {
	ID      string
	Name    string
	Args    string // a JSON object
	Result  string
	Parts   []string // instead of Result
	IsError bool
	Image   bool // the result holds an image besides its text
}

// Style is how a client writes what can be written in several ways.
type Style struct {
	Marks     int  // breakpoints on the last messages
	Arrays    bool // results and texts as arrays of blocks
	UserFlips bool // the first user text as an array
	Spaces    bool // JSON with spaces
	NonASCII  bool // escape what is not ASCII
}

// Body writes the request that carries the first n steps.
func (s Script) Body(d transcript.Dialect, n int, st Style) []byte {
	var req object
	req.add("model", "claude-test-1")
	switch d {
	case transcript.Anthropic:
		req.add("max_tokens", 1000)
		req.add("system", []any{obj("type", "text", "text", s.Nonce+s.System, "cache_control", ephemeral())})
		req.add("tools", s.tools(d))
		req.add("messages", s.anthropic(n, st))
		if s.ContextEditing {
			req.add("context_management", obj("edits", []any{obj("type", "clear_tool_uses_20250919")}))
		}
	case transcript.OpenAIChat:
		req.add("messages", s.chat(n, st))
		req.add("tools", s.tools(d))
	default:
		req.add("instructions", s.Nonce+s.System)
		req.add("input", s.responses(n, st))
		req.add("tools", s.tools(d))
		if s.ContextEditing {
			req.add("truncation", "auto")
		}
	}
	return st.encode(req)
}

func (s Script) tools(d transcript.Dialect) []any {
	params := obj("type", "object", "properties", obj("path", obj("type", "string")))
	if s.EditsByLine {
		params = obj("type", "object", "properties", obj("path", obj("type", "string"), "insert_line", obj("type", "integer")))
	}
	if d == transcript.Anthropic {
		return []any{obj("name", "edit_file", "description", "Edits.", "input_schema", params)}
	}
	if d == transcript.OpenAIChat {
		return []any{obj("type", "function", "function", obj("name", "edit_file", "parameters", params))}
	}
	return []any{obj("type", "function", "name", "edit_file", "parameters", params)}
}

func (s Script) anthropic(n int, st Style) []any {
	var out []any
	first := any(s.User)
	if st.UserFlips {
		first = []any{obj("type", "text", "text", s.User)}
	}
	out = append(out, obj("role", "user", "content", first))
	for _, step := range s.Steps[:n] {
		blocks := []any{}
		if step.Say != "" {
			blocks = append(blocks, obj("type", "text", "text", step.Say))
		}
		results := []any{}
		for _, c := range step.Calls {
			blocks = append(blocks, obj("type", "tool_use", "id", c.ID, "name", c.Name, "input", json.RawMessage(c.Args)))
			r := obj("type", "tool_result", "tool_use_id", c.ID)
			if c.IsError {
				r.add("is_error", true)
			}
			r.add("content", c.content(st, "text"))
			results = append(results, r)
		}
		if step.User != "" {
			results = append(results, obj("type", "text", "text", step.User))
		}
		if len(blocks) == 0 {
			blocks = append(blocks, obj("type", "text", "text", "."))
		}
		out = append(out, obj("role", "assistant", "content", blocks), obj("role", "user", "content", results))
	}
	for i := max(0, len(out)-st.Marks); i < len(out); i++ {
		m := out[i].(object)
		blocks, ok := m[len(m)-1].value.([]any)
		if !ok {
			blocks = []any{obj("type", "text", "text", m[len(m)-1].value)}
		}
		last := blocks[len(blocks)-1].(object)
		blocks[len(blocks)-1] = append(last[:len(last):len(last)], member{"cache_control", ephemeral()})
		m[len(m)-1].value = blocks
	}
	return out
}

func (s Script) chat(n int, st Style) []any {
	out := []any{obj("role", "system", "content", s.Nonce+s.System), obj("role", "user", "content", s.User)}
	for _, step := range s.Steps[:n] {
		m := obj("role", "assistant", "content", step.Say)
		var calls []any
		for _, c := range step.Calls {
			calls = append(calls, obj("id", c.ID, "type", "function", "function", obj("name", c.Name, "arguments", c.Args)))
		}
		if len(calls) > 0 {
			m.add("tool_calls", calls)
		}
		out = append(out, m)
		for _, c := range step.Calls {
			out = append(out, obj("role", "tool", "tool_call_id", c.ID, "content", c.content(st, "text")))
		}
		if step.User != "" {
			out = append(out, obj("role", "user", "content", step.User))
		}
	}
	return out
}

func (s Script) responses(n int, st Style) []any {
	out := []any{obj("role", "user", "content", []any{obj("type", "input_text", "text", s.User)})}
	for _, step := range s.Steps[:n] {
		out = append(out, obj("type", "reasoning", "summary", []any{}, "encrypted_content", "gAAAA"))
		if step.Say != "" {
			out = append(out, obj("type", "message", "role", "assistant", "content", []any{obj("type", "output_text", "text", step.Say)}))
		}
		for _, c := range step.Calls {
			out = append(out, obj("type", "function_call", "call_id", c.ID, "name", c.Name, "arguments", c.Args))
		}
		for _, c := range step.Calls {
			out = append(out, obj("type", "function_call_output", "call_id", c.ID, "output", c.content(st, "input_text")))
		}
		if step.User != "" {
			out = append(out, obj("type", "message", "role", "user", "content", []any{obj("type", "input_text", "text", step.User)}))
		}
	}
	return out
}

// content is the result as the client writes it.
func (c ToolCall) content(st Style, typ string) any {
	parts := c.Parts
	if parts == nil {
		if !st.Arrays && !c.Image {
			return c.Result
		}
		parts = []string{c.Result}
	}
	var out []any
	for _, p := range parts {
		out = append(out, obj("type", typ, "text", p))
	}
	if c.Image {
		out = append(out, obj("type", "image", "source", obj("type", "base64", "media_type", "image/png", "data", "iVBORw0KGgo=")))
	}
	return out
}

// object keeps the order of its members.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

func obj(kv ...any) object {
	var o object
	for i := 0; i < len(kv); i += 2 {
		o.add(kv[i].(string), kv[i+1])
	}
	return o
}

func ephemeral() object { return obj("type", "ephemeral") }

func (st Style) encode(v any) []byte {
	var b bytes.Buffer
	st.write(&b, v)
	return b.Bytes()
}

func (st Style) write(b *bytes.Buffer, v any) {
	sep := ""
	if st.Spaces {
		sep = " "
	}
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteString("," + sep)
			}
			st.write(b, m.key)
			b.WriteString(":" + sep)
			st.write(b, m.value)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			if i > 0 {
				b.WriteString("," + sep)
			}
			st.write(b, x)
		}
		b.WriteByte(']')
	case string:
		var e bytes.Buffer
		enc := json.NewEncoder(&e)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v) // a string always encodes
		s := strings.TrimSuffix(e.String(), "\n")
		if st.NonASCII {
			s = escapeNonASCII(s)
		}
		b.WriteString(s)
	default:
		raw, _ := json.Marshal(v) // numbers, booleans and raw JSON
		b.Write(raw)
	}
}

func escapeNonASCII(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return b.String()
}
