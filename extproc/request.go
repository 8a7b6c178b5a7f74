package extproc

import (
	"context"
	"errors"

	filterpb "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// partialReserve is reserved for a body of unknown length until its length is
// known: one buffer of Envoy's.
const partialReserve = 1 << 20

// requestHeaders decides whether Envoy should hand over the body, and how.
func (x *exchange) requestHeaders(m *extprocpb.HttpHeaders) *extprocpb.ProcessingResponse {
	x.began = x.s.opt.Now()
	defer x.timed()
	h := readHeaders(m.GetHeaders())
	x.summary.Trace = traceOf(x.trace, h["traceparent"])
	x.mode = ModeNone
	if why := x.identify(h); why != pipeline.Rewritten {
		x.pass(why)
	} else if why := x.choose(h, m.GetEndOfStream()); why != pipeline.Rewritten {
		x.pass(why)
	}
	x.summary.Mode = x.mode

	over := &filterpb.ProcessingMode{
		RequestBodyMode:    filterpb.ProcessingMode_NONE,
		ResponseHeaderMode: filterpb.ProcessingMode_SEND,
		ResponseBodyMode:   filterpb.ProcessingMode_NONE,
	}
	common := &extprocpb.CommonResponse{}
	switch {
	case x.mode == ModeBuffered:
		over.RequestBodyMode = filterpb.ProcessingMode_BUFFERED
	case x.mode == ModePartial:
		over.RequestBodyMode = filterpb.ProcessingMode_BUFFERED_PARTIAL
		// The length can change, and in this mode only now can it be told.
		common.HeaderMutation = &extprocpb.HeaderMutation{RemoveHeaders: []string{"content-length"}}
	case !x.dialect:
		over.ResponseHeaderMode = filterpb.ProcessingMode_SKIP
	}
	return &extprocpb.ProcessingResponse{
		Response: &extprocpb.ProcessingResponse_RequestHeaders{
			RequestHeaders: &extprocpb.HeadersResponse{Response: common},
		},
		ModeOverride: over,
	}
}

// identify finds out from the headers whose request it is.
func (x *exchange) identify(h headers) pipeline.Reason {
	_, version := h["anthropic-version"]
	x.request = pipeline.Request{
		Path:             h.path(),
		AnthropicVersion: version,
		Profile:          x.profile,
		Now:              x.began,
	}
	d := transcript.Detect(x.request.Path, version)
	if d == transcript.None {
		return pipeline.NotLLM
	}
	if h[":method"] != "POST" {
		return pipeline.NotPost
	}
	x.dialect, x.summary.Report.Dialect = true, d
	if v := h.ours("profile"); x.set.TrustProfile && v != "" {
		x.profile, x.request.Profile = v, v
	}
	name := x.profile
	if name == "" {
		name = x.set.Default
	}
	limits, ok := x.set.Profiles[name]
	if !ok {
		return pipeline.UnknownProfile
	}
	x.limits, x.summary.Report.Profile = limits, name
	if x.set.TrustSession {
		x.request.Session = h.ours("session")
	}
	if x.set.TrustAgent {
		x.request.Agent = h.agent()
	}
	x.request.Bypass = x.set.TrustBypass && truthy(h.ours("bypass"))
	return pipeline.Rewritten
}

// choose picks the body mode. BUFFERED is safe only under a known length within
// the limit: over it Envoy answers 413, or waits for ever.
func (x *exchange) choose(h headers, empty bool) pipeline.Reason {
	if empty {
		return pipeline.BadJSON
	}
	x.encoding = h.encoding()
	length, known := h.length()
	switch {
	case h.signed():
		return pipeline.Signed
	case !decodes(x.encoding):
		return pipeline.UnknownEncoding
	case !known && x.encoding != "":
		// Where the length is unknown the headers are gone before the body is
		// seen, so a decoded body could not be told from an encoded one.
		return pipeline.UnknownEncoding
	case !known:
		if !x.reserve(partialReserve) {
			return pipeline.Overloaded
		}
		x.mode = ModePartial
	case length == 0:
		return pipeline.BadJSON
	case length > x.limits.MaxBodyBytes:
		return pipeline.TooLarge
	default:
		if !x.reserve(length) {
			return pipeline.Overloaded
		}
		x.mode = ModeBuffered
	}
	return pipeline.Rewritten
}

// reserve holds n bytes in all.
func (x *exchange) reserve(n int64) bool {
	if n > x.held && !x.s.bytes.take(n-x.held, x.set.MaxBytesInFlight) {
		return false
	}
	x.held = max(x.held, n)
	return true
}

// requestBody rewrites the body.
func (x *exchange) requestBody(m *extprocpb.HttpBody) *extprocpb.ProcessingResponse {
	x.began = x.s.opt.Now()
	defer x.timed()
	first := !x.body
	x.body = true
	resp := &extprocpb.BodyResponse{}
	if first && x.mode != ModeNone {
		resp.Response = x.rewrite(m)
	}
	return &extprocpb.ProcessingResponse{
		Response:        &extprocpb.ProcessingResponse_RequestBody{RequestBody: resp},
		DynamicMetadata: x.metadata(),
	}
}

// rewrite returns what to change about the body, nil for nothing.
func (x *exchange) rewrite(m *extprocpb.HttpBody) *extprocpb.CommonResponse {
	wire := m.GetBody()
	x.summary.WireBytes = int64(len(wire))
	x.summary.Report.BytesBefore, x.summary.Report.BytesAfter = len(wire), len(wire)
	body, why := x.whole(m)
	if why != pipeline.Rewritten {
		x.pass(why)
		return nil
	}
	x.request.Body = body
	out := x.run()
	if out == nil {
		return nil
	}
	if len(out) == len(body) && (len(out) == 0 || &out[0] == &body[0]) {
		return nil // the request's own slice: what Envoy holds goes on
	}
	change := &extprocpb.CommonResponse{
		BodyMutation: &extprocpb.BodyMutation{Mutation: &extprocpb.BodyMutation_Body{Body: out}},
	}
	if x.mode == ModeBuffered {
		change.HeaderMutation = bodyHeaders(out, x.encoding != "")
	}
	return change
}

// whole returns the decoded body, if all of it is there.
func (x *exchange) whole(m *extprocpb.HttpBody) ([]byte, pipeline.Reason) {
	wire := m.GetBody()
	size := int64(len(wire))
	switch {
	case x.mode == ModePartial && !m.GetEndOfStream():
		// Cut at Envoy's buffer, or followed by trailers; both look the same.
		return nil, pipeline.PartialBody
	case size > x.limits.MaxBodyBytes:
		return nil, pipeline.TooLarge
	case !x.reserve(size):
		return nil, pipeline.Overloaded
	case x.encoding == "":
		return wire, pipeline.Rewritten
	}
	limit := min(x.limits.MaxBodyBytes, size*int64(max(x.limits.MaxExpansion, 1)))
	body, err := decodeBody(x.encoding, wire, limit, func(n int64) bool { return x.reserve(size + n) })
	switch {
	case errors.Is(err, errNoRoom):
		return nil, pipeline.Overloaded
	case errors.Is(err, errTooLarge) && limit == x.limits.MaxBodyBytes:
		return nil, pipeline.TooLarge
	case err != nil:
		return nil, pipeline.UnknownEncoding
	}
	return body, pipeline.Rewritten
}

// run lets the engine work until the deadline, and a little longer for an engine
// that keeps to it; then the request goes on as it came, before Envoy's patience
// ends.
func (x *exchange) run() []byte {
	ctx, cancel := context.WithTimeout(x.ctx, x.limits.Deadline)
	defer cancel()
	type outcome struct {
		x        Exchange
		panicked any
		at       string
	}
	done := make(chan outcome, 1)
	request := x.request
	go func() {
		var o outcome
		defer func() {
			if o.panicked = recover(); o.panicked != nil {
				o.at = panicPlace()
			}
			done <- o
		}()
		o.x = x.s.opt.Rewrite(ctx, request)
	}()
	hard, stop := context.WithTimeout(x.ctx, x.limits.Deadline+x.limits.Deadline/8)
	defer stop()
	select {
	case o := <-done:
		if o.panicked != nil {
			x.s.opt.Observer.Panicked("engine")
			x.s.opt.Log.Error("saved an exchange from a panic", "stage", "engine", "at", o.at)
			x.abandon(pipeline.EnginePanicked)
			return nil
		}
		x.rewritten = o.x
		x.summary.Report = o.x.Report()
		return o.x.Body()
	case <-hard.Done():
		// Whatever it comes to, this request goes out without it. Its bytes are
		// held until the engine lets go of them, so that engines that do not end
		// can't pile up.
		held := x.held
		x.held = 0
		go func() {
			defer x.s.bytes.release(held)
			if o := <-done; o.x != nil {
				o.x.SentRaw()
				o.x.Close()
			}
		}()
		why := pipeline.DeadlinePassed
		if x.ctx.Err() != nil {
			why = ClientGone
		}
		x.abandon(why)
		return nil
	}
}
