package extproc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/trimtab-io/trimtab/pipeline"
)

// Options are what a Server is made of.
type Options struct {
	// Rewrite is the engine.
	Rewrite Rewriter
	// Settings returns the ones in force. It is called once per stream.
	Settings func() *Settings
	// Observer hears of what happens; nil: nobody does.
	Observer Observer
	// Log gets what an operator should know; nil: slog's default.
	Log *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Server implements Envoy's ExternalProcessor service. It is safe for concurrent
// use.
type Server struct {
	extprocpb.UnimplementedExternalProcessorServer
	opt     Options
	bytes   inFlight
	streams atomic.Int64
}

// New returns a server.
func New(o Options) (*Server, error) {
	if o.Rewrite == nil || o.Settings == nil {
		return nil, errors.New("extproc: needs an engine and settings")
	}
	if o.Observer == nil {
		o.Observer = Unobserved{}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{opt: o}, nil
}

// InFlight returns how many exchanges are open and how many bytes of bodies are
// held.
func (s *Server) InFlight() (streams, bytes int64) {
	return s.streams.Load(), s.bytes.n.Load()
}

// profileKey is the gRPC metadata key by which a route names its profile.
const profileKey = "x-trimtab-profile"

// Process serves one stream: one exchange of a request and its answer.
func (s *Server) Process(stream extprocpb.ExternalProcessor_ProcessServer) error {
	s.streams.Add(1)
	defer s.streams.Add(-1)
	x := &exchange{s: s, set: s.opt.Settings(), ctx: stream.Context()}
	if md, ok := metadata.FromIncomingContext(stream.Context()); ok {
		if names := md.Get(profileKey); len(names) > 0 {
			x.profile = names[0]
		}
		if parents := md.Get("traceparent"); len(parents) > 0 {
			x.trace = parents[0]
		}
	}
	defer x.end()
	for {
		req, err := stream.Recv()
		if err != nil {
			return ended(err)
		}
		resp := x.answer(req)
		if resp == nil {
			// Envoy takes an error for a failure of ours and lets the request go on.
			return status.Error(codes.Unimplemented, "message of an unknown kind")
		}
		if err = stream.Send(resp); err != nil {
			x.unsent(req)
		}
		x.sent()
		if err != nil {
			return ended(err)
		}
	}
}

// ended says how a stream ended: that Envoy closes or cancels it is normal.
func ended(err error) error {
	if errors.Is(err, io.EOF) || status.Code(err) == codes.Canceled || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// answer works out the answer to one message. A panic costs the rewrite, never
// the request.
func (x *exchange) answer(req *extprocpb.ProcessingRequest) (resp *extprocpb.ProcessingResponse) {
	defer func() {
		if p := recover(); p != nil {
			stage := stageOf(req)
			x.s.opt.Observer.Panicked(stage)
			// What it says may be text of the request; the place is enough.
			x.s.opt.Log.Error("saved an exchange from a panic", "stage", stage, "at", panicPlace())
			if ofRequest(req) {
				x.abandon(pipeline.EnginePanicked)
			} else {
				x.unread()
			}
			resp = unchanged(req)
		}
	}()
	switch r := req.GetRequest().(type) {
	case *extprocpb.ProcessingRequest_RequestHeaders:
		return x.requestHeaders(r.RequestHeaders)
	case *extprocpb.ProcessingRequest_RequestBody:
		return x.requestBody(r.RequestBody)
	case *extprocpb.ProcessingRequest_ResponseHeaders:
		return x.responseHeaders(r.ResponseHeaders)
	case *extprocpb.ProcessingRequest_ResponseBody:
		return x.responseBody(r.ResponseBody)
	}
	return unchanged(req)
}

// unsent is for an answer that Envoy did not take: it has given up on the
// exchange, and a body that it has not seen is not what goes out.
func (x *exchange) unsent(req *extprocpb.ProcessingRequest) {
	if ofRequest(req) && x.summary.Report.Reason == pipeline.Rewritten {
		x.abandon(ClientGone)
	}
}

// ofRequest says that a message belongs to the request: what was sent is not yet
// decided.
func ofRequest(req *extprocpb.ProcessingRequest) bool {
	switch req.GetRequest().(type) {
	case *extprocpb.ProcessingRequest_RequestHeaders, *extprocpb.ProcessingRequest_RequestBody:
		return true
	}
	return false
}

func stageOf(req *extprocpb.ProcessingRequest) string {
	switch req.GetRequest().(type) {
	case *extprocpb.ProcessingRequest_RequestHeaders:
		return "request_headers"
	case *extprocpb.ProcessingRequest_RequestBody:
		return "request_body"
	case *extprocpb.ProcessingRequest_ResponseHeaders:
		return "response_headers"
	case *extprocpb.ProcessingRequest_ResponseBody:
		return "response_body"
	case *extprocpb.ProcessingRequest_RequestTrailers:
		return "request_trailers"
	case *extprocpb.ProcessingRequest_ResponseTrailers:
		return "response_trailers"
	}
	return "unknown"
}

// unchanged is the answer that changes nothing, of the kind that Envoy waits
// for; nil if the message is of no known kind.
func unchanged(req *extprocpb.ProcessingRequest) *extprocpb.ProcessingResponse {
	switch req.GetRequest().(type) {
	case *extprocpb.ProcessingRequest_RequestHeaders:
		return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocpb.HeadersResponse{}}}
	case *extprocpb.ProcessingRequest_RequestBody:
		return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_RequestBody{RequestBody: &extprocpb.BodyResponse{}}}
	case *extprocpb.ProcessingRequest_ResponseHeaders:
		return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocpb.HeadersResponse{}}}
	case *extprocpb.ProcessingRequest_ResponseBody:
		return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_ResponseBody{ResponseBody: &extprocpb.BodyResponse{}}}
	case *extprocpb.ProcessingRequest_RequestTrailers:
		return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_RequestTrailers{RequestTrailers: &extprocpb.TrailersResponse{}}}
	case *extprocpb.ProcessingRequest_ResponseTrailers:
		return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_ResponseTrailers{ResponseTrailers: &extprocpb.TrailersResponse{}}}
	}
	return nil
}
