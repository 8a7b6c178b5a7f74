package extproc

import (
	"context"
	"time"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// Limits bound one request.
type Limits struct {
	// MaxBodyBytes is the largest body that is read, as sent and as decoded.
	MaxBodyBytes int64
	// MaxExpansion is how many times larger than sent a decoded body may be.
	MaxExpansion int
	// Deadline is how long a rewrite may take until the request goes on as it
	// came; below Envoy's message_timeout.
	Deadline time.Duration
}

// Settings are what the server needs of the configuration. Each stream keeps the
// ones it began with. They must not be changed.
type Settings struct {
	// Profiles by name; a request of any other profile goes through untouched.
	Profiles map[string]Limits
	// Default is the profile of requests that name none.
	Default string
	// MaxBytesInFlight bounds the bodies held at once, over all streams.
	MaxBytesInFlight int64
	// Which headers of the client are believed.
	TrustSession, TrustAgent, TrustBypass, TrustProfile bool
}

// Exchange is one request on its way, until its answer is known.
// *pipeline.Exchange is one.
type Exchange interface {
	// Body is what to forward: the request's own slice if it is untouched.
	Body() []byte
	// Report says what happened to the request.
	Report() pipeline.Report
	// SentRaw notes that the request went out as it came although Body says
	// otherwise. It comes before Responded and Close.
	SentRaw()
	// Responded notes the answer's status; 0: nobody knows.
	Responded(status int, at time.Time)
	// Close ends the exchange; without an answer its outcome is unknown.
	Close()
}

// biller is an Exchange that wants to know what the provider billed. why is the
// outcome of reading it.
type biller interface {
	Billed(u promptcache.Usage, why string)
}

// releaser is an Exchange that can let go of its body once it has been handed
// over.
type releaser interface{ Release() }

// Rewriter works out what to forward. It never fails and keeps to ctx's deadline.
type Rewriter func(ctx context.Context, req pipeline.Request) Exchange

// ClientGone is the reason for a request whose client left while it was being
// rewritten. It stands beside the engine's reasons.
const ClientGone pipeline.Reason = "client_gone"

// NoBody is the reason for a request whose body was asked for and never came:
// the client left first, or Envoy's filter lacks allow_mode_override.
const NoBody pipeline.Reason = "no_body"

// Mode is the way in which a request's body was asked for.
type Mode string

// The modes. They are metric labels.
const (
	ModeNone     Mode = "none"
	ModeBuffered Mode = "buffered"
	ModePartial  Mode = "partial"
)

// Summary is what one exchange came to, in numbers, codes and hashed ids.
type Summary struct {
	// Report is the engine's, or as far as the server got without it: dialect,
	// profile and reason.
	Report pipeline.Report
	Mode   Mode
	// WireBytes is the length of the body as sent, before any decoding.
	WireBytes int64
	// Added is the time from Envoy's messages to our answers on the request's way.
	Added time.Duration
	// Trace is the id of the request's trace, 32 hexadecimal digits; empty if it has
	// none or the trace is not kept.
	Trace string
	// Status is the answer's; 0 if none was seen.
	Status int
	// Usage is the provider's bill, and UsageOutcome what became of reading it:
	// a promptcache.UsageOutcome or one of those below.
	Usage        promptcache.Usage
	UsageOutcome string
}

// Outcomes of usage besides those of promptcache.
const (
	// UsageNoAnswer: no answer, or one without a body to read.
	UsageNoAnswer = "no_answer"
	// UsageNotBilled: the request only asks how many tokens a message has.
	UsageNotBilled = "not_billed"
	// UsageStatus: the answer was no success.
	UsageStatus = "status"
	// UsageType: the answer was neither JSON nor server-sent events.
	UsageType = "content_type"
	// UsageEncoding: the answer's encoding is none that is decoded, or broke.
	UsageEncoding = "encoding"
	// UsageCut: the client left, or the connection broke, before the bill came.
	UsageCut = "cut"
)

// Observer hears of what happens. Its methods are called from many goroutines
// and must return at once.
type Observer interface {
	// Exchanged is called once per exchange, when its stream has ended.
	Exchanged(s Summary)
	// Panicked is called when a stage was saved from a panic.
	Panicked(stage string)
}

// Unobserved is an Observer that does nothing.
type Unobserved struct{}

// Exchanged implements [Observer].
func (Unobserved) Exchanged(Summary) {}

// Panicked implements [Observer].
func (Unobserved) Panicked(string) {}
