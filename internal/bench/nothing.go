package main

import (
	"context"

	filterpb "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/trimtab-io/trimtab/extproc"
)

// nothing is a server that asks for the bodies that trimtab asks for, in the same
// modes, and changes nothing. Where the route says so it hands each request body
// back, as it came.
type nothing struct {
	extprocpb.UnimplementedExternalProcessorServer
}

// echoKey is the gRPC metadata key by which a route asks for its bodies back.
const echoKey = "x-bench-echo"

// serveNothing serves until ctx ends.
func serveNothing(ctx context.Context, socket string) error {
	l, err := extproc.Listen(ctx, "unix:"+socket)
	if err != nil {
		return err
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	extprocpb.RegisterExternalProcessorServer(s, nothing{})
	healthpb.RegisterHealthServer(s, health.NewServer())
	defer context.AfterFunc(ctx, s.Stop)()
	return s.Serve(l)
}

// Process implements the service.
func (nothing) Process(stream extprocpb.ExternalProcessor_ProcessServer) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	echo := len(md.Get(echoKey)) > 0
	for {
		req, err := stream.Recv()
		if err != nil {
			return nil // Envoy has what it wanted
		}
		if err := stream.Send(answer(req, echo)); err != nil {
			return err
		}
	}
}

func answer(req *extprocpb.ProcessingRequest, echo bool) *extprocpb.ProcessingResponse {
	switch r := req.GetRequest().(type) {
	case *extprocpb.ProcessingRequest_RequestHeaders:
		return &extprocpb.ProcessingResponse{
			Response: &extprocpb.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocpb.HeadersResponse{}},
			ModeOverride: &filterpb.ProcessingMode{
				RequestBodyMode: filterpb.ProcessingMode_BUFFERED, ResponseHeaderMode: filterpb.ProcessingMode_SEND,
			},
		}
	case *extprocpb.ProcessingRequest_ResponseHeaders:
		return &extprocpb.ProcessingResponse{
			Response: &extprocpb.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocpb.HeadersResponse{}},
			ModeOverride: &filterpb.ProcessingMode{
				ResponseHeaderMode: filterpb.ProcessingMode_SEND, ResponseBodyMode: filterpb.ProcessingMode_STREAMED,
			},
		}
	case *extprocpb.ProcessingRequest_RequestBody:
		body := &extprocpb.BodyResponse{}
		if echo {
			body.Response = &extprocpb.CommonResponse{BodyMutation: &extprocpb.BodyMutation{
				Mutation: &extprocpb.BodyMutation_Body{Body: r.RequestBody.GetBody()},
			}}
		}
		return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_RequestBody{RequestBody: body}}
	}
	return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_ResponseBody{ResponseBody: &extprocpb.BodyResponse{}}}
}
