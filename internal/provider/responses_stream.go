package provider

// responsesStream numbers the events of one stream.
type responsesStream struct {
	*stream
	sequence int
}

func (s *responsesStream) send(typ string, members ...pair) {
	s.event(typ, append(object{{"type", typ}, {"sequence_number", s.sequence}}, members...))
	s.sequence++
}

func (r *responsesAnswer) stream() {
	s := &responsesStream{stream: r.ex.startStream()}
	defer s.close()
	s.send("response.created", pair{"response", r.response("in_progress", false)})
	s.send("response.in_progress", pair{"response", r.response("in_progress", false)})
	call := 0
	for i, it := range r.items {
		begun := it
		switch it.typ {
		case "message":
			begun = r.message("in_progress", "")
		case "function_call", "custom_tool_call":
			begun = r.call(call, "in_progress", "")
			call++
		}
		s.send("response.output_item.added", pair{"output_index", i}, pair{"item", begun.whole})
		s.streamItem(i, it)
		s.send("response.output_item.done", pair{"output_index", i}, pair{"item", it.whole})
	}
	s.send("response.completed", pair{"response", r.response("completed", true)})
}

func (s *responsesStream) streamItem(i int, it outputItem) {
	at := []pair{{"item_id", it.id}, {"output_index", i}}
	with := func(more ...pair) []pair { return append(append([]pair(nil), at...), more...) }
	switch it.typ {
	case "message":
		at = append(at, pair{"content_index", 0})
		s.send("response.content_part.added", with(pair{"part", outputText("")})...)
		for _, p := range pieces(it.text) {
			s.send("response.output_text.delta", with(pair{"delta", p}, pair{"logprobs", []any{}})...)
		}
		s.send("response.output_text.done", with(pair{"text", it.text}, pair{"logprobs", []any{}})...)
		s.send("response.content_part.done", with(pair{"part", outputText(it.text)})...)
	case "function_call":
		for _, p := range pieces(it.text) {
			s.send("response.function_call_arguments.delta", with(pair{"delta", p})...)
		}
		s.send("response.function_call_arguments.done", with(pair{"name", it.whole[4].value}, pair{"arguments", it.text})...)
	case "custom_tool_call":
		for _, p := range pieces(it.text) {
			s.send("response.custom_tool_call_input.delta", with(pair{"delta", p})...)
		}
		s.send("response.custom_tool_call_input.done", with(pair{"input", it.text})...)
	}
}
