package envoytest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	filterpb "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/service"
)

// Kind is a way in which a server fails.
type Kind string

// The kinds of failure.
const (
	Silent    Kind = "silent"         // it never answers
	Slow      Kind = "slow"           // it answers after Envoy's patience has ended
	Error     Kind = "gRPC error"     // it ends the stream with an error
	Close     Kind = "clean close"    // it ends the stream without an error
	Killed    Kind = "killed"         // its connections break, all of them
	Spurious  Kind = "wrong message"  // it answers something that was not asked
	Immediate Kind = "answers itself" // it answers the agent in the provider's place
	Empty     Kind = "empty answer"   // it sends an answer of no kind
)

// Phase is where in an exchange a failure happens.
type Phase string

// The phases: at a message, in place of the answer; or after the answer to it.
const (
	AtHeaders    Phase = "at the request's headers"
	AfterHeaders Phase = "after the request's headers"
	AtBody       Phase = "at the request's body"
	AfterBody    Phase = "after the request's body"
	AtAnswer     Phase = "at the answer's headers"
	AfterAnswer  Phase = "after the answer's headers"
	AtChunk      Phase = "at a chunk of the answer"
	AfterChunk   Phase = "after a chunk of the answer"
)

// faultyChunk is which chunk of an answer the phases mean.
const faultyChunk = 2

// Fault is one failure of a server, in one exchange.
type Fault struct {
	Kind  Kind
	Phase Phase
}

// ServerOptions say what server to run.
type ServerOptions struct {
	// Addr is where Envoy reaches it.
	Addr string
	// Environ configures it, KEY=VALUE.
	Environ []string
	// Now is its clock; nil: time.Now.
	Now func() time.Time
	// Late is how long its slow answers take.
	Late time.Duration
}

// Server is the product's server, which fails where it is told to. It can be
// killed and started again on the same address, as a new process would be: all
// that it knew is gone.
type Server struct {
	t testing.TB
	o ServerOptions

	mu      sync.Mutex
	service *service.Service
	faults  map[string]*planned
	ledger  Ledger

	gate   sync.RWMutex // held for writing while the server is dying
	frozen chan struct{}
}

type planned struct {
	Fault
	fired chan struct{}
	once  sync.Once
}

// Ledger counts exchanges as the server saw them.
type Ledger struct {
	Open  int // not ended
	Whole int // all that Envoy asked was answered
	Cut   int // ended before that
	last  int // open, and all is answered
}

// StartServer serves until the end of the test.
func StartServer(t testing.TB, o ServerOptions) *Server {
	t.Helper()
	s := &Server{t: t, o: o, faults: map[string]*planned{}}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// Start serves again after Stop or Kill.
func (s *Server) Start() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = make(chan struct{})
	var err error
	s.service, err = service.Start(context.Background(), service.Options{
		Config: config.Options{Environ: append([]string{"TRIMTAB_ADMIN=127.0.0.1:0", "TRIMTAB_GRPC=" + s.o.Addr}, s.o.Environ...)},
		Log:    slog.New(slog.DiscardHandler),
		Now:    s.o.Now,
		GRPC:   []grpc.ServerOption{grpc.StreamInterceptor(s.intercept)},
	})
	if err != nil {
		s.t.Error(err)
	}
}

// Service is the one that runs; nil after Stop.
func (s *Server) Service() *service.Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.service
}

// Stop breaks all connections at once. It may be called again.
func (s *Server) Stop() {
	s.mu.Lock()
	running := s.service
	s.service = nil
	s.mu.Unlock()
	if running == nil {
		return
	}
	if err := running.Kill(); err != nil {
		s.t.Error(err)
	}
}

// Freeze answers nothing any more, and returns once Envoy has ended all exchanges
// that needed no further answer: those that are then open are cut by a Stop, and
// no other is.
func (s *Server) Freeze() {
	s.gate.Lock()
	defer s.gate.Unlock()
	close(s.frozen)
	for range 500 {
		s.mu.Lock()
		last := s.ledger.last
		s.mu.Unlock()
		if last == 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Plan makes the exchange of one request fail. The channel is closed when it has.
func (s *Server) Plan(id string, f Fault) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &planned{Fault: f, fired: make(chan struct{})}
	s.faults[id] = p
	return p.fired
}

// Ledger returns the counts so far.
func (s *Server) Ledger() Ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger
}

func (s *Server) count(change func(*Ledger)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.ledger)
}

// errFault ends an exchange in the middle.
var errFault = status.Error(codes.Internal, "a planned failure")

func (s *Server) intercept(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if info.FullMethod != extprocpb.ExternalProcessor_Process_FullMethodName {
		return handler(srv, stream)
	}
	s.count(func(l *Ledger) { l.Open++ })
	x := &tapped{ServerStream: stream, s: s}
	s.mu.Lock()
	x.frozen = s.frozen
	s.mu.Unlock()
	err := handler(srv, x)
	s.count(func(l *Ledger) {
		l.Open--
		if x.last {
			l.Whole++
			l.last--
		} else {
			l.Cut++
		}
	})
	if x.ended {
		return x.end
	}
	return err
}

// tapped is a stream on which answers go wrong.
type tapped struct {
	grpc.ServerStream
	s      *Server
	frozen chan struct{}
	fault  *planned
	asked  *extprocpb.ProcessingRequest
	chunks int
	last   bool // all that Envoy asked for has been answered
	ended  bool // by a fault, with end
	end    error
}

// RecvMsg implements grpc.ServerStream.
func (x *tapped) RecvMsg(m any) error {
	err := x.ServerStream.RecvMsg(m)
	if err != nil {
		return err
	}
	x.asked = m.(*extprocpb.ProcessingRequest)
	if h := x.asked.GetRequestHeaders(); h != nil {
		for _, v := range h.GetHeaders().GetHeaders() {
			if v.GetKey() == IDHeader {
				x.s.mu.Lock()
				x.fault = x.s.faults[string(v.GetRawValue())]
				x.s.mu.Unlock()
			}
		}
	}
	if x.asked.GetResponseBody() != nil {
		x.chunks++
	}
	return nil
}

// phases are where an exchange is when the last message is answered.
func (x *tapped) phases() (at, after Phase) {
	switch {
	case x.asked.GetRequestHeaders() != nil:
		return AtHeaders, AfterHeaders
	case x.asked.GetRequestBody() != nil:
		return AtBody, AfterBody
	case x.asked.GetResponseHeaders() != nil:
		return AtAnswer, AfterAnswer
	case x.asked.GetResponseBody() != nil && x.chunks == faultyChunk:
		return AtChunk, AfterChunk
	}
	return "", ""
}

// SendMsg implements grpc.ServerStream.
func (x *tapped) SendMsg(m any) error {
	at, after := x.phases()
	if x.fault != nil && x.fault.Phase == at {
		return x.fail(m)
	}
	if err := x.send(m); err != nil {
		return err
	}
	if x.fault != nil && x.fault.Phase == after {
		return x.fail(m)
	}
	return nil
}

// send passes an answer on, unless the server is dying.
func (x *tapped) send(m any) error {
	x.s.gate.RLock()
	defer x.s.gate.RUnlock()
	select {
	case <-x.frozen:
		return errFault
	default:
	}
	if err := x.ServerStream.SendMsg(m); err != nil {
		return err
	}
	if !x.last && final(x.asked, m.(*extprocpb.ProcessingResponse)) {
		x.last = true
		x.s.count(func(l *Ledger) { l.last++ })
	}
	return nil
}

// final says that Envoy asks nothing more after this answer.
func final(asked *extprocpb.ProcessingRequest, answer *extprocpb.ProcessingResponse) bool {
	over := answer.GetModeOverride()
	switch {
	case asked.GetRequestHeaders() != nil:
		return over.GetResponseHeaderMode() == filterpb.ProcessingMode_SKIP && over.GetRequestBodyMode() == filterpb.ProcessingMode_NONE
	case asked.GetResponseHeaders() != nil:
		return over.GetResponseBodyMode() == filterpb.ProcessingMode_NONE
	case asked.GetResponseBody() != nil:
		return asked.GetResponseBody().GetEndOfStream()
	}
	return false
}

func (x *tapped) fail(m any) error {
	x.fault.once.Do(func() { close(x.fault.fired) })
	switch x.fault.Kind {
	case Error:
		x.ended, x.end = true, errFault
	case Close:
		x.ended = true
	case Killed:
		x.s.Stop()
	case Slow:
		select {
		case <-x.Context().Done():
		case <-time.After(x.s.o.Late):
		}
		return x.ServerStream.SendMsg(m)
	case Spurious:
		x.ServerStream.SendMsg(x.spurious())
		<-x.Context().Done()
	case Immediate:
		x.ServerStream.SendMsg(&extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_ImmediateResponse{
			ImmediateResponse: &extprocpb.ImmediateResponse{Status: &typev3.HttpStatus{Code: typev3.StatusCode_Forbidden}, Body: []byte("no")},
		}})
		<-x.Context().Done()
	case Empty:
		x.ServerStream.SendMsg(&extprocpb.ProcessingResponse{})
		<-x.Context().Done()
	case Silent:
		<-x.Context().Done()
	}
	return errFault
}

// spurious is an answer to something that was not asked.
func (x *tapped) spurious() *extprocpb.ProcessingResponse {
	if x.asked.GetRequestHeaders() != nil {
		return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_ResponseBody{ResponseBody: &extprocpb.BodyResponse{}}}
	}
	return &extprocpb.ProcessingResponse{Response: &extprocpb.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocpb.HeadersResponse{}}}
}

// String implements fmt.Stringer.
func (f Fault) String() string { return fmt.Sprintf("%s %s", f.Kind, f.Phase) }
