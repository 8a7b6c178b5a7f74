package promptcache

import "github.com/go-json-experiment/json/jsontext"

// item reads a Chat message or an input item of Responses. A string is a
// message of the role.
func (r *reading) item(role string, raw jsontext.Value) error {
	if raw.Kind() == jsontext.KindString {
		text, err := jsontext.AppendQuote(nil, role)
		if err != nil {
			return err
		}
		return r.itemFields(fields{{"role", text}, {"content", raw}})
	}
	if raw.Kind() != jsontext.KindBeginObject {
		return r.value(raw)
	}
	f, err := readFields(raw)
	if err != nil {
		return err
	}
	return r.itemFields(f)
}

func (r *reading) itemFields(f fields) error {
	known := true
	switch typ := f.text("type"); typ {
	case "", "message":
		r.say(f.text("role"))
	case "function_call", "custom_tool_call", "local_shell_call", "function_call_output",
		"custom_tool_call_output", "local_shell_call_output":
		r.say(typ)
	case "reasoning":
		r.extra += len(f.text("encrypted_content")) / simOpaquePerToken
	default:
		known = false
		r.say(string(jsontext.Value(f.get("type"))))
	}
	return r.members(f, func(m field) (bool, error) {
		switch m.name {
		case "content", "output", "summary":
			return true, r.parts(m.raw)
		case "name", "arguments", "input", "reasoning_content":
			r.say(decoded(m.raw))
		case "tool_calls":
			return false, r.toolCalls(m.raw)
		case "type", "role", "id", "call_id", "tool_call_id", "status", "encrypted_content", "phase":
		default:
			if !known {
				r.say(string(m.raw))
			}
		}
		return false, nil
	})
}

// toolCalls counts the names and arguments of a Chat message's calls.
func (r *reading) toolCalls(raw jsontext.Value) error {
	calls, err := elements(raw)
	if err != nil {
		return err
	}
	for _, call := range calls {
		if call.Kind() != jsontext.KindBeginObject {
			continue
		}
		f, err := readFields(call)
		if err != nil {
			return err
		}
		for _, of := range []string{"function", "custom"} {
			if f.get(of).Kind() != jsontext.KindBeginObject {
				continue
			}
			g, err := readFields(f.get(of))
			if err != nil {
				return err
			}
			r.say(g.text("name"))
			r.say(g.text("arguments"))
			r.say(g.text("input"))
		}
	}
	return nil
}

// parts reads a content list, or a string as one part of text.
func (r *reading) parts(raw jsontext.Value) error {
	list, err := elements(raw)
	if err != nil {
		return err
	}
	for _, part := range list {
		switch part.Kind() {
		case jsontext.KindString:
			r.word("text")
			r.word(decoded(part))
			r.say(decoded(part))
		case jsontext.KindBeginObject:
			if err := r.part(part); err != nil {
				return err
			}
		default:
			if err := r.value(part); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reading) part(raw jsontext.Value) error {
	f, err := readFields(raw)
	if err != nil {
		return err
	}
	switch text := f.get("text"); {
	case text.Kind() == jsontext.KindString:
		r.word("text")
		r.word(decoded(text))
		r.say(decoded(text))
		return r.marksOf(f)
	default:
		r.extra += simImageTokens
		return r.members(f, plain)
	}
}

func (r *reading) marksOf(f fields) error {
	if m := f.get("cache_control"); m != nil {
		return r.mark(m)
	}
	return nil
}
