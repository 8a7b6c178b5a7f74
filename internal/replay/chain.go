package replay

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// coldMargin is added to the longest lifetime that a conversation asked for, in
// seconds: from then on its cache is known to have expired.
const coldMargin = 60

// Warmth compares what is forwarded on a turn with what was forwarded on the
// turn before, from the bodies alone. The zero value with a Wire is ready; it is
// not safe for concurrent use, and keeps the bodies of the last turn.
type Warmth struct {
	Wire promptcache.Wire

	seen    bool
	last    float64
	ttl     float64
	in, out []jsontext.Value
}

// Turn takes the bodies of the next turn, at a time in seconds, and returns how many blocks were
// forwarded differently than the turn before although the client sent the same,
// and whether the turn is cold; a cold turn may change anything.
func (w *Warmth) Turn(received, forwarded []byte, at float64) (rewritten int, cold bool) {
	in, out := promptGroups(received), promptGroups(forwarded)
	w.ttl = max(w.ttl, lifetime(w.Wire, received))
	cold = w.seen && at-w.last >= w.ttl+coldMargin
	if w.seen && !cold {
		for i := range min(len(in), len(out), len(w.in), len(w.out)) {
			if !sameBlocks(in[i], w.in[i]) {
				break // the client changed it: what follows is written anew anyway
			}
			rewritten += differing(out[i], w.out[i])
		}
	}
	w.seen, w.last, w.in, w.out = true, at, in, out
	return rewritten, cold
}

// lifetime is the longest cache lifetime that a body asks for, in seconds.
// OpenAI's cache can't be asked: five minutes is what its documentation promises
// at least. The simulator, which must not flatter, lets it live for the hour
// that it promises at most, so what is rewritten in between is billed in full.
func lifetime(w promptcache.Wire, body []byte) float64 {
	if w == promptcache.WireAnthropic && bytes.Contains(body, []byte(`"ttl":"1h"`)) {
		return 3600
	}
	return 300
}

// promptGroups returns the raw parts of a body in prompt order: tools, system,
// then each message. A part that is missing is empty.
func promptGroups(body []byte) []jsontext.Value {
	members, err := readRaw(body)
	if err != nil {
		return nil
	}
	groups := make([]jsontext.Value, 2)
	var messages []jsontext.Value
	for _, m := range members {
		switch m.name {
		case "tools":
			groups[0] = m.value
		case "system", "instructions":
			groups[1] = m.value
		case "messages", "input":
			if messages, err = list(m.value); err != nil {
				return nil
			}
		}
	}
	return append(groups, messages...)
}

// differing counts the blocks of two groups that differ, position by position.
func differing(a, b jsontext.Value) int {
	if bytes.Equal(a, b) {
		return 0
	}
	x, y := canonicalBlocks(a), canonicalBlocks(b)
	n := max(len(x), len(y)) - min(len(x), len(y))
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			n++
		}
	}
	return n
}

func sameBlocks(a, b jsontext.Value) bool { return differing(a, b) == 0 }

// canonicalBlocks returns a group's blocks without breakpoints, each with the
// role or other members of its message; a string is one text block.
func canonicalBlocks(group jsontext.Value) []string {
	switch group.Kind() {
	case jsontext.KindString:
		return []string{textBlock(group)}
	case jsontext.KindBeginArray:
		blocks, err := list(group)
		if err != nil {
			return []string{string(group)}
		}
		return canonicalList(blocks)
	case jsontext.KindBeginObject:
		return canonicalMessage(group)
	}
	return []string{string(group)}
}

func textBlock(text jsontext.Value) string { return `"type":"text","text":` + string(text) + `,` }

func canonicalMessage(msg jsontext.Value) []string {
	members, err := readRaw(msg)
	if err != nil {
		return []string{string(msg)}
	}
	var rest []byte
	var blocks []string
	for _, m := range members {
		switch {
		case m.name == "cache_control":
		case m.name == "content" && (m.value.Kind() == jsontext.KindString || m.value.Kind() == jsontext.KindBeginArray):
			blocks = canonicalBlocks(m.value)
		default:
			rest = appendMember(rest, m)
		}
	}
	if blocks == nil {
		return []string{string(rest)}
	}
	for i := range blocks {
		blocks[i] = string(rest) + blocks[i]
	}
	return blocks
}

func canonicalList(blocks []jsontext.Value) []string {
	out := make([]string, len(blocks))
	for i, b := range blocks {
		if b.Kind() != jsontext.KindBeginObject {
			out[i] = string(b)
			continue
		}
		out[i] = canonicalBlock(b)
	}
	return out
}

func canonicalBlock(block jsontext.Value) string {
	members, err := readRaw(block)
	if err != nil {
		return string(block)
	}
	var out []byte
	for _, m := range members {
		switch {
		case m.name == "cache_control":
		case m.name == "content" && m.value.Kind() == jsontext.KindBeginArray:
			inner := canonicalBlocks(m.value)
			out = append(out, `"content":`...)
			for _, s := range inner {
				out = append(append(out, s...), ';')
			}
		case m.name == "content" && m.value.Kind() == jsontext.KindString:
			out = append(append(append(out, `"content":`...), textBlock(m.value)...), ';')
		default:
			out = appendMember(out, m)
		}
	}
	return string(out)
}

func appendMember(out []byte, m member) []byte {
	out, _ = jsontext.AppendQuote(out, m.name) // errors only about invalid UTF-8, which it replaces
	return append(append(append(out, ':'), m.value...), ',')
}

// readRaw returns an object's members as they stand in it.
func readRaw(raw jsontext.Value) ([]member, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var all []member
	for dec.PeekKind() != jsontext.KindEndObject {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := tok.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		all = append(all, member{name, slices.Clip(v)})
	}
	return all, nil
}

// list returns the elements of an array, or a lone value as the only one.
func list(raw jsontext.Value) ([]jsontext.Value, error) {
	if raw.Kind() != jsontext.KindBeginArray {
		return []jsontext.Value{raw}, nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var all []jsontext.Value
	for dec.PeekKind() != jsontext.KindEndArray {
		v, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		all = append(all, slices.Clip(v))
	}
	return all, nil
}
