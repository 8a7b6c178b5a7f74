package pipeline

import (
	"sync"
	"time"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Exchange is one request on its way, until its answer is known. It is safe for
// concurrent use once Rewrite has returned it.
type Exchange struct {
	body   []byte
	report Report

	turn   *promptcache.Turn
	out    []transcript.Sum
	marks  []promptcache.EditMark
	tokens []uint32
	raw    bool // the body goes out as it came

	once sync.Once
}

// Body is what to forward: the request's own slice if it is untouched, nil after
// Release.
func (x *Exchange) Body() []byte { return x.body }

// Release lets go of the body once it has been handed over: an answer may take
// minutes. It must not run at the same time as Body.
func (x *Exchange) Release() { x.body = nil }

// Changed says that Body differs from the request's.
func (x *Exchange) Changed() bool { return x.report.Reason == Rewritten }

// Report says what happened, in numbers and codes.
func (x *Exchange) Report() Report { return x.report }

// Responded notes the answer's status and when its headers came. A status of 0
// means that nobody knows (the client left, the connection was reset): the
// provider may have cached what was sent. An explicit 4xx or 5xx leaves the
// boundary where it was. Only the first call counts.
func (x *Exchange) Responded(status int, at time.Time) {
	x.once.Do(func() {
		if x.turn == nil || status >= 300 {
			return
		}
		if status == 0 {
			at = time.Time{}
		}
		x.turn.Done(x.out, x.marks, x.tokens, x.raw, at)
	})
}

// SentRaw notes that the caller forwarded the request as it came although Body
// says otherwise: it was too late, or could not be used. The turn then counts as
// one that went out raw. It must come before Responded and Close.
func (x *Exchange) SentRaw() { x.raw = true }

// Close ends the exchange. Without an answer seen, the outcome is unknown.
func (x *Exchange) Close() { x.Responded(0, time.Time{}) }

// pass forwards the request as it came.
func (x *Exchange) pass(why Reason) {
	x.report.Reason = why
	x.report.BytesAfter, x.report.TokensAfter = x.report.BytesBefore, x.report.TokensBefore
}
