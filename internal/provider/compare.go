package provider

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// Altered returns what a rewriter must leave as it came, and forwarded does not
// have as received had it: the number, order, roles and types of messages and
// blocks, the ids that pair calls with results, and everything an assistant
// wrote, breakpoints aside. Providers refuse some of it (a changed thinking
// block) and silently misread the rest.
func Altered(w promptcache.Wire, received, forwarded []byte) []Violation {
	var found violations
	if bytes.Equal(received, forwarded) {
		return nil
	}
	before, ok := transcriptOf(w, received)
	after, ok2 := transcriptOf(w, forwarded)
	if !ok || !ok2 {
		if ok {
			found.add("json", "", "the body can no longer be read")
		}
		return found
	}
	if len(before) != len(after) {
		found.add("message_count", "", "%d messages became %d", len(before), len(after))
		return found
	}
	for i := range before {
		if !bytes.Equal(before[i], after[i]) {
			alteredMessage(&found, fmt.Sprintf("messages.%d", i), before[i], after[i])
		}
	}
	return found
}

func transcriptOf(w promptcache.Wire, body []byte) ([]jsontext.Value, bool) {
	var req struct {
		Messages listOrString `json:"messages"`
		Input    listOrString `json:"input"`
	}
	if err := json.Unmarshal(body, &req, lenient); err != nil {
		return nil, false
	}
	if w == promptcache.WireResponses {
		if req.Input.isString() {
			return []jsontext.Value{req.Input.raw}, true
		}
		return req.Input.list, true
	}
	return req.Messages.list, true
}

// outline is what must stay of a message or block whose text may change.
type outline struct {
	Type       string       `json:"type"`
	Role       string       `json:"role"`
	ID         string       `json:"id"`
	CallID     string       `json:"call_id"`
	ToolCallID string       `json:"tool_call_id"`
	ToolUseID  string       `json:"tool_use_id"`
	IsError    bool         `json:"is_error"`
	Content    listOrString `json:"content"`
	Output     listOrString `json:"output"`
}

func (o *outline) ids() [6]string {
	return [6]string{o.Type, o.Role, o.ID, o.CallID, o.ToolCallID, o.ToolUseID}
}

// mayChange says that the text inside is a tool's or, for string against block
// form, anyone's but the assistant's.
func (o *outline) mayChange() bool {
	switch {
	case o.Role == roleAssistant:
		return false
	case o.Role != "", o.Type == "tool_result", o.Type == "text", outputOf[o.Type] != "":
		return true
	}
	return false
}

func alteredMessage(found *violations, where string, before, after jsontext.Value) {
	if bytes.Equal(withoutMarks(before), withoutMarks(after)) {
		return
	}
	var b, a outline
	if json.Unmarshal(before, &b, lenient) != nil || json.Unmarshal(after, &a, lenient) != nil {
		found.add("unknown_altered", where, "%s: something unknown was changed", where)
		return
	}
	switch {
	case b.ids() != a.ids() || b.IsError != a.IsError:
		found.add("ids_altered", where, "%s: role, type or an id was changed", where)
	case !b.mayChange():
		found.add("assistant_altered", where, "%s: `thinking` or other blocks that only the assistant writes cannot be modified", where)
	default:
		alteredParts(found, where+".content", &b.Content, &a.Content)
		alteredParts(found, where+".output", &b.Output, &a.Output)
	}
}

func alteredParts(found *violations, where string, before, after *listOrString) {
	if before.isString() && after.isString() || before.missing() && after.missing() {
		return
	}
	if len(before.list) != len(after.list) || before.isString() != after.isString() {
		found.add("block_count", where, "%s: %d blocks became %d", where, len(before.list), len(after.list))
		return
	}
	for i := range before.list {
		if !bytes.Equal(before.list[i], after.list[i]) {
			alteredMessage(found, fmt.Sprintf("%s.%d", where, i), before.list[i], after.list[i])
		}
	}
}

// withoutMarks returns a value with every cache_control member of its objects,
// and of the blocks inside content lists, taken out.
func withoutMarks(v jsontext.Value) jsontext.Value {
	if v.Kind() != jsontext.KindBeginObject {
		return v
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return v
	}
	out := []byte{'{'}
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadValue()
		if err != nil {
			return v
		}
		name = slices.Clone(name)
		value, err := dec.ReadValue()
		if err != nil {
			return v
		}
		if string(name) == `"cache_control"` {
			continue
		}
		out = append(append(out, name...), ':')
		if string(name) == `"content"` && value.Kind() == jsontext.KindBeginArray {
			out = appendWithoutMarks(out, value)
		} else {
			out = append(out, value...)
		}
		out = append(out, ',')
	}
	return append(out, '}')
}

func appendWithoutMarks(out []byte, list jsontext.Value) []byte {
	var blocks []jsontext.Value
	if err := json.Unmarshal(list, &blocks, lenient); err != nil {
		return append(out, list...)
	}
	out = append(out, '[')
	for _, b := range blocks {
		out = append(append(out, withoutMarks(b)...), ',')
	}
	return append(out, ']')
}
