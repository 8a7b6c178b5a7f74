package provider

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object with its members in order.
type object []pair

type pair struct {
	name  string
	value any
}

// MarshalJSONTo writes the members in their order.
func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := enc.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// encode never fails on what this package builds.
func encode(v any) []byte {
	b, err := json.Marshal(v, lenient)
	if err != nil {
		panic("provider: " + err.Error())
	}
	return b
}

// writer is where the answer's body goes.
type writer struct {
	io.Writer
	flush func()
	close func()
}

func (ex *exchange) begin(status int, contentType string) *writer {
	ex.record.Status = status
	h := ex.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Request-Id", ex.id("req_", "answer"))
	flusher := http.NewResponseController(ex.w)
	out := &writer{Writer: ex.w, flush: func() { _ = flusher.Flush() }, close: func() {}}
	if ex.p.cfg.Gzip && strings.Contains(ex.r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(ex.w)
		flush := out.flush
		out.Writer, out.flush, out.close = z, func() { _ = z.Flush(); flush() }, func() { _ = z.Close() }
	}
	ex.w.WriteHeader(status)
	return out
}

func (ex *exchange) json(status int, v any) {
	out := ex.begin(status, "application/json")
	_, _ = out.Write(encode(v)) // a client that went away is no error of ours
	out.close()
}

// stream cuts server-sent events at awkward places.
type stream struct {
	out   *writer
	end   string
	sizes []int
	next  int
	buf   []byte
}

func (ex *exchange) startStream() *stream {
	ex.w.Header().Set("Cache-Control", "no-cache")
	return &stream{
		out: ex.begin(http.StatusOK, "text/event-stream; charset=utf-8"),
		end: ex.p.cfg.LineEnd, sizes: ex.p.cfg.Chunks,
	}
}

// event writes one event; without a name only its data.
func (s *stream) event(name string, data any) {
	if name != "" {
		s.buf = append(s.buf, "event: "+name+s.end...)
	}
	s.buf = append(s.buf, "data: "...)
	if text, ok := data.(string); ok {
		s.buf = append(s.buf, text...)
	} else {
		s.buf = append(s.buf, encode(data)...)
	}
	s.buf = append(s.buf, s.end+s.end...)
	for len(s.buf) >= s.sizes[s.next%len(s.sizes)] {
		s.cut(s.sizes[s.next%len(s.sizes)])
		s.next++
	}
}

func (s *stream) cut(n int) {
	_, _ = s.out.Write(s.buf[:n])
	s.buf = append(s.buf[:0], s.buf[n:]...)
	s.out.flush()
}

func (s *stream) close() {
	s.cut(len(s.buf))
	s.out.close()
}

// pieces cuts a text for deltas, inside words and never inside a character.
func pieces(s string) []string {
	const size = 11
	var all []string
	from := 0
	for i := range s {
		if i-from >= size {
			all = append(all, s[from:i])
			from = i
		}
	}
	return append(all, s[from:])
}
