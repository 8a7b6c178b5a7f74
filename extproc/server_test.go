package extproc_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	filterpb "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"github.com/klauspost/compress/zstd"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/trimtab-io/trimtab/extproc"
	"github.com/trimtab-io/trimtab/pipeline"
)

func TestModeIsChosenAtTheHeaders(t *testing.T) {
	for _, c := range []struct {
		name    string
		req     *extprocpb.ProcessingRequest
		profile string
		mode    filterpb.ProcessingMode_BodySendMode
		reason  pipeline.Reason
		skip    bool // nothing more is sent at all
	}{
		{"known length", post(10), "", filterpb.ProcessingMode_BUFFERED, "", false},
		{"length at the limit", post(100), "small", filterpb.ProcessingMode_BUFFERED, "", false},
		{"length over the limit", post(101), "small", filterpb.ProcessingMode_NONE, pipeline.TooLarge, false},
		{"no length", post(-1), "", filterpb.ProcessingMode_BUFFERED_PARTIAL, "", false},
		{"length of nonsense", post(-1, "content-length", "x"), "", filterpb.ProcessingMode_BUFFERED_PARTIAL, "", false},
		{"empty", post(0), "", filterpb.ProcessingMode_NONE, pipeline.BadJSON, false},
		{"unknown encoding", post(10, "content-encoding", "lzma"), "", filterpb.ProcessingMode_NONE, pipeline.UnknownEncoding, false},
		{"two encodings", post(10, "content-encoding", "gzip, br"), "", filterpb.ProcessingMode_NONE, pipeline.UnknownEncoding, false},
		{"encoded without a length", post(-1, "content-encoding", "gzip"), "", filterpb.ProcessingMode_NONE, pipeline.UnknownEncoding, false},
		{"identity", post(10, "content-encoding", "identity"), "", filterpb.ProcessingMode_BUFFERED, "", false},
		{"unknown profile", post(10), "none", filterpb.ProcessingMode_NONE, pipeline.UnknownProfile, false},
		{"larger than all that may be held", post(1 << 20), "", filterpb.ProcessingMode_BUFFERED, "", false},
		{"other path", &extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_RequestHeaders{
			RequestHeaders: &extprocpb.HttpHeaders{Headers: header(":method", "POST", ":path", "/v1/files")},
		}}, "", filterpb.ProcessingMode_NONE, pipeline.NotLLM, true},
		{"other method", &extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_RequestHeaders{
			RequestHeaders: &extprocpb.HttpHeaders{Headers: header(":method", "GET", ":path", "/v1/messages"), EndOfStream: true},
		}}, "", filterpb.ProcessingMode_NONE, pipeline.NotPost, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, settings(), nil)
			s := f.open(c.profile)
			resp := s.ask(c.req)
			over := resp.GetModeOverride()
			if over.GetRequestBodyMode() != c.mode {
				t.Errorf("mode %v, want %v", over.GetRequestBodyMode(), c.mode)
			}
			if skip := over.GetResponseHeaderMode() == filterpb.ProcessingMode_SKIP; skip != c.skip {
				t.Errorf("response headers %v", over.GetResponseHeaderMode())
			}
			removed := resp.GetRequestHeaders().GetResponse().GetHeaderMutation().GetRemoveHeaders()
			if partial := c.mode == filterpb.ProcessingMode_BUFFERED_PARTIAL; partial != (len(removed) == 1 && removed[0] == "content-length") {
				t.Errorf("removes %v", removed)
			}
			if c.reason == "" {
				c.reason = extproc.NoBody
			}
			if got := f.finish(s).Report.Reason; got != c.reason {
				t.Errorf("reason %q, want %q", got, c.reason)
			}
			f.settled()
		})
	}
}

// changed returns the new body and its headers; "" if nothing is changed.
func changed(t *testing.T, resp *extprocpb.ProcessingResponse) (body string, headers map[string]string, removed []string) {
	t.Helper()
	r := resp.GetRequestBody()
	if r == nil {
		t.Fatalf("no answer to a body: %v", resp)
	}
	headers = map[string]string{}
	for _, h := range r.GetResponse().GetHeaderMutation().GetSetHeaders() {
		headers[h.GetHeader().GetKey()] = string(h.GetHeader().GetRawValue())
	}
	return string(r.GetResponse().GetBodyMutation().GetBody()), headers, r.GetResponse().GetHeaderMutation().GetRemoveHeaders()
}

func TestBufferedBodyIsRewrittenWithItsLength(t *testing.T) {
	f := newFake(t, settings(), nil)
	s := f.open("")
	body := `{"a":"old and new"}`
	s.ask(post(len(body), "anthropic-version", "2023-06-01"))
	// One message is the whole body in this mode, whatever it says of the end.
	resp := s.ask(requestBody(body, false))
	got, headers, removed := changed(t, resp)
	if got != `{"a":" and new"}` || headers["content-length"] != fmt.Sprint(len(got)) || len(headers) != 1 || len(removed) != 0 {
		t.Errorf("body %q, headers %v, removed %v", got, headers, removed)
	}
	md := resp.GetDynamicMetadata().GetFields()["trimtab"].GetStructValue().AsMap()
	if md["dialect"] != "anthropic" || md["saved_tokens"] != 3.0 || md["components"] != "cut" || md["reason"] != nil {
		t.Errorf("metadata: %v", md)
	}
	s.ask(responseHeaders("200", "content-type", "application/json"))
	sum := f.finish(s)
	if sum.Mode != extproc.ModeBuffered || sum.Status != 200 || sum.WireBytes != int64(len(body)) {
		t.Errorf("summary: %+v", sum)
	}
	r := f.requests[0]
	if r.Path != "/v1/messages" || !r.AnthropicVersion || r.Session != "" || string(r.Body) != body {
		t.Errorf("request: %+v", r)
	}
	f.settled()
}

func TestUntouchedBodyIsNotSentBack(t *testing.T) {
	f := newFake(t, settings(), nil)
	s := f.open("")
	s.ask(post(7))
	if got := s.ask(requestBody(`{"a":1}`, true)).GetRequestBody(); got.GetResponse() != nil {
		t.Errorf("answer: %v", got)
	}
	f.finish(s)
}

func TestPartialBody(t *testing.T) {
	for _, c := range []struct {
		name   string
		body   string
		end    bool
		want   string
		reason pipeline.Reason
	}{
		{"whole", `{"a":"old"}`, true, `{"a":""}`, ""},
		{"cut", `{"a":"old`, false, "", pipeline.PartialBody},
		{"over the limit", `{"a":"old` + strings.Repeat(" ", 1<<20), true, "", pipeline.TooLarge},
		{"empty", "", true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, settings(), nil)
			s := f.open("")
			s.ask(post(-1))
			got, headers, removed := changed(t, s.ask(requestBody(c.body, c.end)))
			// Envoy ignores header changes here, and a length would be a lie.
			if got != c.want || len(headers)+len(removed) > 0 {
				t.Errorf("body %q, headers %v %v", got, headers, removed)
			}
			if sum := f.finish(s); sum.Report.Reason != c.reason || sum.Mode != extproc.ModePartial {
				t.Errorf("summary: %+v", sum)
			}
			f.settled()
		})
	}
}

func encode(t testing.TB, encoding, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w interface {
		Write([]byte) (int, error)
		Close() error
	}
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return text
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEncodedBodies(t *testing.T) {
	text := `{"a":"old ` + strings.Repeat("x", 2000) + `"}`
	for _, encoding := range []string{"gzip", "deflate", "br", "zstd"} {
		t.Run(encoding, func(t *testing.T) {
			f := newFake(t, settings(), nil)
			s := f.open("")
			wire := encode(t, encoding, text)
			s.ask(post(len(wire), "content-encoding", strings.ToUpper(encoding)))
			got, headers, removed := changed(t, s.ask(requestBody(wire, true)))
			if got != strings.ReplaceAll(text, "old", "") || headers["content-length"] != fmt.Sprint(len(got)) {
				t.Errorf("body %q, headers %v", got, headers)
			}
			if len(removed) != 1 || removed[0] != "content-encoding" {
				t.Errorf("removed %v", removed)
			}
			f.finish(s)
			f.settled()
		})
	}
	// What can't be decoded, or grows too much, goes on as it came.
	for name, wire := range map[string]string{
		"broken": "no gzip at all", "cut": encode(t, "gzip", text)[:20], "bomb": encode(t, "gzip", strings.Repeat("old ", 1<<19)),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, settings(), nil)
			s := f.open("")
			s.ask(post(len(wire), "content-encoding", "gzip"))
			got, _, _ := changed(t, s.ask(requestBody(wire, true)))
			sum := f.finish(s)
			if got != "" || sum.Report.Reason != pipeline.UnknownEncoding || len(f.requests) != 0 {
				t.Errorf("body %q, %+v", got, sum)
			}
			f.settled()
		})
	}
}

func TestHeadersAreBelievedOnlyWhereTrusted(t *testing.T) {
	headers := []string{"x-trimtab-session", "s", "x-context-guru-bypass", "1", "x-claude-code-agent-id", "a", "x-trimtab-profile", "small"}
	for _, trusted := range []bool{false, true} {
		set := settings()
		set.TrustSession, set.TrustAgent, set.TrustBypass, set.TrustProfile = trusted, trusted, trusted, trusted
		f := newFake(t, set, nil)
		s := f.open("")
		s.ask(post(11, headers...))
		got, _, _ := changed(t, s.ask(requestBody(`{"a":"old"}`, true)))
		f.finish(s)
		r := f.requests[0]
		if trusted != (r.Profile == "small") || trusted != (r.Session == "s") || trusted != (r.Agent == "a") || trusted != r.Bypass || trusted != (got == "") {
			t.Errorf("trusted %v: %+v, body %q", trusted, r, got)
		}
	}
}

func TestUsageIsReadFromEveryForm(t *testing.T) {
	usage := `{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":7}}`
	sse := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":100,\"cache_creation_input_tokens\":20,\"output_tokens\":1}}}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	for _, c := range []struct{ name, kind, encoding, text string }{
		{"json", "application/json; charset=utf-8", "", usage},
		{"sse", "text/event-stream", "", sse},
		{"json gzip", "application/json", "gzip", usage},
		{"sse gzip", "text/event-stream", "gzip", sse},
		{"sse br", "text/event-stream", "br", sse},
		{"sse zstd", "text/event-stream", "zstd", sse},
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s in pieces of %d", c.name, size), func(t *testing.T) {
				f := newFake(t, settings(), nil)
				s := f.open("")
				s.ask(post(11))
				s.ask(requestBody(`{"a":"old"}`, true))
				over := s.ask(responseHeaders("200", "content-type", c.kind, "content-encoding", c.encoding)).GetModeOverride()
				if over.GetResponseBodyMode() != filterpb.ProcessingMode_STREAMED {
					t.Fatalf("override %v", over)
				}
				wire := encode(t, c.encoding, c.text)
				for len(wire) > 0 {
					n := min(size, len(wire))
					if got := s.ask(responseBody(wire[:n], false)).GetResponseBody(); got == nil || got.GetResponse() != nil {
						t.Fatalf("answer %v", got)
					}
					wire = wire[n:]
				}
				last := s.ask(responseBody("", true))
				md := last.GetDynamicMetadata().GetFields()["trimtab"].GetStructValue().AsMap()
				if md["usage_cache_read"] != 100.0 || md["usage_output"] != 7.0 || len(md) != 4 {
					t.Errorf("metadata: %v", md)
				}
				sum := f.finish(s)
				if sum.UsageOutcome != "read" || sum.Usage.Read != 100 || sum.Usage.Fresh != 5 || sum.Usage.Input() != 125 || sum.Usage.Output != 7 {
					t.Errorf("summary: %+v", sum)
				}
				x := f.returned[0]
				if len(x.usage) != 1 || x.usage[0] != sum.Usage || x.why[0] != "read" || x.closed != 1 || len(x.status) != 1 || x.status[0] != 200 {
					t.Errorf("exchange: %+v", x)
				}
			})
		}
	}
}

func TestUsageThatIsNotReadIsNamed(t *testing.T) {
	for _, c := range []struct {
		name    string
		path    string
		headers *extprocpb.ProcessingRequest
		body    string
		want    string
	}{
		{"error", "", responseHeaders("529", "content-type", "application/json"), "", extproc.UsageStatus},
		{"html", "", responseHeaders("200", "content-type", "text/html"), "", extproc.UsageType},
		{"encoding", "", responseHeaders("200", "content-type", "application/json", "content-encoding", "lzma"), "", extproc.UsageEncoding},
		{"broken encoding", "", responseHeaders("200", "content-type", "application/json", "content-encoding", "gzip"), "nonsense", extproc.UsageEncoding},
		{"broken body", "", responseHeaders("200", "content-type", "application/json"), "nonsense", "syntax"},
		{"count", "/v1/messages/count_tokens", responseHeaders("200", "content-type", "application/json"), "", extproc.UsageNotBilled},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, settings(), nil)
			s := f.open("")
			req := post(11)
			if c.path != "" {
				req.GetRequestHeaders().GetHeaders().GetHeaders()[1].RawValue = []byte(c.path)
			}
			s.ask(req)
			s.ask(requestBody(`{"a":"old"}`, true))
			over := s.ask(c.headers).GetModeOverride()
			if streamed := over.GetResponseBodyMode() == filterpb.ProcessingMode_STREAMED; streamed != (c.body != "") {
				t.Fatalf("override %v", over)
			}
			if c.body != "" {
				s.ask(responseBody(c.body, false))
				s.ask(responseBody("", true))
			}
			if sum := f.finish(s); sum.UsageOutcome != c.want {
				t.Errorf("outcome %q, want %q", sum.UsageOutcome, c.want)
			}
		})
	}
}

func TestClientThatLeavesIsNoError(t *testing.T) {
	f := newFake(t, settings(), nil)
	s := f.open("")
	s.ask(post(11))
	s.ask(requestBody(`{"a":"old"}`, true))
	s.cancel()
	sum := <-f.seen.summaries
	if sum.Status != 0 || sum.UsageOutcome != extproc.UsageNoAnswer || f.returned[0].closed != 1 || len(f.returned[0].status) != 0 {
		t.Errorf("%+v %+v", sum, f.returned[0])
	}
	f.settled()
}

// A panic at the answer can't make a request raw that was sent rewritten.
func TestPanicAtTheAnswerKeepsTheRewrite(t *testing.T) {
	f := newFake(t, settings(), func(ctx context.Context, r pipeline.Request) *fakeExchange {
		x := cutOld(ctx, r)
		x.panics = true
		return x
	})
	s := f.open("")
	s.ask(post(11))
	if got, _, _ := changed(t, s.ask(requestBody(`{"a":"old"}`, true))); got == "" {
		t.Error("nothing was changed")
	}
	if got := s.ask(responseHeaders("200", "content-type", "application/json")); got.GetResponseHeaders() == nil {
		t.Errorf("answer %v", got)
	}
	s.ask(responseBody(`{"usage":{"input_tokens":5,"output_tokens":7}}`, true))
	sum := f.finish(s)
	if !sum.Usage.Known {
		t.Errorf("the bill is lost: %+v", sum)
	}
	if sum.Report.Reason != pipeline.Rewritten || sum.Report.BytesAfter == sum.Report.BytesBefore {
		t.Errorf("summary: %+v", sum)
	}
	if x := f.returned[0]; x.raw || x.let == 0 || x.closed != 1 {
		t.Errorf("exchange: raw %v, let go %d times, closed %d times", x.raw, x.let, x.closed)
	}
	f.settled()
}

func TestPanicsCostTheRewriteOnly(t *testing.T) {
	f := newFake(t, settings(), func(context.Context, pipeline.Request) *fakeExchange { panic("secret text") })
	s := f.open("")
	s.ask(post(11))
	if got, _, _ := changed(t, s.ask(requestBody(`{"a":"old"}`, true))); got != "" {
		t.Errorf("body %q", got)
	}
	s.ask(responseHeaders("200", "content-type", "application/json"))
	s.ask(responseBody("{}", true))
	if sum := f.finish(s); sum.Report.Reason != pipeline.EnginePanicked {
		t.Errorf("summary: %+v", sum)
	}
	if len(f.seen.panics) != 1 || f.seen.panics[0] != "engine" {
		t.Errorf("panics: %v", f.seen.panics)
	}
	f.settled()
}

// A body that the engine emptied is sent with its length of 0, whatever it was.
func TestAnEmptyRewriteIsSentAsSuch(t *testing.T) {
	f := newFake(t, settings(), func(_ context.Context, r pipeline.Request) *fakeExchange {
		return &fakeExchange{body: []byte{}}
	})
	s := f.open("")
	s.ask(post(7))
	got, headers, _ := changed(t, s.ask(requestBody(`{"a":1}`, true)))
	if got != "" || headers["content-length"] != "0" {
		t.Errorf("%q %v", got, headers)
	}
	f.finish(s)
}

func TestDeadlineLetsTheRequestGoOn(t *testing.T) {
	set := settings()
	set.Profiles["default"] = extproc.Limits{MaxBodyBytes: 1 << 20, MaxExpansion: 1, Deadline: time.Millisecond}
	release := make(chan struct{})
	f := newFake(t, set, func(_ context.Context, r pipeline.Request) *fakeExchange {
		<-release // an engine that does not keep to its deadline
		return cutOld(context.Background(), r)
	})
	s := f.open("")
	s.ask(post(11))
	if got, _, _ := changed(t, s.ask(requestBody(`{"a":"old"}`, true))); got != "" {
		t.Errorf("body %q", got)
	}
	if _, held := f.server.InFlight(); held == 0 {
		t.Error("an engine at work holds nothing: many of them could pile up")
	}
	close(release)
	if sum := f.finish(s); sum.Report.Reason != pipeline.DeadlinePassed {
		t.Errorf("summary: %+v", sum)
	}
	f.settled()
	late := f.late(1)
	if !late.raw || len(late.status) != 0 {
		t.Errorf("the engine believes that its late body was sent: %+v", late)
	}
}

func TestBytesInFlightAreBounded(t *testing.T) {
	set := settings()
	set.MaxBytesInFlight = 2 << 20
	block := make(chan struct{})
	f := newFake(t, set, func(_ context.Context, r pipeline.Request) *fakeExchange {
		<-block
		return cutOld(context.Background(), r)
	})
	first, second := f.open(""), f.open("")
	first.ask(post(1 << 20))
	second.ask(post(1 << 20))
	third := f.open("")
	if got := third.ask(post(1)).GetModeOverride().GetRequestBodyMode(); got != filterpb.ProcessingMode_NONE {
		t.Errorf("mode %v", got)
	}
	if sum := f.finish(third); sum.Report.Reason != pipeline.Overloaded {
		t.Errorf("summary: %+v", sum)
	}
	close(block)
	first.ask(requestBody(`{"a":"old"}`, true))
	fourth := f.open("")
	if got := fourth.ask(post(1)).GetModeOverride().GetRequestBodyMode(); got != filterpb.ProcessingMode_BUFFERED {
		t.Errorf("mode %v after the first was sent", got)
	}
	for _, s := range []*stream{first, second, fourth} {
		f.finish(s)
	}
	f.settled()
}

func TestUnknownMessagesEndTheStreamWithAnError(t *testing.T) {
	f := newFake(t, settings(), nil)
	s := f.open("")
	if err := s.Send(&extprocpb.ProcessingRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err == nil {
		t.Error("answered")
	}
}

func TestTrailersAndSurplusBodiesAreAnswered(t *testing.T) {
	f := newFake(t, settings(), nil)
	s := f.open("")
	s.ask(post(11))
	s.ask(requestBody(`{"a":"old"}`, false))
	if got, _, _ := changed(t, s.ask(requestBody(`{"a":"old"}`, true))); got != "" {
		t.Errorf("a second body is rewritten: %q", got)
	}
	trailers := &extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_RequestTrailers{RequestTrailers: &extprocpb.HttpTrailers{}}}
	if s.ask(trailers).GetRequestTrailers() == nil {
		t.Error("trailers are not answered")
	}
	// An answer that nobody asked for, as Envoy's own replies are.
	s.ask(responseBody("x", true))
	s.ask(responseHeaders("413"))
	f.finish(s)
}

func TestManyAtOnce(t *testing.T) {
	f := newFake(t, settings(), nil)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			s := f.open("")
			body := fmt.Sprintf(`{"a":"old %d"}`, i)
			s.ask(post(len(body)))
			if got, _, _ := changed(t, s.ask(requestBody(body, true))); got != fmt.Sprintf(`{"a":" %d"}`, i) {
				t.Errorf("body %q", got)
			}
			s.ask(responseHeaders("200", "content-type", "text/event-stream"))
			s.ask(responseBody("data: {}\n\n", false))
			s.cancel()
		})
	}
	wg.Wait()
	for range 16 {
		<-f.seen.summaries
	}
	f.settled()
}

func TestDrainLetsOpenExchangesFinish(t *testing.T) {
	f := newFake(t, settings(), nil)
	health := healthpb.NewHealthClient(f.conn)
	check := func() healthpb.HealthCheckResponse_ServingStatus {
		r, err := health.Check(t.Context(), &healthpb.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return r.GetStatus()
	}
	if got := check(); got != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health %v", got)
	}
	s := f.open("")
	s.ask(post(11))
	drained := make(chan error, 1)
	go func() {
		drained <- f.grpc.Drain(context.Background(), 300*time.Millisecond)
	}()
	for check() != healthpb.HealthCheckResponse_NOT_SERVING {
		time.Sleep(time.Millisecond)
	}
	// Open and new exchanges still work.
	late := f.open("")
	late.ask(post(11))
	for _, x := range []*stream{s, late} {
		if got, _, _ := changed(t, x.ask(requestBody(`{"a":"old"}`, true))); got != `{"a":""}` {
			t.Errorf("body %q", got)
		}
		f.finish(x)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

func TestDrainEndsWithItsContext(t *testing.T) {
	f := newFake(t, settings(), nil)
	s := f.open("")
	s.ask(post(11))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := f.grpc.Drain(ctx, time.Millisecond); err == nil {
		t.Error("an open exchange was waited for")
	}
	<-f.seen.summaries
	f.settled()
}

func FuzzMessages(f *testing.F) {
	f.Add("POST", "/v1/messages", "11", "gzip", `{"a":"old"}`, "200", "application/json", "data")
	f.Add("GET", "", "-1", "", "", "", "", "")
	set := settings()
	f.Fuzz(func(t *testing.T, method, path, length, encoding, body, status, kind, chunk string) {
		x := newFake(t, set, nil)
		s := x.open("")
		s.ask(&extprocpb.ProcessingRequest{Request: &extprocpb.ProcessingRequest_RequestHeaders{RequestHeaders: &extprocpb.HttpHeaders{
			Headers: header(":method", method, ":path", path, "content-length", length, "content-encoding", encoding),
		}}})
		resp := s.ask(requestBody(body, true))
		if got, headers, _ := changed(t, resp); got != "" {
			if n := headers["content-length"]; n != "" && n != fmt.Sprint(len(got)) {
				t.Errorf("length %s of %d", n, len(got))
			}
		}
		s.ask(responseHeaders(status, "content-type", kind, "content-encoding", encoding))
		s.ask(responseBody(chunk, false))
		s.ask(responseBody("", true))
		x.finish(s)
		x.settled()
	})
}
