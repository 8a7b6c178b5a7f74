package transcript

// Dialect is the shape of a request body. It is told by path and body, never by
// the provider's name, so that Bedrock and Vertex bodies in Anthropic's shape
// are treated like Anthropic's own.
type Dialect string

// The dialects that trimtab understands. None is the zero value: not ours.
const (
	None            Dialect = ""
	Anthropic       Dialect = "anthropic"
	OpenAIChat      Dialect = "openai-chat"
	OpenAIResponses Dialect = "openai-responses"
)

// Span is a half-open range of byte offsets in the body.
type Span struct{ Start, End int }

// Len is the number of bytes in the span.
func (s Span) Len() int { return s.End - s.Start }

// Transcript is one request body, located but not decoded: every part keeps its
// byte span in Body. It is immutable once parsed and safe for concurrent reads.
type Transcript struct {
	Dialect Dialect
	Body    []byte

	Model  string
	Stream bool

	// System holds the blocks of the system prompt (Anthropic `system`,
	// Responses `instructions`). Chat keeps its system prompt in Messages.
	System []Block
	// Tools are the declarations, in order.
	Tools []Tool
	// Messages are the messages, or for Responses the input items, in order.
	Messages []Message
	// Calls are the client-executed calls in body order; Calls[i].Ordinal is i+1.
	Calls []Call
	// Results are the tool results in body order.
	Results []Result

	// Hints name the conversation, where the client says it.
	Hints Hints
	// ProviderEdits says that the provider itself may drop earlier content
	// (Anthropic context_management of more than thinking, Responses truncation
	// auto or previous_response_id), so that nothing may point at it.
	ProviderEdits bool
	// PreviousResponse says that earlier items are held by the provider.
	PreviousResponse bool

	messagesSpan Span
	toolsSpan    Span
	systemSpan   Span
	options      []option // other members that change what a rewrite may do
	automatic    []Span   // top-level cache_control members
	longs        longs
	seen         *Seen // whose digests longs has; nil: it has none
}

// option is a member of the request that is part of the input chain.
type option struct {
	key   string
	value Span
}

// Hints are what a client says of the conversation's identity. The texts are
// the client's and are hashed before they are kept.
type Hints struct {
	Session        string // metadata.user_id's session
	TaskID         string // metadata.taskId
	PromptCacheKey string // prompt_cache_key
	FirstUser      []byte // the first user text, raw, without reminders and marks
}

// Tool is one declaration.
type Tool struct {
	Name string
	Span Span
	// Type is its type, which names the tools that a provider defines itself.
	Type string
}

// Message is one message, or one input item of Responses.
type Message struct {
	Role   string
	Span   Span
	Blocks []Block
	// Marks are cache breakpoints on the message itself (see Block.Marks).
	Marks []Span

	contentSpan Span // the value that holds the blocks
}

// Block is one content block of a message or of the system prompt. A string
// content is one text block.
type Block struct {
	Type string // "text", "tool_use", "tool_result", "thinking", ... as on the wire
	Span Span   // the block's JSON value
	Text Span   // the JSON string of a text block, quotes included; empty otherwise
	// Marks are the spans of its cache_control and cachePoint members, each
	// with one of its commas, nested ones included.
	Marks []Span
	// TTL1h says that one of the marks asks for the one-hour cache.
	TTL1h bool
	// Bare says that the block is a string where an array could stand.
	Bare bool
}

// Call is one tool call that the client executes.
type Call struct {
	Ordinal int    // 1-based, counting client-executed calls in body order
	ID      string // pairs it with its result
	Name    string
	Message int // index in Transcript.Messages
	// Args is the raw JSON of the arguments: an object (Anthropic), a string
	// that holds an object (OpenAI), or a plain string (custom tools).
	Args Span
	// Result is the index in Transcript.Results of its result, or -1.
	Result int
}

// Result is one tool result.
type Result struct {
	Message int // index in Transcript.Messages
	Block   int // index in that message's Blocks; -1: the message's whole content (Chat)
	Call    int // index in Transcript.Calls, or -1 if unpaired
	IsError bool
	// Mixed says that it has a part that is not text; it is left alone.
	Mixed bool
	// Texts are its text parts.
	Texts []Leaf

	id string // the call id it names
}

// Leaf is one JSON string in the body whose text may be edited.
type Leaf struct {
	Span Span // quotes included
}

// Arg is one string or number inside a call's arguments.
type Arg struct {
	// Name is the key it stands under; inside an array or object the nearest key.
	Name string
	// Path is where it stands: "content", "edits[0].newText", "command[2]".
	Path string
	// Text is the decoded string.
	Text string
	// Lossy says that Text is not an exact decoding (lone surrogates or bytes
	// that are not UTF-8 were replaced).
	Lossy bool
	// Literal says that it is no string but a number, true, false or null, and
	// Text is that literal as written. Only classify looks at literals: the line
	// range of a read stands in them. A literal is never an anchor, and takes no
	// place in LeafRef.Part, which counts strings.
	Literal bool
}
