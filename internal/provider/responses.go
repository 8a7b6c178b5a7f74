package provider

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// mostHeld is how many responses are kept for previous_response_id.
const mostHeld = 1000

// heldResponses are the transcripts that clients may continue by id.
type heldResponses struct {
	items map[string][]jsontext.Value
	order []string
}

func (h *heldResponses) put(id string, items []jsontext.Value) {
	if h.items == nil {
		h.items = make(map[string][]jsontext.Value)
	}
	if _, ok := h.items[id]; !ok {
		h.order = append(h.order, id)
	}
	h.items[id] = items
	if len(h.order) > mostHeld {
		delete(h.items, h.order[0])
		h.order = h.order[1:]
	}
}

func (ex *exchange) serveResponses() error {
	req, items, err := ex.readResponses()
	if err != nil {
		return err
	}
	u, err := ex.bill(req.wholeBody(items))
	if err != nil {
		return err
	}
	reasons := req.Reasoning.Kind() == jsontext.KindBeginObject
	a := ex.p.answer(rounds(items), req.callable(), req.ParallelToolCalls == nil || *req.ParallelToolCalls)
	u.Output = ex.p.outputTokens(a, reasons)
	ex.record.Usage = u
	r := &responsesAnswer{ex: ex, req: req, answer: a, usage: u}
	r.makeItems(reasons)
	if req.Store == nil || *req.Store {
		for _, it := range r.items {
			items = append(items, encode(it.whole))
		}
		ex.p.mu.Lock()
		ex.p.held.put(r.id(), items)
		ex.p.mu.Unlock()
	}
	if req.Stream {
		r.stream()
	} else {
		ex.json(200, r.response("completed", true))
	}
	return nil
}

// readResponses decodes and validates a body, and returns the whole transcript,
// what the provider holds included.
func (ex *exchange) readResponses() (*responsesRequest, []jsontext.Value, error) {
	var req responsesRequest
	var found violations
	var items []jsontext.Value
	if found.decode(ex.body, &req) {
		if id := req.PreviousResponseID; id != "" {
			ex.p.mu.Lock()
			before, ok := ex.p.held.items[id]
			ex.p.mu.Unlock()
			if !ok {
				return nil, nil, &apiError{status: 400, param: "previous_response_id", code: "previous_response_not_found", message: fmt.Sprintf("Previous response with id '%s' not found.", id)}
			}
			items = slices.Clone(before)
		}
		held := make([]responsesItem, len(items))
		for i, raw := range items {
			_ = json.Unmarshal(raw, &held[i], lenient) // was read before
		}
		req.validate(&found, held)
		if !ex.p.cfg.AnySignature {
			ex.p.verifyReasoning(&req, &found)
		}
	}
	if err := ex.refuse(found); err != nil {
		return nil, nil, err
	}
	if req.Model == "" {
		return nil, nil, badRequest("model", "Missing required parameter: 'model'.")
	}
	if req.Input.isString() {
		items = append(items, encode(object{{"role", roleUser}, {"content", req.Input.text()}}))
	}
	return &req, append(items, req.Input.list...), nil
}

func (p *Provider) verifyReasoning(req *responsesRequest, found *violations) {
	for i, it := range req.items {
		if it.Type == "reasoning" && it.EncryptedContent != "" && !p.unsealed(it.EncryptedContent) {
			found.add("encrypted_content", fmt.Sprintf("input[%d]", i), "The encrypted content for item %s could not be verified.", it.ID)
		}
	}
}

// wholeBody is the request with the whole transcript in it, for the bill.
func (r *responsesRequest) wholeBody(items []jsontext.Value) []byte {
	body := object{{"model", r.Model}}
	if r.Instructions != nil {
		body = append(body, pair{"instructions", r.Instructions})
	}
	tools := make([]jsontext.Value, len(r.Tools))
	for i, t := range r.Tools {
		tools[i] = t.raw
	}
	return encode(append(body, pair{"tools", tools}, pair{"input", items}))
}

// rounds is how many times the model has spoken: runs of items that are its own.
func rounds(items []jsontext.Value) int {
	n, speaking := 0, false
	for _, raw := range items {
		var it responsesItem
		_ = json.Unmarshal(raw, &it, lenient) // was read before
		own := it.Role == roleAssistant || it.Role == "" && outputOf[it.Type] == ""
		if own && !speaking {
			n++
		}
		speaking = own
	}
	return n
}

func (r *responsesRequest) callable() []tool {
	if string(r.ToolChoice) == `"none"` {
		return nil
	}
	var all []tool
	for _, t := range r.Tools {
		if t.Type == "function" || t.Type == "custom" {
			all = append(all, tool{name: t.Name, schema: t.Parameters, custom: t.Type == "custom"})
		}
	}
	return all
}

// responsesAnswer is an answer in the shape of the Responses API.
type responsesAnswer struct {
	ex     *exchange
	req    *responsesRequest
	answer Answer
	usage  promptcache.Usage
	items  []outputItem
}

// outputItem is an item as it is when done, and the text that streams into it.
type outputItem struct {
	typ, id, text string
	whole         object
}

func (r *responsesAnswer) id() string { return r.ex.id("resp_", "response") }

func (r *responsesAnswer) makeItems(reasons bool) {
	a := r.answer
	if reasons && a.Thinking != "" {
		id := r.ex.id("rs_", "reasoning")
		it := object{{"id", id}, {"type", "reasoning"}, {"summary", []object{}}}
		if slices.Contains(r.req.Include, "reasoning.encrypted_content") {
			it = append(it, pair{"encrypted_content", r.ex.p.sealed(a.Thinking)})
		}
		r.items = append(r.items, outputItem{typ: "reasoning", id: id, whole: it})
	}
	if a.Text != "" {
		r.items = append(r.items, r.message("completed", a.Text))
	}
	for i := range a.Calls {
		r.items = append(r.items, r.call(i, "completed", a.Calls[i].Input))
	}
}

func (r *responsesAnswer) message(status, text string) outputItem {
	id := r.ex.id("msg_", "message")
	parts := []object{}
	if text != "" {
		parts = append(parts, outputText(text))
	}
	return outputItem{typ: "message", id: id, text: text, whole: object{
		{"id", id}, {"type", "message"}, {"status", status}, {"role", roleAssistant}, {"content", parts},
	}}
}

func outputText(text string) object {
	return object{{"type", "output_text"}, {"text", text}, {"annotations", []any{}}, {"logprobs", []any{}}}
}

func (r *responsesAnswer) call(i int, status, input string) outputItem {
	c := r.answer.Calls[i]
	typ, arg, id := "function_call", "arguments", r.ex.id("fc_", fmt.Sprint(i))
	if c.Custom {
		typ, arg, id = "custom_tool_call", "input", r.ex.id("ctc_", fmt.Sprint(i))
	}
	return outputItem{typ: typ, id: id, text: input, whole: object{
		{"id", id}, {"type", typ}, {"status", status}, {"call_id", r.ex.id("call_", fmt.Sprint(i))}, {"name", c.Name}, {arg, input},
	}}
}

func (r *responsesAnswer) response(status string, done bool) object {
	output, usage := []object{}, any(nil)
	if done {
		for _, it := range r.items {
			output = append(output, it.whole)
		}
		u := r.usage
		usage = object{
			{"input_tokens", u.Input()},
			{"input_tokens_details", object{{"cached_tokens", u.Read}}},
			{"output_tokens", u.Output},
			{"output_tokens_details", object{{"reasoning_tokens", 0}}},
			{"total_tokens", u.Input() + u.Output},
		}
	}
	return object{
		{"id", r.id()},
		{"object", "response"},
		{"created_at", r.ex.p.cfg.Now().Unix()},
		{"status", status},
		{"background", false},
		{"error", nil},
		{"incomplete_details", nil},
		{"instructions", r.req.Instructions},
		{"max_output_tokens", nil},
		{"model", r.req.Model},
		{"output", output},
		{"parallel_tool_calls", true},
		{"previous_response_id", nullable(r.req.PreviousResponseID)},
		{"reasoning", object{{"effort", nil}, {"summary", nil}}},
		{"store", r.req.Store == nil || *r.req.Store},
		{"temperature", 1},
		{"text", object{{"format", object{{"type", "text"}}}}},
		{"tool_choice", "auto"},
		{"tools", []any{}},
		{"top_p", 1},
		{"truncation", "disabled"},
		{"usage", usage},
		{"user", nil},
		{"metadata", object{}},
	}
}
