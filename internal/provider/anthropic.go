package provider

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// readMessages decodes and validates a Messages body.
func (ex *exchange) readMessages() (*anthropicRequest, error) {
	if ex.r.Header.Get("Anthropic-Version") == "" {
		return nil, badRequest("", "anthropic-version: header is required")
	}
	var req anthropicRequest
	var found violations
	if found.decode(ex.body, &req) {
		req.validate(&found)
		if !ex.p.cfg.AnySignature {
			ex.p.verifyThinking(&req, &found)
		}
	}
	if err := ex.refuse(found); err != nil {
		return nil, err
	}
	if req.Model == "" {
		return nil, badRequest("", "model: Field required")
	}
	return &req, nil
}

// verifyThinking refuses thinking that was changed since it was signed. In the
// latest assistant turn the provider says so, earlier it calls the signature wrong.
func (p *Provider) verifyThinking(req *anthropicRequest, found *violations) {
	turns := req.turns()
	latest := -1
	for i, t := range turns {
		if t.role == roleAssistant {
			latest = i
		}
	}
	for i, t := range turns {
		for _, b := range t.blocks {
			switch {
			case b.Type != "thinking" || b.Signature == p.signature(b.Thinking):
			case i == latest:
				found.add("thinking_altered", b.where, "%s: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", b.where)
			default:
				found.add("thinking_signature", b.where, "%s: Invalid `signature` in `thinking` block", b.where)
			}
		}
	}
}

func (ex *exchange) serveCountTokens() error {
	if _, err := ex.readMessages(); err != nil {
		return err
	}
	n, err := ex.p.counter.Tokens(ex.wire, ex.body)
	if err != nil {
		return badRequest("", "the body can't be read")
	}
	ex.record.Usage = promptcache.Usage{Fresh: n, Known: true}
	ex.json(200, object{{"input_tokens", n}})
	return nil
}

func (ex *exchange) serveMessages() error {
	req, err := ex.readMessages()
	if err != nil {
		return err
	}
	if req.MaxTokens == nil || *req.MaxTokens < 1 {
		return badRequest("", "max_tokens: Field required")
	}
	u, err := ex.bill(ex.body)
	if err != nil {
		return err
	}
	thinks := req.Thinking != nil && req.Thinking.Type != "disabled"
	a := ex.p.answer(req.rounds(), req.callable(), req.parallel())
	u.Output = ex.p.outputTokens(a, thinks)
	ex.record.Usage = u
	m := &messagesAnswer{ex: ex, model: req.Model, answer: a, usage: u}
	m.makeBlocks(thinks)
	if req.Stream {
		m.stream()
	} else {
		ex.json(200, m.message(m.blocks, m.stopReason(), u.Output))
	}
	return nil
}

// rounds is how many turns the assistant has had.
func (r *anthropicRequest) rounds() int {
	n := 0
	for _, t := range r.turns() {
		if t.role == roleAssistant {
			n++
		}
	}
	return n
}

func (r *anthropicRequest) callable() []tool {
	if r.ToolChoice != nil && r.ToolChoice.Type == "none" {
		return nil
	}
	var all []tool
	for _, t := range r.Tools {
		forced := r.ToolChoice != nil && r.ToolChoice.Type == "tool" && r.ToolChoice.Name != t.Name
		if t.Type != "" && t.Type != "custom" || forced {
			continue // a server tool is none of the client's
		}
		all = append(all, tool{name: t.Name, schema: t.InputSchema})
	}
	return all
}

func (r *anthropicRequest) parallel() bool {
	return r.ToolChoice == nil || !r.ToolChoice.DisableParallelToolUse
}

// messagesAnswer is an answer in Anthropic's shape.
type messagesAnswer struct {
	ex     *exchange
	model  string
	answer Answer
	usage  promptcache.Usage
	blocks []object
}

func (m *messagesAnswer) makeBlocks(thinks bool) {
	a := m.answer
	if thinks && a.Thinking != "" {
		m.blocks = append(m.blocks, object{{"type", "thinking"}, {"thinking", a.Thinking}, {"signature", m.ex.p.signature(a.Thinking)}})
	}
	if a.Text != "" {
		m.blocks = append(m.blocks, object{{"type", "text"}, {"text", a.Text}})
	}
	for i, c := range a.Calls {
		m.blocks = append(m.blocks, object{
			{"type", "tool_use"}, {"id", m.ex.id("toolu_", fmt.Sprint(i))}, {"name", c.Name}, {"input", jsontext.Value(c.Input)},
		})
	}
}

func (m *messagesAnswer) stopReason() string {
	if len(m.answer.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (m *messagesAnswer) message(blocks []object, stop any, output int) object {
	u := m.usage
	if blocks == nil {
		blocks = []object{}
	}
	return object{
		{"id", m.ex.id("msg_", "message")},
		{"type", "message"},
		{"role", roleAssistant},
		{"model", m.model},
		{"content", blocks},
		{"stop_reason", stop},
		{"stop_sequence", nil},
		{"usage", object{
			{"input_tokens", u.Fresh},
			{"cache_creation_input_tokens", u.Write5m + u.Write1h},
			{"cache_read_input_tokens", u.Read},
			{"cache_creation", object{{"ephemeral_5m_input_tokens", u.Write5m}, {"ephemeral_1h_input_tokens", u.Write1h}}},
			{"output_tokens", output},
			{"service_tier", "standard"},
		}},
	}
}

func (m *messagesAnswer) stream() {
	s := m.ex.startStream()
	defer s.close()
	s.event("message_start", object{{"type", "message_start"}, {"message", m.message(nil, nil, 1)}})
	for i, b := range m.blocks {
		m.streamBlock(s, i, b)
		if i == 0 {
			s.event("ping", object{{"type", "ping"}})
		}
	}
	s.event("message_delta", object{
		{"type", "message_delta"},
		{"delta", object{{"stop_reason", m.stopReason()}, {"stop_sequence", nil}}},
		{"usage", object{{"output_tokens", m.usage.Output}}},
	})
	s.event("message_stop", object{{"type", "message_stop"}})
}

func (m *messagesAnswer) streamBlock(s *stream, i int, b object) {
	start := append(object(nil), b...)
	var deltas []object
	switch b[0].value {
	case "thinking":
		start[1].value, start[2].value = "", ""
		for _, p := range pieces(b[1].value.(string)) {
			deltas = append(deltas, object{{"type", "thinking_delta"}, {"thinking", p}})
		}
		deltas = append(deltas, object{{"type", "signature_delta"}, {"signature", b[2].value}})
	case "text":
		start[1].value = ""
		for _, p := range pieces(b[1].value.(string)) {
			deltas = append(deltas, object{{"type", "text_delta"}, {"text", p}})
		}
	case "tool_use":
		start[3].value = object{}
		for _, p := range append([]string{""}, pieces(string(b[3].value.(jsontext.Value)))...) {
			deltas = append(deltas, object{{"type", "input_json_delta"}, {"partial_json", p}})
		}
	}
	s.event("content_block_start", object{{"type", "content_block_start"}, {"index", i}, {"content_block", start}})
	for _, d := range deltas {
		s.event("content_block_delta", object{{"type", "content_block_delta"}, {"index", i}, {"delta", d}})
	}
	s.event("content_block_stop", object{{"type", "content_block_stop"}, {"index", i}})
}
