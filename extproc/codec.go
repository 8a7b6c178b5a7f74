package extproc

import (
	filterpb "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// codec is gRPC's own for protobuf, but for the two messages that hold the body of a
// request: of these it copies the body once on the way in and not at all on the way
// out. The default copies it twice each way, through buffers that it clears.
type codec struct{ encoding.CodecV2 }

// largeMessage is from which size on, in bytes, a message is not left to gRPC's codec.
const largeMessage = 32 << 10

// Numbers of fields, of envoy.service.ext_proc.v3. A test holds them against its
// descriptors.
const (
	requestBodyField  = 4 // of ProcessingRequest
	httpBodyField     = 1 // of HttpBody
	responseBodyField = 3 // of ProcessingResponse: the answer to a request's body
	commonField       = 1 // of BodyResponse
	mutationField     = 3 // of CommonResponse
	mutationBodyField = 1 // of BodyMutation
)

// Unmarshal implements encoding.CodecV2. The body of a request that it reads stands in
// memory of its own.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*extprocpb.ProcessingRequest)
	if !ok || data.Len() < largeMessage {
		return c.CodecV2.Unmarshal(data, v)
	}
	return unmarshal(data.Materialize(), m)
}

// unmarshal does what proto.Unmarshal does. The body of a request becomes a part of
// wire, which must not be changed afterwards.
func unmarshal(wire []byte, m *extprocpb.ProcessingRequest) error {
	rest, body, ok := withoutBody(wire)
	if !ok {
		return proto.Unmarshal(wire, m)
	}
	if err := proto.Unmarshal(rest, m); err != nil {
		return err
	}
	if m.GetRequestBody() == nil {
		return proto.Unmarshal(wire, m) // it is about something else after all
	}
	m.GetRequestBody().Body = body
	return nil
}

// withoutBody takes the body of a request out of a message. ok is false unless there
// is one body, and it is all that the message is about.
func withoutBody(wire []byte) (rest, body []byte, ok bool) {
	// Large enough for everything but the body, in most cases.
	rest = make([]byte, 0, 256)
	for len(wire) > 0 {
		field, number, value, n := nextField(wire)
		switch {
		case n < 0:
			return nil, nil, false
		case number != requestBodyField:
			rest = append(rest, field...)
		case value == nil || body != nil:
			return nil, nil, false
		default:
			inner, b, ok := cutField(value, httpBodyField)
			if !ok {
				return nil, nil, false
			}
			body = b
			rest = protowire.AppendTag(rest, requestBodyField, protowire.BytesType)
			rest = protowire.AppendBytes(rest, inner)
		}
		wire = wire[n:]
	}
	return rest, body, body != nil
}

// cutField takes the one field of that number, of type bytes, out of a message.
func cutField(wire []byte, cut protowire.Number) (rest, content []byte, ok bool) {
	for len(wire) > 0 {
		field, number, value, n := nextField(wire)
		switch {
		case n < 0:
			return nil, nil, false
		case number != cut:
			rest = append(rest, field...)
		case value == nil || content != nil:
			return nil, nil, false
		default:
			content = value
		}
		wire = wire[n:]
	}
	return rest, content, content != nil
}

// nextField returns the first field, whole, and its value if it is of type bytes; n is
// its length, negative if it is malformed.
func nextField(wire []byte) (field []byte, number protowire.Number, value []byte, n int) {
	number, kind, tag := protowire.ConsumeTag(wire)
	if tag < 0 {
		return nil, 0, nil, tag
	}
	if n = protowire.ConsumeFieldValue(number, kind, wire[tag:]); n < 0 {
		return nil, 0, nil, n
	}
	n += tag
	if kind == protowire.BytesType {
		value, _ = protowire.ConsumeBytes(wire[tag:n])
	}
	return wire[:n], number, value, n
}

// Marshal implements encoding.CodecV2. What it returns holds the body that is handed
// over itself, not a copy.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*extprocpb.ProcessingResponse)
	switch {
	case !ok:
		return c.CodecV2.Marshal(v)
	case m == passAnswer.message:
		return mem.BufferSlice{passAnswer.wire}, nil
	case m == readAnswer.message:
		return mem.BufferSlice{readAnswer.wire}, nil
	case m == nextChunk.message:
		return mem.BufferSlice{nextChunk.wire}, nil
	}
	body := m.GetRequestBody().GetResponse().GetBodyMutation().GetBody()
	if len(body) < largeMessage {
		return c.CodecV2.Marshal(v)
	}
	head, err := upToBody(m, len(body))
	if err != nil {
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(head), mem.SliceBuffer(body)}, nil
}

// upToBody is the wire format of an answer to a request's body, up to the body, which
// is what ends it: protobuf leaves the order of fields to the writer.
func upToBody(m *extprocpb.ProcessingResponse, size int) ([]byte, error) {
	head, err := proto.Marshal(without(m, responseBodyField))
	if err != nil {
		return nil, err
	}
	common, err := proto.Marshal(without(m.GetRequestBody().GetResponse(), mutationField))
	if err != nil {
		return nil, err
	}
	mutation := fieldSize(mutationBodyField, size)
	all := len(common) + fieldSize(mutationField, mutation)
	for _, f := range []struct {
		number protowire.Number
		size   int
	}{{responseBodyField, fieldSize(commonField, all)}, {commonField, all}} {
		head = appendFieldHead(head, f.number, f.size)
	}
	head = append(head, common...)
	head = appendFieldHead(head, mutationField, mutation)
	return appendFieldHead(head, mutationBodyField, size), nil
}

// fieldSize is the length of a field of type bytes whose value has so many.
func fieldSize(number protowire.Number, value int) int {
	return protowire.SizeTag(number) + protowire.SizeBytes(value)
}

func appendFieldHead(b []byte, number protowire.Number, value int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.BytesType), uint64(value))
}

// without is a message's other fields, which it shares.
func without(m proto.Message, number protowire.Number) proto.Message {
	from := m.ProtoReflect()
	to := from.New()
	from.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Number() != number {
			to.Set(f, v)
		}
		return true
	})
	return to.Interface()
}

// fixed is an answer that is always the same, written once. A streamed answer of the
// provider waits for it.
type fixed struct {
	message *extprocpb.ProcessingResponse // must not be changed
	wire    mem.SliceBuffer
}

var (
	// passAnswer lets the provider's answer go on without its body being shown.
	passAnswer = newFixed(&extprocpb.ProcessingResponse{
		Response: &extprocpb.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocpb.HeadersResponse{}},
	})
	// readAnswer asks for the body of the provider's answer, chunk by chunk.
	readAnswer = newFixed(&extprocpb.ProcessingResponse{
		Response: &extprocpb.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocpb.HeadersResponse{}},
		ModeOverride: &filterpb.ProcessingMode{
			ResponseHeaderMode: filterpb.ProcessingMode_SEND,
			ResponseBodyMode:   filterpb.ProcessingMode_STREAMED,
		},
	})
	// nextChunk lets a chunk go on.
	nextChunk = newFixed(&extprocpb.ProcessingResponse{
		Response: &extprocpb.ProcessingResponse_ResponseBody{ResponseBody: &extprocpb.BodyResponse{}},
	})
)

func newFixed(m *extprocpb.ProcessingResponse) fixed {
	wire, err := proto.Marshal(m)
	if err != nil {
		panic(err) // it is written above
	}
	return fixed{m, wire}
}
