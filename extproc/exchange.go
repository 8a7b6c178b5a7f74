package extproc

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// exchange is the state of one stream. Its methods run on the stream's goroutine.
type exchange struct {
	s       *Server
	ctx     context.Context
	set     *Settings
	profile string
	trace   string // traceparent of the stream: Envoy's own span of the request

	// From the request headers.
	limits   Limits
	mode     Mode
	encoding string
	request  pipeline.Request
	dialect  bool // the path is one of ours

	held      int64 // bytes reserved
	rewritten Exchange
	summary   Summary
	began     time.Time // of the message that is being answered
	body      bool      // the body has been seen
	told      bool      // Envoy has been told what was done to the request

	answerEncoding string
	reading        *answer
	// To be done once the answer has been sent.
	chunk     []byte    // to be read
	responded time.Time // when the answer's headers came, for the engine to hear
}

// end closes everything, on every way out. A panic of it ends here: nothing
// above would stop it.
func (x *exchange) end() {
	defer func() {
		if recover() != nil {
			x.s.opt.Observer.Panicked("end")
		}
	}()
	x.free()
	if x.reading != nil {
		x.summary.Usage, x.summary.UsageOutcome = x.reading.close()
		if !x.summary.Usage.Known {
			// The end of the answer was not seen, so that no bill was is no wonder.
			x.summary.UsageOutcome = UsageCut
		}
	}
	if x.summary.UsageOutcome == "" {
		x.summary.UsageOutcome = UsageNoAnswer
	}
	if x.rewritten != nil {
		x.close()
	}
	if x.began.IsZero() {
		return // nothing was ever asked
	}
	if !x.body && x.summary.Report.Reason == pipeline.Rewritten {
		x.summary.Report.Reason = NoBody
	}
	x.s.opt.Observer.Exchanged(x.summary)
}

// close tells the engine how the exchange ended. A panic of it ends here.
func (x *exchange) close() {
	defer func() {
		if recover() != nil {
			x.s.opt.Observer.Panicked("close")
		}
	}()
	if b, ok := x.rewritten.(biller); ok {
		b.Billed(x.summary.Usage, x.summary.UsageOutcome)
	}
	x.rewritten.Close()
}

// pass lets the request go through as it came, for a named reason.
func (x *exchange) pass(why pipeline.Reason) {
	x.summary.Report.Reason = why
	x.free()
}

// abandon is for a request that goes out as it came although the engine may
// think otherwise, and must hear of it: what it wrote is not what was sent.
func (x *exchange) abandon(why pipeline.Reason) {
	if x.rewritten != nil {
		x.rewritten.SentRaw()
	}
	x.summary.Report.Reason = why
	x.summary.Report.BytesAfter, x.summary.Report.TokensAfter = x.summary.Report.BytesBefore, x.summary.Report.TokensBefore
	x.summary.Report.Components = nil
	x.free()
}

// release lets go of the body: the answer to it may take minutes, and thousands
// may be waited for.
func (x *exchange) release() {
	x.request.Body = nil
	if r, ok := x.rewritten.(releaser); ok {
		r.Release()
	}
	x.free()
}

func (x *exchange) free() {
	x.s.bytes.release(x.held)
	x.held = 0
}

// sent runs after an answer has been handed to Envoy: work that must not hold
// up the answer.
func (x *exchange) sent() {
	if x.body {
		x.release()
	}
	if !x.responded.IsZero() {
		x.tell()
	}
	if x.chunk != nil {
		x.read()
	}
}

// tell tells the engine how the request was answered. A panic of it ends here.
func (x *exchange) tell() {
	at := x.responded
	x.responded = time.Time{}
	defer func() {
		if recover() != nil {
			x.s.opt.Observer.Panicked("responded")
		}
	}()
	if x.rewritten != nil {
		x.rewritten.Responded(x.summary.Status, at)
	}
}

// read reads a chunk of the answer. A panic of it costs the bill.
func (x *exchange) read() {
	chunk := x.chunk
	x.chunk = nil
	defer func() {
		if recover() != nil {
			x.s.opt.Observer.Panicked("usage")
			x.unread()
		}
	}()
	x.reading.write(chunk)
}

// unread gives up reading the answer.
func (x *exchange) unread() {
	if x.reading != nil {
		x.reading.abandon()
		x.reading = nil
	}
}

// timed adds the time since the message came to what the request was held up.
func (x *exchange) timed() { x.summary.Added += x.s.opt.Now().Sub(x.began) }

// billed notes the provider's bill, once the answer is over.
func (x *exchange) billed() (promptcache.Usage, string) {
	x.summary.Usage, x.summary.UsageOutcome = x.reading.close()
	x.reading = nil
	return x.summary.Usage, x.summary.UsageOutcome
}

// panicPlace is the first place outside the runtime on the way to a panic.
func panicPlace() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if f.File != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return f.Function + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}
