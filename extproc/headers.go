package extproc

import (
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
)

// headers are a message's headers, by lower-case name. Of a header that is
// there more than once the first counts.
type headers map[string]string

func readHeaders(m *corev3.HeaderMap) headers {
	h := make(headers, len(m.GetHeaders()))
	for _, v := range m.GetHeaders() {
		h.add(strings.ToLower(v.GetKey()), v)
	}
	return h
}

// answerHeaders are the headers of an answer that are looked at. They are all that
// is read, since an answer's first byte waits for it.
func answerHeaders(m *corev3.HeaderMap) headers {
	h := make(headers, 3)
	for _, v := range m.GetHeaders() {
		switch name := strings.ToLower(v.GetKey()); name {
		case ":status", "content-type", "content-encoding":
			h.add(name, v)
		}
	}
	return h
}

func (h headers) add(name string, v *corev3.HeaderValue) {
	if h[name] != "" {
		return
	}
	if raw := v.GetRawValue(); len(raw) > 0 {
		h[name] = string(raw)
	} else {
		h[name] = v.GetValue()
	}
}

// path is the request's path without its query.
func (h headers) path() string {
	path, _, _ := strings.Cut(h[":path"], "?")
	return path
}

// length is the stated length of the body; ok is false if there is none.
func (h headers) length() (n int64, ok bool) {
	n, err := strconv.ParseInt(h["content-length"], 10, 64)
	return n, err == nil && n >= 0
}

func (h headers) status() int {
	n, err := strconv.Atoi(h[":status"])
	if err != nil {
		return 0
	}
	return n
}

// encoding is the one content encoding, "" for none. Several are no encoding
// that anybody decodes.
func (h headers) encoding() string {
	e := strings.ToLower(strings.TrimSpace(h["content-encoding"]))
	if e == "identity" {
		return ""
	}
	return e
}

// readable says that an answer of this content type may hold a bill.
func (h headers) readable() bool {
	kind, _, _ := strings.Cut(h["content-type"], ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return kind == "application/json" || kind == "text/event-stream" || strings.HasSuffix(kind, "+json")
}

// signed says that the client has signed or hashed the body, so that another one
// would be refused: AWS signature version 4, RFC 9530 digests and their
// forerunners, RFC 9421 signatures.
func (h headers) signed() bool {
	for _, name := range []string{"x-amz-content-sha256", "content-digest", "repr-digest", "digest", "content-md5", "signature-input"} {
		if v := h[name]; v != "" && v != "UNSIGNED-PAYLOAD" {
			return true
		}
	}
	a := h["authorization"]
	return strings.HasPrefix(a, "AWS4-") && h["x-amz-content-sha256"] == "" || strings.HasPrefix(a, "Signature ")
}

// ours is the value of a header that speaks to trimtab, in either family.
func (h headers) ours(name string) string {
	if v := h["x-trimtab-"+name]; v != "" {
		return v
	}
	return h["x-context-guru-"+name]
}

// agent tells a subagent from the others of its conversation.
func (h headers) agent() string {
	if v := h.ours("agent"); v != "" {
		return v
	}
	return h["x-claude-code-agent-id"]
}

// truthy is how a switch in a header is written.
func truthy(v string) bool {
	switch strings.ToLower(v) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// setHeader replaces a header. Envoy reads the raw value alone.
func setHeader(name, value string) *corev3.HeaderValueOption {
	return &corev3.HeaderValueOption{
		Header:       &corev3.HeaderValue{Key: name, RawValue: []byte(value)},
		AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
	}
}

// bodyHeaders fit a request's headers to the body that is sent with them. The
// length is that of the very slice: a wrong one is the one mistake of ours that
// Envoy does not forgive.
func bodyHeaders(body []byte, decoded bool) *extprocpb.HeaderMutation {
	m := &extprocpb.HeaderMutation{SetHeaders: []*corev3.HeaderValueOption{
		setHeader("content-length", strconv.Itoa(len(body))),
	}}
	if decoded {
		m.RemoveHeaders = []string{"content-encoding"}
	}
	return m
}
