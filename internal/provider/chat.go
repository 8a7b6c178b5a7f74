package provider

import (
	"fmt"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

func (ex *exchange) serveChat() error {
	var req chatRequest
	var found violations
	if found.decode(ex.body, &req) {
		req.validate(&found)
	}
	if err := ex.refuse(found); err != nil {
		return err
	}
	if req.Model == "" {
		return badRequest("model", "you must provide a model parameter")
	}
	u, err := ex.bill(ex.body)
	if err != nil {
		return err
	}
	a := ex.p.answer(req.rounds(), req.callable(), true)
	u.Output = ex.p.outputTokens(a, false)
	ex.record.Usage = u
	c := &chatAnswer{ex: ex, model: req.Model, answer: a, usage: u}
	if req.Stream {
		c.stream(req.StreamOptions.IncludeUsage)
	} else {
		c.whole()
	}
	return nil
}

func (r *chatRequest) rounds() int {
	n := 0
	for i, m := range r.Messages {
		if m.Role == roleAssistant && (i == 0 || r.Messages[i-1].Role != roleAssistant) {
			n++
		}
	}
	return n
}

func (r *chatRequest) callable() []tool {
	if string(r.ToolChoice) == `"none"` {
		return nil
	}
	var all []tool
	for _, t := range r.Tools {
		if t.Type == "function" {
			all = append(all, tool{name: t.Function.Name, schema: t.Function.Parameters})
		}
	}
	return all
}

// chatAnswer is an answer in the shape of Chat Completions.
type chatAnswer struct {
	ex     *exchange
	model  string
	answer Answer
	usage  promptcache.Usage
}

func (c *chatAnswer) finish() string {
	if len(c.answer.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (c *chatAnswer) envelope(kind string, choices []object, usage any) object {
	return object{
		{"id", c.ex.id("chatcmpl-", "completion")},
		{"object", kind},
		{"created", c.ex.p.cfg.Now().Unix()},
		{"model", c.model},
		{"choices", choices},
		{"usage", usage},
		{"service_tier", "default"},
		{"system_fingerprint", nil},
	}
}

func (c *chatAnswer) usageObject() object {
	u := c.usage
	return object{
		{"prompt_tokens", u.Input()},
		{"completion_tokens", u.Output},
		{"total_tokens", u.Input() + u.Output},
		{"prompt_tokens_details", object{{"cached_tokens", u.Read}, {"audio_tokens", 0}}},
		{"completion_tokens_details", object{{"reasoning_tokens", 0}, {"audio_tokens", 0}, {"accepted_prediction_tokens", 0}, {"rejected_prediction_tokens", 0}}},
	}
}

func (c *chatAnswer) call(i int) object {
	call := c.answer.Calls[i]
	return object{
		{"id", c.ex.id("call_", fmt.Sprint(i))},
		{"type", "function"},
		{"function", object{{"name", call.Name}, {"arguments", call.Input}}},
	}
}

func (c *chatAnswer) whole() {
	message := object{{"role", roleAssistant}, {"content", nullable(c.answer.Text)}, {"refusal", nil}}
	if len(c.answer.Calls) > 0 {
		var calls []object
		for i := range c.answer.Calls {
			calls = append(calls, c.call(i))
		}
		message = append(message, pair{"tool_calls", calls})
	}
	choice := object{{"index", 0}, {"message", message}, {"logprobs", nil}, {"finish_reason", c.finish()}}
	c.ex.json(200, c.envelope("chat.completion", []object{choice}, c.usageObject()))
}

func (c *chatAnswer) stream(usage bool) {
	s := c.ex.startStream()
	defer s.close()
	send := func(delta object, finish any) {
		choice := object{{"index", 0}, {"delta", delta}, {"logprobs", nil}, {"finish_reason", finish}}
		s.event("", c.envelope("chat.completion.chunk", []object{choice}, nil))
	}
	send(object{{"role", roleAssistant}, {"content", ""}, {"refusal", nil}}, nil)
	if c.answer.Text != "" {
		for _, p := range pieces(c.answer.Text) {
			send(object{{"content", p}}, nil)
		}
	}
	for i, call := range c.answer.Calls {
		first := append(object{{"index", i}}, c.call(i)...)
		first[3].value = object{{"name", call.Name}, {"arguments", ""}}
		send(object{{"tool_calls", []object{first}}}, nil)
		for _, p := range pieces(call.Input) {
			send(object{{"tool_calls", []object{{{"index", i}, {"function", object{{"arguments", p}}}}}}}, nil)
		}
	}
	send(object{}, c.finish())
	if usage {
		s.event("", c.envelope("chat.completion.chunk", []object{}, c.usageObject()))
	}
	s.event("", "[DONE]")
}
