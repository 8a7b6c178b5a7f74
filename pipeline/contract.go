package pipeline

import (
	"google.golang.org/protobuf/proto"

	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/store"
)

// Gate is the named reason why a component declined a candidate. The empty gate
// means that it acted. Gates are metric labels: lower case, underscores, stable.
type Gate string

// GateDoc documents one gate of a component.
type GateDoc struct {
	Name Gate
	Says string // one plain sentence for an operator
}

// Keeps says what a component keeps after the exchange, at level everything.
type Keeps string

// What a component may keep.
const (
	KeepsNothing Keeps = "nothing"
	KeepsFacts   Keeps = "facts"
	KeepsTexts   Keeps = "texts"
)

// Behaviour is what a component does at one storage level.
type Behaviour string

// The behaviours of the data-dependence table.
const (
	Works        Behaviour = "works"
	WorksNoUndo  Behaviour = "works without expand"
	WorksReduced Behaviour = "works reduced"
	OptIn        Behaviour = "opt-in"
	Skips        Behaviour = "skips"
	Refuses      Behaviour = "refuses"
)

// Description is what a component says about itself, once. The catalogue, the
// documentation, the start-up warnings and the conformance tests are made from it.
type Description struct {
	Name      string
	Summary   string // one sentence
	Stability string // "stable", "beta", "experimental"
	Keeps     Keeps
	AtLevel   [3]Behaviour  // indexed by store.Level
	Reason    string        // why, in at least eight plain words
	Where     string        // where it keeps what it keeps
	Decided   string        // the decision record that settled its behaviour, as docs/decisions/NNNN
	Config    proto.Message // its section with the defaults filled in
	Gates     []GateDoc     // every gate it can return
	Wording   int           // version of the text it writes; part of the generation

	// Linear says that its cost is linear in the block and under 5 ms per MB; only
	// such components see very large blocks and requests.
	Linear bool
	// EachPart says that it may clean each text part of a result of several.
	EachPart bool
	// Redacts says that it takes out what must not go out. It comes before all other
	// components, decided ones too, and is never undone for making a text longer.
	Redacts bool
	// Reversible says that the verifier undoes what it writes; the engine checks
	// every such rewrite before it is used.
	Reversible bool
}

// Component is what all kinds have in common. A component is immutable after
// its constructor returned and safe for concurrent use.
type Component interface {
	Describe() Description
}

// Pure rewrites a block from the block and the blocks before it alone, so that
// the same prefix gives the same bytes on every turn.
type Pure interface {
	Component
	// Rewrite returns the new text of b as pieces, or the gate that declined.
	// It is handed only the past: b as the components before it left it, and
	// the sources of text that stand earlier in the same body.
	Rewrite(b Block, before Prefix) (Edit, Gate)
}

// Indexer is implemented by a pure component that wants numbers about earlier
// sources at hand. The engine keeps what Index returns between turns, bounded,
// and calls Index again whenever it was forgotten: an index changes speed,
// never bytes. It must hold no text.
type Indexer interface {
	Index(s Source) Index
}

// Index is a component's numbers about one source.
type Index interface {
	// Bytes is its approximate size in memory.
	Bytes() int
}

// Decided rewrites a block by a recorded decision, taken once from anything in
// the request, the clock and the cache state.
type Decided interface {
	Component
	// Decide proposes decisions. The engine prices, commits and replays them.
	Decide(v View) ([]Decision, map[Gate]int)
	// Render writes the block's text from the received block and the record alone.
	Render(b Block, d Decision) (Edit, Gate)
}

// Generated rewrites a block with a text that a model wrote.
type Generated interface {
	Component
	// Propose names the blocks for which it wants a text.
	Propose(v View) []Job
	// Accept judges a model's reply; the text it returns is what is kept.
	Accept(j Job, reply string) (text string, g Gate)
	// Render writes the block's text from the received block and the kept text.
	Render(b Block, text string) (Edit, Gate)
}

// Envelope changes tools, system or breakpoints by typed operations.
type Envelope interface {
	Component
	RewriteEnvelope(e EnvelopeView) ([]EnvelopeEdit, Gate)
}

// Block is one text part of a tool result, as a component sees it.
type Block struct {
	// Text is the decoded text as the components before this one left it.
	Text string
	// Received is the decoded text as it was received. Marks in Text that are not
	// in Received were written by an earlier component.
	Received string
	// Result is the result's position among the results of the body.
	Result int
	// Part and Parts: which text part of the result this is. A result of
	// several parts is neither anchor nor target of a reference.
	Part, Parts int
	Call        Call // the paired call; Ordinal 0 if there is none
	Class       classify.Class
	IsError     bool
	// Lossy says that Text is not an exact decoding; such text is never an anchor.
	Lossy bool
	// Offset is the estimated number of received tokens before the block.
	Offset int
	// Facts of the request that a pure component may depend on: they are part
	// of the input chain.
	Request RequestFacts
}

// RequestFacts are facts of the whole request that are part of the input chain:
// a change of one is a change by the client.
type RequestFacts struct {
	// ProviderEdits: the provider may drop earlier content, so nothing may
	// point at it.
	ProviderEdits bool
	// EditsByLine: a declared tool takes line numbers to edit by.
	EditsByLine bool
}

// Call is the tool call of a block.
type Call struct {
	Ordinal int // 1-based number of the call in the body; 0: no call
	Name    string
	// Class returns what the call alone says. It is worked out on first use; nil
	// if there is no call.
	Class func() classify.Call
}

// Prefix is what stands before a block in the same body.
type Prefix struct {
	// Sources are the texts that a reference may point at, in body order:
	// results, and whole string arguments of calls that write or edit.
	Sources []Source
	// Notes are what the calling component's Index returned for each source,
	// parallel to Sources; nil entries if it is no Indexer.
	Notes []Index
	// Acted is how many blocks before this one the calling component changed.
	Acted int
}

// Source is one earlier text in the same body, as received, and what is left of
// it in the forwarded body.
type Source struct {
	// Call made it. For a result the call it answers.
	Call Call
	// Argument is the name of the argument, or empty for a result.
	Argument string
	// Class returns what the result is, worked out on first use; nil for
	// arguments. An Indexer keeps what it needs of it as numbers.
	Class   func() classify.Class
	IsError bool
	// Parts is the number of text parts of the result; sources with more than
	// one, with parts that are no text, or with a lossy text are not anchors.
	Parts int
	Lossy bool
	// Offset is the estimated number of received tokens before it.
	Offset int
	// Text returns the decoded received text. It is decoded once on first use.
	Text func() string
	// Kept returns the ranges of Text that are forwarded literally, in order,
	// not touching each other. A result that was replaced has none.
	Kept func() []Range
	// Forwarded returns the text as it is forwarded, marks and all: what the model
	// sees. It is a function of what stands before, like Kept, and worked out once
	// on first use.
	Forwarded func() string
	Ref       LeafRef
	// Message is the index of the message it stands in.
	Message int
}

// Range is a half-open range of byte offsets in a decoded text.
type Range struct{ From, To int }

// LeafRef names a text of the body: a part of a result, or an argument.
type LeafRef struct {
	Argument bool
	Index    int // the result, or the call
	Part     int // the part of the result, or the argument's position in the call's strings
}

// PieceKind says where a piece of an edited text comes from.
type PieceKind uint8

// The kinds of piece.
const (
	// Keep is a range of the block's own text.
	Keep PieceKind = iota
	// Copy is a range of an earlier source's received text, or of any string of a
	// call's arguments: printable ASCII without quote and backslash, so that its
	// raw bytes can be copied.
	Copy
	// Literal is text of the product's own: templates and decimal numbers, never
	// text taken from the transcript. It is what an edit may remember at any
	// storage level.
	Literal
)

// Piece is one piece of an edited text.
type Piece struct {
	Kind     PieceKind
	From, To int     // for Keep and Copy: byte offsets in the decoded text
	Of       LeafRef // for Copy
	Text     string  // for Literal
}

// Edit is a block's new text: its pieces, in order. An empty edit changes nothing.
type Edit struct {
	Pieces []Piece
	// Uses lists what the new text points at, for pricing: a decided cut of a
	// source makes its dependents literal again.
	Uses []Use
}

// Use is one dependence of an edit on an earlier source.
type Use struct {
	Source      LeafRef
	SavedTokens int
}

// Verifier decodes what reversible components wrote. It shares no code with
// them.
type Verifier interface {
	// Verify decodes the final text of a block, all marks together, back to the
	// text that the reversible components were given. b.Text is the final text,
	// before what stands before the block.
	Verify(b Block, before Prefix) (restored string, err error)
}

// View is what a decided or generated component may look at.
type View struct {
	// Blocks are those that the provider is not known to hold: all of them on a
	// cold turn, else those of messages that were not forwarded before.
	Blocks []ViewBlock
	// Cold: the provider's cache of this thread is known to have expired.
	Cold bool
	// FirstNew is the index of the first message that is not known to have
	// been forwarded before; with Cold it is 0.
	FirstNew int
	// LastAssistant is the index of the last assistant message, -1 if none.
	LastAssistant int
	// Messages is how many messages there are.
	Messages int
}

// ViewBlock is a block with where it stands and what it costs as it would go out.
type ViewBlock struct {
	Block
	Message int
	// Tokens is the estimate of the text as the pure components leave it.
	Tokens int
	// Decided says that a decision is in force on it already.
	Decided bool
	// HasMark says that a line of the received text starts like a mark.
	HasMark bool
	// Untouchable is the engine's reason why nothing may edit the block; empty
	// if a component may.
	Untouchable Gate

	leaf int
}

// Decision is one decision on one block: a few numbers, never text.
type Decision struct {
	Block   int      // index in View.Blocks
	Wording int      // version of the text that Render writes
	Params  [4]int64 // what Render needs besides the block
}

// Job asks for a model's text about one block.
type Job struct {
	Block  int
	Prompt string
}

// EnvelopeView is what an envelope component may look at.
type EnvelopeView struct {
	Dialect string
	System  []SystemBlock
}

// SystemBlock is one block of the system prompt.
type SystemBlock struct {
	Text   string
	Marked bool // it carries a cache breakpoint
}

// EnvelopeEdit is one typed operation on the envelope.
type EnvelopeEdit struct {
	// SplitSystem is the index of the system block to split into two blocks;
	// At is the byte offset in its decoded text. The first half keeps the
	// breakpoint, the second has none.
	SplitSystem int
	At          int
}

// levels are what AtLevel is indexed by.
var _ = [3]store.Level{store.Off, store.Metadata, store.Everything}
