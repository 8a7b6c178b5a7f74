package extproc

import (
	filterpb "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// lastChunk is the largest final chunk that is read before it is answered, so
// that the bill can go with the answer into the access log. Anything larger is
// answered first.
const lastChunk = 256 << 10

// responseHeaders asks for the answer's body where a bill may be in it.
func (x *exchange) responseHeaders(m *extprocpb.HttpHeaders) *extprocpb.ProcessingResponse {
	h := readHeaders(m.GetHeaders())
	x.summary.Status = h.status()
	x.responded = x.s.opt.Now()
	resp := &extprocpb.ProcessingResponse{
		Response: &extprocpb.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocpb.HeadersResponse{}},
	}
	if !x.told {
		resp.DynamicMetadata = x.metadata()
	}
	if why := x.readable(h, m.GetEndOfStream()); why != "" {
		x.summary.UsageOutcome = why
		return resp
	}
	x.reading = newAnswer(x.answerEncoding)
	resp.ModeOverride = &filterpb.ProcessingMode{
		ResponseHeaderMode: filterpb.ProcessingMode_SEND,
		ResponseBodyMode:   filterpb.ProcessingMode_STREAMED,
	}
	return resp
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
	resp := &extprocpb.ProcessingResponse{
		Response: &extprocpb.ProcessingResponse_ResponseBody{ResponseBody: &extprocpb.BodyResponse{}},
	}
	switch chunk := m.GetBody(); {
	case x.reading == nil:
	case m.GetEndOfStream() && len(chunk) <= lastChunk:
		x.reading.write(chunk)
		x.billed()
		resp.DynamicMetadata = x.metadata()
	case len(chunk) > 0:
		x.chunk = chunk
	}
	return resp
}
