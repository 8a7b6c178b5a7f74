package pipeline

import (
	"time"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Request is one client request whose body was read whole.
type Request struct {
	// Path is the request's path without the query.
	Path string
	// AnthropicVersion says that the anthropic-version header is present.
	AnthropicVersion bool
	// Tenant comes from trusted metadata of the proxy; empty: one tenant.
	Tenant string
	// Profile names the profile; empty: the default profile.
	Profile string
	// Session and Agent are the trusted ids of the conversation and of a
	// subagent, from headers; empty if absent.
	Session, Agent string
	// Bypass asks for the request to go out as it came.
	Bypass bool
	// Body is the decoded body. The engine neither changes nor keeps it.
	Body []byte
	// Now is when the request arrived.
	Now time.Time
}

// Reason is the named reason why a request was forwarded as it came, or why a
// component did nothing. Reasons are metric labels: stable and bounded.
type Reason string

// The reasons for which the engine forwards a request as it came.
const (
	Rewritten       Reason = "" // it was rewritten
	NothingToDo     Reason = "nothing_to_shorten"
	NoToolOutput    Reason = "no_tool_output"
	NotLLM          Reason = "not_llm_path"
	BadJSON         Reason = "parse"
	UnknownShape    Reason = "unknown_shape"
	Bypassed        Reason = "bypass"
	ModeOff         Reason = "profile_off"
	UnknownProfile  Reason = "unknown_profile"
	HeldOut         Reason = "holdout"
	ObserveOnly     Reason = "observe"
	DeadlinePassed  Reason = "deadline"
	NoGeneration    Reason = "generation_limit"
	OutputInvalid   Reason = "output_check"
	EnginePanicked  Reason = "panic"
	TooLarge        Reason = "too_large"
	PartialBody     Reason = "partial_body"
	UnknownEncoding Reason = "encoding"
	NotPost         Reason = "not_post"
	Signed          Reason = "signed_body" // the client signed the body: another one would be refused
	Overloaded      Reason = "bytes_in_flight"
)

// ComponentReport is what one component did to one request.
type ComponentReport struct {
	Name string
	// Edits is the number of blocks it changed; Replayed, how many of those were
	// known from an earlier turn.
	Edits, Replayed int
	// SavedTokens and SavedBytes are estimates over all its edits of this request.
	SavedTokens, SavedBytes int
	// FirstSavedTokens is the part of SavedTokens on blocks not forwarded before.
	FirstSavedTokens int
	// Gates counts its declines by name.
	Gates map[Gate]int
}

// Report says what happened to one request, in numbers, codes and hashed ids.
// It holds no text of the transcript.
type Report struct {
	Dialect transcript.Dialect
	Model   string
	Stream  bool
	Profile string
	Reason  Reason // empty if rewritten
	// Conversation is a keyed hash, stable per install secret; Thread tells the
	// threads of a conversation apart within one process.
	Conversation, Thread string
	Generation           string // of the effective configuration, shortened
	Arm                  string // "treated", "holdout" or "observe"
	TokensBefore         int    // estimate over the whole body
	TokensAfter          int
	BytesBefore          int
	BytesAfter           int
	Messages             int
	Results              int
	Cold                 bool
	Components           []ComponentReport
	// Violations counts changed bytes in the cached prefix without a counted
	// cause, by the component whose edits differ first. It must stay empty.
	Violations map[string]int
	// Rewrites counts blocks rewritten in a warm prefix for a counted cause:
	// "adopted" (a conversation under way that was not known: after an install, or
	// a restart), "passthrough", "deadline", "decision".
	Rewrites map[string]int
	// Outcomes are what the agent did, for a comparison of the arms.
	Outcomes Outcomes
	Engine   time.Duration
}
