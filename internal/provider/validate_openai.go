package provider

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatRequest is what the rules look at in a Chat Completions body.
type chatRequest struct {
	Model         string         `json:"model"`
	Stream        bool           `json:"stream"`
	StreamOptions streamOptions  `json:"stream_options"`
	Tools         []chatTool     `json:"tools"`
	ToolChoice    jsontext.Value `json:"tool_choice"`
	Messages      []chatMessage  `json:"messages"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string         `json:"name"`
		Parameters jsontext.Value `json:"parameters"`
	} `json:"function"`
}

type chatMessage struct {
	Role       string       `json:"role"`
	Content    listOrString `json:"content"`
	ToolCalls  []chatCall   `json:"tool_calls"`
	ToolCallID string       `json:"tool_call_id"`
}

type chatCall struct {
	ID string `json:"id"`
}

func (r *chatRequest) validate(found *violations) {
	if len(r.Messages) == 0 {
		found.add("messages", "messages", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
		return
	}
	var open []string // calls of the last assistant message that wait for an answer
	after := -1       // the message that made them
	for i, m := range r.Messages {
		where := fmt.Sprintf("messages.[%d]", i)
		m.validateContent(found, where)
		if m.Role == "tool" {
			open = m.answer(found, where, open, after)
			continue
		}
		unanswered(found, open, after)
		open, after = nil, -1
		if m.Role == roleAssistant && len(m.ToolCalls) > 0 {
			after = i
			for _, c := range m.ToolCalls {
				open = append(open, c.ID)
			}
		}
	}
	unanswered(found, open, after)
}

// answer takes the call that the message answers from those that wait.
func (m *chatMessage) answer(found *violations, where string, open []string, after int) []string {
	if after < 0 {
		found.add("tool_message_unasked", where, "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
		return open
	}
	for i, id := range open {
		if id == m.ToolCallID {
			return append(open[:i:i], open[i+1:]...)
		}
	}
	found.add("tool_message_id", where, "Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", m.ToolCallID)
	return open
}

func unanswered(found *violations, open []string, after int) {
	if len(open) == 0 {
		return
	}
	found.add("tool_calls_unanswered", fmt.Sprintf("messages.[%d].tool_calls", after), "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
}

func (m *chatMessage) validateContent(found *violations, where string) {
	switch m.Role {
	case roleSystem, "developer", roleUser, "tool", "function":
		if m.Content.missing() {
			found.add("content", where+".content", "Invalid value for 'content': expected a string, got null.")
		}
	case roleAssistant:
		if m.Content.missing() && len(m.ToolCalls) == 0 {
			found.add("content", where+".content", "Invalid value for 'content': expected a string, got null.")
		}
	default:
		found.add("role", where+".role", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)
	}
}

// responsesRequest is what the rules look at in a Responses body.
type responsesRequest struct {
	Model              string          `json:"model"`
	Stream             bool            `json:"stream"`
	Store              *bool           `json:"store"`
	Instructions       jsontext.Value  `json:"instructions"`
	Tools              []responsesTool `json:"tools"`
	ToolChoice         jsontext.Value  `json:"tool_choice"`
	Reasoning          jsontext.Value  `json:"reasoning"`
	Include            []string        `json:"include"`
	Input              listOrString    `json:"input"`
	PreviousResponseID string          `json:"previous_response_id"`
	ParallelToolCalls  *bool           `json:"parallel_tool_calls"`

	items []responsesItem
}

type responsesTool struct {
	Type       string         `json:"type"`
	Name       string         `json:"name"`
	Parameters jsontext.Value `json:"parameters"`

	raw jsontext.Value
}

// UnmarshalJSONFrom keeps the declaration as it came beside what is read of it.
func (t *responsesTool) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain responsesTool
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, (*plain)(t), lenient); err != nil {
		return err
	}
	t.raw = raw.Clone()
	return nil
}

type responsesItem struct {
	Type             string       `json:"type"`
	ID               string       `json:"id"`
	Role             string       `json:"role"`
	CallID           string       `json:"call_id"`
	Output           listOrString `json:"output"`
	EncryptedContent string       `json:"encrypted_content"`
}

// outputOf says which call an output answers.
var outputOf = map[string]string{
	"function_call_output":    "function_call",
	"custom_tool_call_output": "custom_tool_call",
	"local_shell_call_output": "local_shell_call",
}

// callNames are how the provider's errors call the calls.
var callNames = map[string]string{
	"function_call":    "function call",
	"custom_tool_call": "custom tool call",
	"local_shell_call": "local shell call",
}

// validate adds what the request breaks. held are the items that the provider
// keeps for previous_response_id; nil with such an id means that they are not
// known, and then outputs need no call here.
func (r *responsesRequest) validate(found *violations, held []responsesItem) {
	if r.Input.missing() {
		found.add("input", "input", "Missing required parameter: 'input'.")
		return
	}
	calls := map[string]int{} // type and id to how many wait
	for _, it := range held {
		if callNames[it.Type] != "" {
			calls[it.Type+" "+it.CallID]++
		} else if call := outputOf[it.Type]; call != "" {
			calls[call+" "+it.CallID]--
		}
	}
	r.items = make([]responsesItem, len(r.Input.list))
	blind := r.PreviousResponseID != "" && held == nil
	for i, raw := range r.Input.list {
		where := fmt.Sprintf("input[%d]", i)
		it := &r.items[i]
		if err := json.Unmarshal(raw, it, lenient); err != nil {
			found.add("item", where, "Invalid type for '%s': expected an input item.", where)
			continue
		}
		if callNames[it.Type] != "" {
			calls[it.Type+" "+it.CallID]++
		}
		call := outputOf[it.Type]
		if call == "" {
			continue
		}
		if it.Output.missing() {
			found.add("output", where+".output", "Missing required parameter: '%s.output'.", where)
		}
		if key := call + " " + it.CallID; calls[key] > 0 {
			calls[key]--
		} else if !blind {
			found.add("output_unasked", where, "No tool call found for %s output with call_id %s.", callNames[call], it.CallID)
		}
	}
	for i, it := range append(append([]responsesItem(nil), held...), r.items...) {
		if key := it.Type + " " + it.CallID; callNames[it.Type] != "" && calls[key] > 0 {
			calls[key]--
			found.add("call_unanswered", fmt.Sprintf("input[%d]", i-len(held)), "No tool output found for %s %s.", callNames[it.Type], it.CallID)
		}
	}
}
