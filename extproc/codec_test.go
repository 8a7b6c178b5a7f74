package extproc

import (
	"bytes"
	"fmt"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"
)

func testCodec() codec { return codec{encoding.GetCodecV2(protocodec.Name)} }

// The numbers that are written down are those of the messages.
func TestCodecFields(t *testing.T) {
	for _, f := range []struct {
		of     proto.Message
		name   protoreflect.Name
		number protowire.Number
	}{
		{&extprocpb.ProcessingRequest{}, "request_body", requestBodyField},
		{&extprocpb.HttpBody{}, "body", httpBodyField},
		{&extprocpb.ProcessingResponse{}, "request_body", responseBodyField},
		{&extprocpb.BodyResponse{}, "response", commonField},
		{&extprocpb.CommonResponse{}, "body_mutation", mutationField},
		{&extprocpb.BodyMutation{}, "body", mutationBodyField},
	} {
		if got := f.of.ProtoReflect().Descriptor().Fields().ByName(f.name).Number(); got != f.number {
			t.Errorf("%s of %T is %d, not %d", f.name, f.of, got, f.number)
		}
	}
	// A field beside the one that is taken apart would be lost.
	if n := (&extprocpb.BodyResponse{}).ProtoReflect().Descriptor().Fields().Len(); n != 1 {
		t.Errorf("BodyResponse has %d fields", n)
	}
}

// fill sets fields of a message, drawn from all that it has.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if depth == 0 || !rapid.Bool().Draw(t, string(f.Name())) {
			continue
		}
		switch {
		case f.IsMap():
			if f.MapValue().Message() == nil {
				continue
			}
			v := m.Mutable(f).Map().NewValue()
			fill(t, v.Message(), depth-1)
			m.Mutable(f).Map().Set(protoreflect.ValueOfString("key").MapKey(), v)
		case f.IsList():
			if f.Message() != nil {
				fill(t, m.Mutable(f).List().AppendMutable().Message(), depth-1)
			}
		case f.Message() != nil:
			fill(t, m.Mutable(f).Message(), depth-1)
		default:
			m.Set(f, scalar(t, f))
		}
	}
}

func scalar(t *rapid.T, f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.StringN(0, 20, -1).Draw(t, "text"))
	case protoreflect.BytesKind:
		size := rapid.SampledFrom([]int{0, 1, 100, largeMessage - 1, largeMessage, 3 * largeMessage}).Draw(t, "size")
		return protoreflect.ValueOfBytes(bytes.Repeat([]byte("x"), size))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(1)
	}
	return f.Default() // numbers: their kinds are not what is tested
}

// cut puts a message into buffers as frames do.
func cut(wire []byte, size int) (out mem.BufferSlice) {
	for len(wire) > size {
		out, wire = append(out, mem.SliceBuffer(wire[:size])), wire[size:]
	}
	return append(out, mem.SliceBuffer(wire))
}

// Whatever Envoy sends is read as the standard codec reads it.
func TestCodecReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &extprocpb.ProcessingRequest{}
		fill(t, m.ProtoReflect(), 3)
		if rapid.Bool().Draw(t, "a request's body") {
			body := &extprocpb.HttpBody{}
			fill(t, body.ProtoReflect(), 2)
			m.Request = &extprocpb.ProcessingRequest_RequestBody{RequestBody: body}
		}
		wire, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		frames := cut(wire, rapid.IntRange(1000, 20000).Draw(t, "frame"))
		got := &extprocpb.ProcessingRequest{}
		if err := testCodec().Unmarshal(frames, got); err != nil || !proto.Equal(got, m) {
			t.Fatalf("%v: %v", err, got)
		}
		clear(wire) // gRPC uses its buffers again
		if !proto.Equal(got, m) {
			t.Fatal("what was read is part of a buffer")
		}
	})
}

// Whatever is answered is written so that Envoy reads it as it was meant.
func TestCodecWrites(t *testing.T) {
	aside := 0
	rapid.Check(t, func(t *rapid.T) {
		m := &extprocpb.ProcessingResponse{}
		fill(t, m.ProtoReflect(), 4)
		if rapid.Bool().Draw(t, "a body") {
			common := &extprocpb.CommonResponse{}
			fill(t, common.ProtoReflect(), 3)
			body := bytes.Repeat([]byte("body"), rapid.IntRange(1, 20000).Draw(t, "size"))
			common.BodyMutation = &extprocpb.BodyMutation{Mutation: &extprocpb.BodyMutation_Body{Body: body}}
			m.Response = &extprocpb.ProcessingResponse_RequestBody{RequestBody: &extprocpb.BodyResponse{Response: common}}
		}
		before := proto.CloneOf(m)
		out, err := testCodec().Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 1 {
			aside++
		}
		got := &extprocpb.ProcessingResponse{}
		if err := proto.Unmarshal(out.Materialize(), got); err != nil || !proto.Equal(got, m) {
			t.Fatalf("%v: %v", err, got)
		}
		if !proto.Equal(before, m) {
			t.Fatal("the message is changed")
		}
	})
	if aside == 0 {
		t.Error("no body was put aside")
	}
}

// A body is handed over without being copied.
func TestCodecCopiesNoBody(t *testing.T) {
	body := make([]byte, largeMessage)
	out, err := testCodec().Marshal(&extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_RequestBody{
		RequestBody: &extprocpb.BodyResponse{Response: &extprocpb.CommonResponse{
			HeaderMutation: &extprocpb.HeaderMutation{SetHeaders: []*corev3.HeaderValueOption{setHeader("content-length", fmt.Sprint(len(body)))}},
			BodyMutation:   &extprocpb.BodyMutation{Mutation: &extprocpb.BodyMutation_Body{Body: body}},
		}},
	}})
	if err != nil || len(out) != 2 || &out[1].ReadOnlyData()[0] != &body[0] {
		t.Fatalf("%v: %d buffers", err, len(out))
	}
	wire, err := proto.Marshal(bodyMessage(body))
	if err != nil {
		t.Fatal(err)
	}
	m := &extprocpb.ProcessingRequest{}
	if err := unmarshal(wire, m); err != nil {
		t.Fatal(err)
	}
	got := m.GetRequestBody().GetBody()
	wire[bytes.LastIndexByte(wire, 0)]++
	if len(got) != len(body) || bytes.Equal(got, body) {
		t.Error("the body was copied")
	}
}

func bodyMessage(body []byte) *extprocpb.ProcessingRequest {
	return &extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_RequestBody{RequestBody: &extprocpb.HttpBody{Body: body}}}
}

// The answers that are written once are written as they are, and stay so.
func TestFixedAnswers(t *testing.T) {
	for _, f := range []fixed{passAnswer, readAnswer, nextChunk} {
		before := proto.CloneOf(f.message)
		for range 2 {
			out, err := testCodec().Marshal(f.message)
			got := &extprocpb.ProcessingResponse{}
			if err != nil || proto.Unmarshal(out.Materialize(), got) != nil || !proto.Equal(got, before) {
				t.Fatalf("%v: %v, want %v", err, got, before)
			}
			out.Free()
		}
	}
}

// FuzzCodec: any bytes are read, or refused, as protobuf's own reader does it.
func FuzzCodec(f *testing.F) {
	wire, err := proto.Marshal(bodyMessage([]byte("body")))
	if err != nil {
		f.Fatal(err)
	}
	headers, err := proto.Marshal(&extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_RequestHeaders{RequestHeaders: &extprocpb.HttpHeaders{EndOfStream: true}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	f.Add(append(bytes.Clone(wire), headers...))
	f.Add(append(bytes.Clone(headers), wire...))
	f.Add(append(bytes.Clone(wire), wire...))
	f.Add(wire[:len(wire)-1])
	f.Add([]byte{0x22, 0x00})                               // a body without anything
	f.Add([]byte{0x22, 0x02, 0x0a, 0x00})                   // an empty one
	f.Add([]byte{0x22, 0x06, 0x0a, 0x01, 'a', 0x0a, 0x01})  // cut inside
	f.Add([]byte{0x20, 0x01})                               // of another type
	f.Add([]byte{0x23, 0x24})                               // a group
	f.Add([]byte{0x22, 0x05, 0x08, 0x01, 0x0a, 0x01, 'a'})  // the body's number twice, of two types
	f.Add([]byte{0x22, 0x06, 0x0a, 0x01, 'a', 0x0a, 1, 66}) // two bodies
	f.Fuzz(func(t *testing.T, wire []byte) {
		want, got := &extprocpb.ProcessingRequest{}, &extprocpb.ProcessingRequest{}
		wantErr := proto.Unmarshal(wire, want)
		err := unmarshal(wire, got)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if err == nil && !proto.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
