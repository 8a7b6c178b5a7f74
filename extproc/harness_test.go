package extproc_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"github.com/trimtab-io/trimtab/extproc"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeExchange is what the fake engine returns.
type fakeExchange struct {
	body   []byte
	report pipeline.Report

	mu     sync.Mutex
	status []int
	usage  []promptcache.Usage
	why    []string
	closed int
	raw    bool
	let    int // how often the body was let go of

	panics bool // when the answer comes
}

func (x *fakeExchange) Body() []byte            { return x.body }
func (x *fakeExchange) Report() pipeline.Report { return x.report }

func (x *fakeExchange) SentRaw() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.raw = true
}

func (x *fakeExchange) Release() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.let++
}

func (x *fakeExchange) Responded(status int, _ time.Time) {
	if x.panics {
		panic("secret text")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status = append(x.status, status)
}

func (x *fakeExchange) Billed(u promptcache.Usage, why string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.usage, x.why = append(x.usage, u), append(x.why, why)
}

func (x *fakeExchange) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed++
}

// observed collects what the server tells.
type observed struct {
	summaries chan extproc.Summary
	mu        sync.Mutex
	panics    []string
}

func (o *observed) Exchanged(s extproc.Summary) { o.summaries <- s }

func (o *observed) Panicked(stage string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.panics = append(o.panics, stage)
}

// fake is a server under test with the client that Envoy would be.
type fake struct {
	t      testing.TB
	server *extproc.Server
	client extprocpb.ExternalProcessorClient
	seen   *observed
	conn   *grpc.ClientConn
	grpc   *extproc.GRPC

	mu       sync.Mutex
	requests []pipeline.Request
	returned []*fakeExchange
}

func settings() *extproc.Settings {
	return &extproc.Settings{
		Profiles: map[string]extproc.Limits{
			"default": {MaxBodyBytes: 1 << 20, MaxExpansion: 100, Deadline: 10 * time.Second},
			"small":   {MaxBodyBytes: 100, MaxExpansion: 100, Deadline: 10 * time.Second},
		},
		Default:          "default",
		MaxBytesInFlight: 4 << 20,
	}
}

// newFake starts a server whose engine is rewrite; nil: cut "old" out of the body.
func newFake(t testing.TB, set *extproc.Settings, rewrite func(context.Context, pipeline.Request) *fakeExchange) *fake {
	t.Helper()
	if rewrite == nil {
		rewrite = cutOld
	}
	f := &fake{t: t, seen: &observed{summaries: make(chan extproc.Summary, 64)}}
	var err error
	f.server, err = extproc.New(extproc.Options{
		Settings: func() *extproc.Settings { return set },
		Observer: f.seen,
		Rewrite: func(ctx context.Context, r pipeline.Request) extproc.Exchange {
			x := rewrite(ctx, r)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.requests, f.returned = append(f.requests, r), append(f.returned, x)
			return x
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := bufconn.Listen(1 << 20)
	f.grpc = extproc.NewGRPC(f.server, 1<<20)
	served := make(chan error, 1)
	go func() { served <- f.grpc.Serve(l) }()
	f.conn, err = grpc.NewClient("passthrough:x", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	f.client = extprocpb.NewExternalProcessorClient(f.conn)
	t.Cleanup(func() {
		f.conn.Close()
		f.grpc.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return f
}

func cutOld(_ context.Context, r pipeline.Request) *fakeExchange {
	out := r.Body
	if s := string(r.Body); strings.Contains(s, "old") && !r.Bypass {
		out = []byte(strings.ReplaceAll(s, "old", ""))
	}
	x := &fakeExchange{body: out}
	x.report = pipeline.Report{
		Dialect: "anthropic", Model: "m", TokensBefore: len(r.Body), TokensAfter: len(out),
		BytesBefore: len(r.Body), BytesAfter: len(out),
		Components: []pipeline.ComponentReport{{Name: "cut", Edits: 1}},
	}
	return x
}

// stream is one exchange, driven by hand.
type stream struct {
	t testing.TB
	extprocpb.ExternalProcessor_ProcessClient
	cancel context.CancelFunc
}

func (f *fake) open(profile string) *stream {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	if profile != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "x-trimtab-profile", profile)
	}
	s, err := f.client.Process(ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(cancel)
	return &stream{f.t, s, cancel}
}

func (s *stream) ask(r *extprocpb.ProcessingRequest) *extprocpb.ProcessingResponse {
	s.t.Helper()
	if err := s.Send(r); err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.Recv()
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

func header(pairs ...string) *corev3.HeaderMap {
	m := &corev3.HeaderMap{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m.Headers = append(m.Headers, &corev3.HeaderValue{Key: pairs[i], RawValue: []byte(pairs[i+1])})
	}
	return m
}

// post are the headers of a request with a body of n bytes; n < 0: unknown.
func post(n int, more ...string) *extprocpb.ProcessingRequest {
	pairs := append([]string{":method", "POST", ":path", "/v1/messages?beta=true"}, more...)
	if n >= 0 {
		pairs = append(pairs, "content-length", fmt.Sprint(n))
	}
	return &extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_RequestHeaders{
		RequestHeaders: &extprocpb.HttpHeaders{Headers: header(pairs...)},
	}}
}

func requestBody(body string, end bool) *extprocpb.ProcessingRequest {
	return &extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_RequestBody{
		RequestBody: &extprocpb.HttpBody{Body: []byte(body), EndOfStream: end},
	}}
}

func responseHeaders(status string, more ...string) *extprocpb.ProcessingRequest {
	return &extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_ResponseHeaders{
		ResponseHeaders: &extprocpb.HttpHeaders{Headers: header(append([]string{":status", status}, more...)...)},
	}}
}

func responseBody(body string, end bool) *extprocpb.ProcessingRequest {
	return &extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_ResponseBody{
		ResponseBody: &extprocpb.HttpBody{Body: []byte(body), EndOfStream: end},
	}}
}

// finish ends the exchange as Envoy does, and returns what the server told.
func (f *fake) finish(s *stream) extproc.Summary {
	f.t.Helper()
	if err := s.CloseSend(); err != nil {
		f.t.Fatal(err)
	}
	if _, err := s.Recv(); err == nil {
		f.t.Fatal("an answer to nothing")
	}
	select {
	case sum := <-f.seen.summaries:
		return sum
	case <-time.After(20 * time.Second):
		f.t.Fatal("no summary")
		return extproc.Summary{}
	}
}

// settled checks that nothing is held once all exchanges are over.
func (f *fake) settled() {
	f.t.Helper()
	for range 2000 {
		if streams, bytes := f.server.InFlight(); streams == 0 && bytes == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	streams, bytes := f.server.InFlight()
	f.t.Errorf("%d streams and %d bytes are held", streams, bytes)
}

// late waits until the n-th exchange has been closed, and returns it.
func (f *fake) late(n int) *fakeExchange {
	f.t.Helper()
	for range 2000 {
		f.mu.Lock()
		if len(f.returned) >= n {
			x := f.returned[n-1]
			f.mu.Unlock()
			x.mu.Lock()
			closed := x.closed
			x.mu.Unlock()
			if closed > 0 {
				return x
			}
		} else {
			f.mu.Unlock()
		}
		time.Sleep(time.Millisecond)
	}
	f.t.Fatal("the exchange was never closed")
	return nil
}
