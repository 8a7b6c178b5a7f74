package extproc

import (
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// lastChunk is the largest final chunk that is read before it is answered, so
// that the bill can go with the answer into the access log. Anything larger is
// answered first.
const lastChunk = 256 << 10

// responseHeaders asks for the answer's body where a bill may be in it.
func (x *exchange) responseHeaders(m *extprocpb.HttpHeaders) *extprocpb.ProcessingResponse {
	h := answerHeaders(m.GetHeaders())
	x.summary.Status = h.status()
	x.responded = x.s.opt.Now()
	resp := passAnswer.message
	if why := x.readable(h, m.GetEndOfStream()); why != "" {
		x.summary.UsageOutcome = why
	} else {
		x.reading = newAnswer(x.answerEncoding)
		resp = readAnswer.message
	}
	if x.told {
		return resp
	}
	return &extprocpb.ProcessingResponse{Response: resp.GetResponse(), ModeOverride: resp.GetModeOverride(), DynamicMetadata: x.metadata()}
}

// readable says why an answer is not read; "" if it is.
func (x *exchange) readable(h headers, empty bool) string {
	x.answerEncoding = h.encoding()
	switch {
	case empty || x.reading != nil:
		return UsageNoAnswer
	case transcript.CountsTokens(x.request.Path):
		return UsageNotBilled
	case x.summary.Status != 200:
		return UsageStatus
	case !h.readable():
		return UsageType
	case !decodes(x.answerEncoding):
		return UsageEncoding
	}
	return ""
}

// responseBody lets each chunk go on at once and reads it afterwards, so that
// reading never holds up the answer.
func (x *exchange) responseBody(m *extprocpb.HttpBody) *extprocpb.ProcessingResponse {
	switch chunk := m.GetBody(); {
	case x.reading == nil:
	case m.GetEndOfStream() && len(chunk) <= lastChunk:
		x.reading.write(chunk)
		x.billed()
		return &extprocpb.ProcessingResponse{Response: nextChunk.message.GetResponse(), DynamicMetadata: x.metadata()}
	case len(chunk) > 0:
		x.chunk = chunk
	}
	return nextChunk.message
}
