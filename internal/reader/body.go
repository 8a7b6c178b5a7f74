package reader

import (
	"encoding/json"
	"fmt"
)

// Call is a tool call in body order.
type Call struct {
	ID   string
	Args map[string]any
}

// Result is the text of a tool result that has exactly one text part.
type Result struct {
	Call int // which call it answers, counted from 1; 0 if none
	Text string
}

// item is whatever may stand in a transcript.
type item struct {
	Role      string          `json:"role"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Output    json.RawMessage `json:"output"`
	CallID    string          `json:"call_id"`
	ToolID    string          `json:"tool_call_id"`
	UseID     string          `json:"tool_use_id"`
	ID        string          `json:"id"`
	Text      string          `json:"text"`
	Input     json.RawMessage `json:"input"`
	Arguments json.RawMessage `json:"arguments"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// transcript is a body's calls and results.
type transcript struct {
	calls   []Call
	results []Result
	open    map[string]int // the latest unanswered call of an id
}

// parse reads a body of any dialect.
func parse(body []byte) (*transcript, error) {
	var req struct {
		Messages, Input json.RawMessage
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	list := req.Messages
	if list == nil {
		list = req.Input
	}
	var items []item
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	t := &transcript{open: map[string]int{}}
	for _, it := range items {
		t.item(it)
	}
	return t, nil
}

func (t *transcript) item(it item) {
	switch {
	case it.Type == "function_call", it.Type == "custom_tool_call", it.Type == "local_shell_call":
		t.call(it.CallID, it.Arguments)
		return
	case it.Type == "function_call_output", it.Type == "custom_tool_call_output", it.Type == "local_shell_call_output":
		t.result(it.CallID, it.Output)
		return
	case it.Role == "tool":
		t.result(it.ToolID, it.Content)
		return
	}
	for _, c := range it.ToolCalls {
		t.call(c.ID, c.Function.Arguments)
	}
	var blocks []item
	if json.Unmarshal(it.Content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			t.call(b.ID, b.Input)
		case "tool_result":
			t.result(b.UseID, b.Content)
		}
	}
}

func (t *transcript) call(id string, args []byte) {
	c := Call{ID: id}
	var inner string
	if json.Unmarshal(args, &inner) == nil {
		args = []byte(inner) // JSON in a string
	}
	_ = json.Unmarshal(args, &c.Args) // arguments of custom tools are no object
	t.calls = append(t.calls, c)
	t.open[id] = len(t.calls)
}

func (t *transcript) result(id string, content json.RawMessage) {
	r := Result{Call: t.open[id]}
	delete(t.open, id)
	var parts []item
	if json.Unmarshal(content, &r.Text) != nil && json.Unmarshal(content, &parts) == nil && len(parts) == 1 {
		r.Text = parts[0].Text
	}
	t.results = append(t.results, r)
}

// Texts lists the texts of a body's results, in order.
func Texts(body []byte) (texts []string) {
	t, err := parse(body)
	if err != nil {
		return nil
	}
	for _, r := range t.results {
		texts = append(texts, r.Text)
	}
	return texts
}
