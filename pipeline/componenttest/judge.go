package componenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Elements are a body's elements in a canonical form: cache breakpoints are left
// out, and a string content equals one text block.
type Elements struct {
	// System is the system prompt; a split block is the same text.
	System string
	// Chain is what rewrites may depend on: tools and options, then the messages.
	Chain []string
}

// Read reads a body with encoding/json.
func Read(d transcript.Dialect, body []byte) (Elements, error) {
	var req map[string]any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&req); err != nil {
		return Elements{}, err
	}
	list := "messages"
	if d == transcript.OpenAIResponses {
		list = "input"
	}
	messages, _ := req[list].([]any)
	e := Elements{System: canonical([]any{joinedSystem(req["system"]), req["instructions"]})}
	e.Chain = append(e.Chain, canonical([]any{req["tools"], req["context_management"], req["truncation"]}))
	for _, m := range messages {
		e.Chain = append(e.Chain, canonical(m))
	}
	return e, nil
}

// joinedSystem is the text of the system blocks: a split block is the same text.
func joinedSystem(v any) any {
	blocks, ok := v.([]any)
	if !ok {
		return v
	}
	var b strings.Builder
	for _, x := range blocks {
		m, _ := x.(map[string]any)
		s, _ := m["text"].(string)
		b.WriteString(s)
	}
	return b.String()
}

func canonical(v any) string {
	raw, _ := json.Marshal(strip(v, true)) // what was decoded encodes
	return string(raw)
}

// strip leaves out breakpoints; the content of a message becomes a list.
func strip(v any, message bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			switch {
			case k == "cache_control" || k == "cachePoint":
			case k == "content" && message:
				if s, ok := x.(string); ok {
					x = []any{map[string]any{"type": "text", "text": s}}
				}
				out[k] = strip(x, false)
			default:
				out[k] = strip(x, false)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = strip(x, false)
		}
		return out
	}
	return v
}

// token is one JSON token with the bytes it stands in and the bytes before it.
type token struct {
	gap, raw string
	str      bool
}

// tokensOf reads a body token by token.
func tokensOf(body []byte) ([]token, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var out []token
	at := 0
	for {
		t, err := dec.Token()
		if err == io.EOF {
			return append(out, token{gap: string(body[at:])}), nil
		}
		if err != nil {
			return nil, err
		}
		end := int(dec.InputOffset())
		_, isStr := t.(string)
		raw := body[at:end]
		start := 0
		for start < len(raw) && strings.IndexByte(" \t\r\n,:", raw[start]) >= 0 {
			start++
		}
		out = append(out, token{gap: string(raw[:start]), raw: string(raw[start:]), str: isStr})
		at = end
	}
}

// Edits compares two bodies and returns the raw strings that differ, as pairs.
// Anything else that differs is an error: the bytes outside an edited string
// must be the same.
// A split of one system block in two is the exception: the system prompt is left
// out of the comparison, and compared as a text elsewhere.
func Edits(d transcript.Dialect, in, out []byte) ([][2]string, error) {
	if d == transcript.Anthropic {
		in, out = withoutSystem(in), withoutSystem(out)
	}
	a, err := tokensOf(in)
	if err != nil {
		return nil, fmt.Errorf("the received body: %w", err)
	}
	b, err := tokensOf(out)
	if err != nil {
		return nil, fmt.Errorf("the forwarded body: %w", err)
	}
	if len(a) != len(b) {
		return nil, fmt.Errorf("%d tokens became %d", len(a), len(b))
	}
	var edits [][2]string
	for i := range a {
		switch {
		case a[i] == b[i]:
		case a[i].gap != b[i].gap || !a[i].str || !b[i].str:
			return nil, fmt.Errorf("token %d: %.80q became %.80q", i, a[i].gap+a[i].raw, b[i].gap+b[i].raw)
		default:
			edits = append(edits, [2]string{a[i].raw, b[i].raw})
		}
	}
	return edits, nil
}

// resultTexts are the decoded texts of all tool results of a body, by
// encoding/json alone: only they may be edited.
func resultTexts(d transcript.Dialect, body []byte) (map[string]bool, error) {
	var req map[string]any
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	add := func(v any) {
		switch v := v.(type) {
		case string:
			out[v] = true
		case []any:
			for _, x := range v {
				if m, ok := x.(map[string]any); ok {
					if s, ok := m["text"].(string); ok {
						out[s] = true
					}
				}
			}
		}
	}
	list, _ := req["messages"].([]any)
	if d == transcript.OpenAIResponses {
		list, _ = req["input"].([]any)
	}
	for _, x := range list {
		m, _ := x.(map[string]any)
		typ, _ := m["type"].(string)
		switch {
		case m["role"] == "tool":
			add(m["content"])
		case strings.HasSuffix(typ, "_call_output"):
			add(m["output"])
		case m["role"] == "user":
			blocks, _ := m["content"].([]any)
			for _, b := range blocks {
				if r, ok := b.(map[string]any); ok && r["type"] == "tool_result" {
					add(r["content"])
				}
			}
		}
	}
	return out, nil
}

// withoutSystem cuts the value of the top-level key "system" out of a body.
func withoutSystem(body []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	if _, err := dec.Token(); err != nil {
		return body
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return body
		}
		from := dec.InputOffset()
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return body
		}
		if key == "system" {
			cut := bytes.Clone(body[:from])
			return append(append(cut, ":null"...), body[dec.InputOffset():]...)
		}
	}
	return body
}
