package promptcache

import "bytes"

// UsageOutcome says what became of looking for usage in an answer. The values
// are metric labels.
type UsageOutcome string

// The outcomes. Only UsageRead comes with numbers.
const (
	// UsageRead: a bill was found and understood.
	UsageRead UsageOutcome = "read"
	// UsageAbsent: the answer was readable and held no bill, as an error body
	// or a Chat stream without stream_options does.
	UsageAbsent UsageOutcome = "absent"
	// UsageUnknownShape: there was a usage object, and it was none of the known ones.
	UsageUnknownShape UsageOutcome = "unknown_shape"
	// UsageTooLarge: the body or the event that may hold the bill was longer
	// than the reader keeps.
	UsageTooLarge UsageOutcome = "too_large"
	// UsageSyntax: neither JSON nor server-sent events.
	UsageSyntax UsageOutcome = "syntax"
)

// DefaultUsageLimit is how much of one event, or of a body that is one JSON
// value, a UsageReader keeps when not told otherwise: larger than any answer a
// model of today can write.
const DefaultUsageLimit = 4 << 20

// UsageReader finds the bill in a provider's answer as it passes by, as one
// JSON value or as server-sent events, in every dialect. It takes bytes cut
// anywhere, keeps at most its limit of them, and never fails: what it can't
// read it says in the outcome. It is not safe for concurrent use.
type UsageReader struct {
	limit  int
	mode   readerMode
	fields usageFields
	// drop: the body or event at hand was longer than the limit and was let
	// go; over: that has happened.
	drop, over bool
	// broken: something that mentions usage could not be parsed.
	broken bool

	buf []byte // the JSON body so far, or the data of the event so far

	// The state of the server-sent events.
	events  int
	field   []byte // what is known of the line's field name, until it is decided
	line    lineKind
	hasData bool // the event has had a data line
	empty   bool // nothing on this line yet
	space   bool // the optional blank after "data:" may come
	afterCR bool
}

type readerMode uint8

const (
	modeUndecided readerMode = iota
	modeJSON
	modeEvents
)

type lineKind uint8

const (
	lineUndecided lineKind = iota
	lineData
	lineOther
)

// NewUsageReader returns a reader that keeps at most limit bytes of an event or
// a JSON body; 0 means DefaultUsageLimit.
func NewUsageReader(limit int) *UsageReader {
	if limit <= 0 {
		limit = DefaultUsageLimit
	}
	return &UsageReader{limit: limit, empty: true}
}

// Write takes the next bytes of the answer. It always takes all of them and
// never returns an error.
func (r *UsageReader) Write(p []byte) (int, error) {
	n := len(p)
	if r.mode == modeUndecided {
		p = r.decide(p)
	}
	switch r.mode {
	case modeJSON:
		r.keep(p)
	case modeEvents:
		r.readEvents(p)
	case modeUndecided:
	}
	return n, nil
}

// Usage returns the bill as far as it was seen. It may be called at any time,
// also when the answer was cut short.
func (r *UsageReader) Usage() (Usage, UsageOutcome) {
	fields := r.fields.clone()
	broken := r.broken
	if r.mode == modeJSON || r.hasData {
		// The JSON body, or an event whose closing blank line never came. A
		// body that was cut short still gives what stood before the cut.
		if err := fields.readUsageObjects(r.buf); err != nil && r.mode == modeJSON && !r.over {
			broken = true
		}
	}
	if u, ok := fields.usage(); ok {
		return u, UsageRead
	}
	switch {
	case fields.seen:
		return Usage{}, UsageUnknownShape
	case r.over:
		return Usage{}, UsageTooLarge
	case broken, r.mode == modeEvents && r.events == 0 && !r.hasData:
		return Usage{}, UsageSyntax
	}
	return Usage{}, UsageAbsent
}

// decide tells JSON from events by the first byte that is no blank, and returns
// what is left to read.
func (r *UsageReader) decide(p []byte) []byte {
	const blank = " \t\r\n\xef\xbb\xbf" // a byte order mark may lead
	p = bytes.TrimLeft(p, blank)
	if len(p) == 0 {
		return nil
	}
	r.mode = modeEvents
	if p[0] == '{' || p[0] == '[' {
		r.mode = modeJSON
	}
	return p
}

// keep adds to the body or event at hand. What grows over the limit is let go
// whole: half a JSON value is worth nothing.
func (r *UsageReader) keep(p []byte) {
	if r.drop {
		return
	}
	if len(r.buf)+len(p) > r.limit {
		r.drop, r.over, r.buf = true, true, nil
		return
	}
	r.buf = append(r.buf, p...)
}

func (r *UsageReader) readEvents(p []byte) {
	for len(p) > 0 {
		if r.afterCR {
			r.afterCR = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		end := bytes.IndexAny(p, "\r\n")
		if end < 0 {
			r.readLine(p)
			return
		}
		r.readLine(p[:end])
		r.afterCR = p[end] == '\r'
		r.endLine()
		p = p[end+1:]
	}
}

// readLine takes the next part of a line, without its end.
func (r *UsageReader) readLine(p []byte) {
	const name = "data:"
	if len(p) == 0 {
		return
	}
	r.empty = false
	if r.line == lineUndecided {
		take := min(len(name)-len(r.field), len(p))
		r.field = append(r.field, p[:take]...)
		p = p[take:]
		switch {
		case string(r.field) == name:
			r.startData()
		case len(r.field) == len(name):
			r.line = lineOther
		}
	}
	if r.line != lineData || len(p) == 0 {
		return
	}
	if r.space {
		r.space = false
		if p[0] == ' ' {
			p = p[1:]
		}
	}
	r.keep(p)
}

func (r *UsageReader) startData() {
	r.line, r.space = lineData, true
	if r.hasData {
		r.keep([]byte{'\n'})
	}
	r.hasData = true
}

func (r *UsageReader) endLine() {
	if r.empty {
		r.endEvent()
	}
	r.line, r.field, r.empty = lineUndecided, r.field[:0], true
}

func (r *UsageReader) endEvent() {
	if !r.hasData {
		return
	}
	r.events++
	if bytes.Contains(r.buf, []byte("usage")) {
		if err := r.fields.readUsageObjects(r.buf); err != nil {
			r.broken = true
		}
	}
	r.buf, r.hasData, r.drop = r.buf[:0], false, false
}
