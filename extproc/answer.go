package extproc

import (
	"bytes"
	"errors"
	"io"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// maxAnswer is how much of a decoded answer is read. No model writes a hundredth of
// it; an answer that grows over it is no bill's, and would cost time at its end.
const maxAnswer = 64 << 20

// answer reads the provider's bill from the chunks of an answer as they pass by.
type answer struct {
	usage *promptcache.UsageReader
	// For an encoded answer: decoding runs beside, fed through a pipe.
	feed *io.PipeWriter
	done chan struct{}
	err  error // of the decoder; valid once done is closed
}

// newAnswer reads an answer of a known content encoding. close must be called.
func newAnswer(encoding string) *answer {
	a := &answer{usage: promptcache.NewUsageReader(0)}
	if encoding == "" {
		return a
	}
	r, w := io.Pipe()
	a.feed, a.done = w, make(chan struct{})
	go a.decode(encoding, r)
	return a
}

func (a *answer) decode(encoding string, r *io.PipeReader) {
	defer close(a.done)
	// A writer must not wait for a reader that has given up.
	defer r.CloseWithError(io.ErrClosedPipe)
	defer func() {
		if recover() != nil {
			a.err = errEncoding
		}
	}()
	d, done, err := newDecoder(encoding, r)
	defer done()
	if err == nil {
		var n int64
		if n, err = io.Copy(a.usage, io.LimitReader(d, maxAnswer+1)); err == nil && n > maxAnswer {
			err = errTooLarge
		}
	}
	a.err = err
}

// write takes the next chunk.
func (a *answer) write(chunk []byte) {
	if a.feed == nil {
		a.usage.Write(chunk)
		return
	}
	// An error means that decoding has failed; close tells.
	_, _ = io.Copy(a.feed, bytes.NewReader(chunk))
}

// abandon ends reading without a bill.
func (a *answer) abandon() {
	if a.feed != nil {
		a.feed.Close()
	}
}

// close ends reading and returns the bill as far as it was seen. It may be
// called more than once.
func (a *answer) close() (promptcache.Usage, string) {
	if a.feed != nil {
		a.feed.Close()
		<-a.done
	}
	usage, outcome := a.usage.Usage()
	switch {
	case outcome == promptcache.UsageRead:
	case errors.Is(a.err, errTooLarge):
		return usage, string(promptcache.UsageTooLarge)
	case a.err != nil:
		return usage, UsageEncoding
	}
	return usage, string(outcome)
}
