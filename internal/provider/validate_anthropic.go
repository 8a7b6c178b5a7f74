package provider

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// anthropicRequest is what the rules look at in a Messages body.
type anthropicRequest struct {
	Model        string             `json:"model"`
	MaxTokens    *int               `json:"max_tokens"`
	Stream       bool               `json:"stream"`
	System       listOrString       `json:"system"`
	Tools        []anthropicTool    `json:"tools"`
	ToolChoice   *toolChoice        `json:"tool_choice"`
	Thinking     *thinkingParam     `json:"thinking"`
	CacheControl *cacheControl      `json:"cache_control"`
	Messages     []anthropicMessage `json:"messages"`
}

type anthropicTool struct {
	Name         string         `json:"name"`
	Type         string         `json:"type"`
	InputSchema  jsontext.Value `json:"input_schema"`
	DeferLoading bool           `json:"defer_loading"`
	CacheControl *cacheControl  `json:"cache_control"`
}

type toolChoice struct {
	Type                   string `json:"type"`
	Name                   string `json:"name"`
	DisableParallelToolUse bool   `json:"disable_parallel_tool_use"`
}

type thinkingParam struct {
	Type string `json:"type"`
}

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

type anthropicMessage struct {
	Role    string       `json:"role"`
	Content listOrString `json:"content"`

	blocks []anthropicBlock
}

type anthropicBlock struct {
	Type         string        `json:"type"`
	Text         *string       `json:"text"`
	Thinking     string        `json:"thinking"`
	Signature    string        `json:"signature"`
	ID           string        `json:"id"`
	ToolUseID    string        `json:"tool_use_id"`
	Content      listOrString  `json:"content"`
	CacheControl *cacheControl `json:"cache_control"`

	where string
}

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// validate adds what the request breaks, and leaves the blocks decoded.
func (r *anthropicRequest) validate(found *violations) {
	if len(r.Messages) == 0 {
		found.add("messages", "messages", "messages: at least one message is required")
		return
	}
	marks := &breakpoints{found: found}
	r.validateTools(found, marks)
	for i, b := range decodeBlocks(found, "system", &r.System) {
		b.validate(found, marks, fmt.Sprintf("system.%d", i))
	}
	for i := range r.Messages {
		r.Messages[i].validate(found, marks, i, i == len(r.Messages)-1)
	}
	if r.CacheControl != nil {
		marks.add("cache_control", r.CacheControl)
	}
	marks.check()
	r.validatePairs(found)
	r.validateThinking(found)
}

func (r *anthropicRequest) validateTools(found *violations, marks *breakpoints) {
	names := map[string]bool{}
	for i, tool := range r.Tools {
		where := fmt.Sprintf("tools.%d", i)
		if names[tool.Name] {
			found.add("tool_names", where, "tools: Tool names must be unique.")
		}
		names[tool.Name] = true
		if tool.CacheControl == nil {
			continue
		}
		marks.add(where, tool.CacheControl)
		if tool.DeferLoading {
			found.add("breakpoint_deferred_tool", where, "%s: cache_control cannot be set for a tool with defer_loading", where)
		}
	}
}

func (m *anthropicMessage) validate(found *violations, marks *breakpoints, i int, last bool) {
	where := fmt.Sprintf("messages.%d", i)
	switch m.Role {
	case roleUser, roleAssistant, roleSystem:
	default:
		found.add("role", where, `%s: Unexpected role %q. Allowed roles are "user" or "assistant".`, where, m.Role)
	}
	m.blocks = decodeBlocks(found, where, &m.Content)
	empty := len(m.blocks) == 0 || m.Content.isString() && m.Content.text() == ""
	if empty && !(last && m.Role == roleAssistant) {
		found.add("empty_message", where, "%s: all messages must have non-empty content except for the optional final assistant message", where)
	}
	if m.Content.isString() {
		return
	}
	for j := range m.blocks {
		b := &m.blocks[j]
		b.validate(found, marks, fmt.Sprintf("%s.content.%d", where, j))
		if b.Type == "tool_result" && m.Role == roleAssistant || b.Type == "tool_use" && m.Role == roleUser {
			found.add("block_role", b.where, "%s: `%s` blocks are not allowed in messages of the role %q", b.where, b.Type, m.Role)
		}
	}
}

// decodeBlocks returns the blocks of a content; a string is one text block.
func decodeBlocks(found *violations, where string, content *listOrString) []anthropicBlock {
	switch {
	case content.isString():
		s := content.text()
		return []anthropicBlock{{Type: "text", Text: &s}}
	case content.missing():
		return nil
	case content.list == nil && content.raw.Kind() != jsontext.KindBeginArray:
		found.add("content", where, "%s.content: Input should be a valid list", where)
		return nil
	}
	blocks := make([]anthropicBlock, len(content.list))
	for i, raw := range content.list {
		if err := json.Unmarshal(raw, &blocks[i], lenient); err != nil {
			found.add("content", fmt.Sprintf("%s.content.%d", where, i), "%s.content.%d: Input should be a valid block", where, i)
		}
	}
	return blocks
}

func (b *anthropicBlock) validate(found *violations, marks *breakpoints, where string) {
	b.where = where
	if b.CacheControl != nil {
		marks.add(where, b.CacheControl)
	}
	switch b.Type {
	case "text":
		b.validateText(found)
	case "thinking", "redacted_thinking":
		if b.CacheControl != nil {
			found.add("breakpoint_on_thinking", where, "%s.%s.cache_control: Extra inputs are not permitted", where, b.Type)
		}
	case "tool_result":
		if b.Content.isString() || b.Content.missing() {
			return
		}
		for i, inner := range decodeBlocks(found, where, &b.Content) {
			inner.validate(found, marks, fmt.Sprintf("%s.content.%d", where, i))
		}
	case "":
		found.add("content", where, "%s.type: Field required", where)
	}
}

func (b *anthropicBlock) validateText(found *violations) {
	switch {
	case b.Text == nil:
		found.add("empty_text", b.where, "%s.text.text: Field required", b.where)
	case *b.Text == "" && b.CacheControl != nil:
		found.add("breakpoint_on_empty_text", b.where, "%s.text: cache_control cannot be set for empty text blocks", b.where)
	case *b.Text == "":
		found.add("empty_text", b.where, "%s: text content blocks must be non-empty", b.where)
	case strings.TrimSpace(*b.Text) == "":
		found.add("empty_text", b.where, "%s: text content blocks must contain non-whitespace text", b.where)
	}
}

// breakpoints collects cache_control marks in the order tools, system, messages.
type breakpoints struct {
	found *violations
	count int
	short bool // one of five minutes was seen
}

func (p *breakpoints) add(where string, c *cacheControl) {
	p.count++
	switch {
	case c.Type != "ephemeral":
		p.found.add("breakpoint_shape", where, "%s.cache_control.type: Input should be 'ephemeral'", where)
	case c.TTL == "1h" && p.short:
		p.found.add("breakpoint_order", where, "%s.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.", where)
	case c.TTL == "1h":
	case c.TTL == "" || c.TTL == "5m":
		p.short = true
	default:
		p.found.add("breakpoint_shape", where, "%s.cache_control.ttl: Input should be '5m' or '1h'", where)
	}
}

func (p *breakpoints) check() {
	const most = 4
	if p.count > most {
		p.found.add("breakpoint_budget", "", "A maximum of %d blocks with cache_control may be provided. Found %d.", most, p.count)
	}
}

// turn is a run of messages of one role: the provider takes them as one.
type turn struct {
	role   string
	first  int
	blocks []*anthropicBlock
}

func (r *anthropicRequest) turns() []turn {
	var all []turn
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role == roleSystem {
			continue
		}
		if len(all) == 0 || all[len(all)-1].role != m.Role {
			all = append(all, turn{role: m.Role, first: i})
		}
		t := &all[len(all)-1]
		for j := range m.blocks {
			t.blocks = append(t.blocks, &m.blocks[j])
		}
	}
	return all
}

// validatePairs: every tool_use is answered in the next turn, at its start, and
// nothing else is answered there.
func (r *anthropicRequest) validatePairs(found *violations) {
	turns := r.turns()
	seen := map[string]bool{}
	for i, t := range turns {
		where := fmt.Sprintf("messages.%d", t.first)
		var asked []string
		for _, b := range t.blocks {
			if t.role != roleAssistant || b.Type != "tool_use" {
				continue
			}
			if seen[b.ID] {
				found.add("tool_use_ids", b.where, "messages: `tool_use` ids must be unique")
			}
			seen[b.ID] = true
			asked = append(asked, b.ID)
		}
		answered := map[string]bool{}
		if i+1 < len(turns) {
			answered = turns[i+1].answers()
		}
		var open []string
		for _, id := range asked {
			if !answered[id] {
				open = append(open, id)
			}
		}
		if len(open) > 0 {
			found.add("tool_use_unanswered", where, "%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", where, strings.Join(open, ", "))
		}
		if t.role == roleUser {
			var before turn
			if i > 0 {
				before = turns[i-1]
			}
			t.validateResults(found, before)
		}
	}
}

func (t turn) answers() map[string]bool {
	ids := map[string]bool{}
	for _, b := range t.blocks {
		if b.Type == "tool_result" {
			ids[b.ToolUseID] = true
		}
	}
	return ids
}

func (t turn) validateResults(found *violations, before turn) {
	asked := map[string]bool{}
	for _, b := range before.blocks {
		if b.Type == "tool_use" {
			asked[b.ID] = true
		}
	}
	other, given := false, map[string]bool{}
	for _, b := range t.blocks {
		if b.Type != "tool_result" {
			other = true
			continue
		}
		switch {
		case !asked[b.ToolUseID]:
			found.add("tool_result_unasked", b.where, "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.where, b.ToolUseID)
		case given[b.ToolUseID]:
			found.add("tool_result_twice", b.where, "%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", b.where, b.ToolUseID)
		case other:
			found.add("tool_result_order", b.where, "%s: `tool_result` blocks must come before other blocks of their message", b.where)
		}
		given[b.ToolUseID] = true
	}
}

// validateThinking: in a tool loop with thinking on, the assistant's turn starts
// with its thinking.
func (r *anthropicRequest) validateThinking(found *violations) {
	if r.Thinking == nil || r.Thinking.Type != "enabled" {
		return
	}
	turns := r.turns()
	for i := len(turns) - 1; i >= 0; i-- {
		t := turns[i]
		if t.role != roleAssistant || len(t.blocks) == 0 {
			continue
		}
		calls := false
		for _, b := range t.blocks {
			calls = calls || b.Type == "tool_use"
		}
		if first := t.blocks[0]; calls && first.Type != "thinking" && first.Type != "redacted_thinking" {
			found.add("thinking_missing", first.where, "%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.", first.where, first.Type)
		}
		return
	}
}
