package promptcache

import (
	"bytes"
	"maps"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Usage is what a provider says it billed for one request, in tokens. The four
// input tiers do not overlap: their sum is the whole input.
type Usage struct {
	// Fresh is input billed at the full price: neither read from the prompt
	// cache nor written to it.
	Fresh int
	// Read is input read from the prompt cache.
	Read int
	// Write5m is input written to the cache for five minutes, or written
	// without a stated lifetime.
	Write5m int
	// Write1h is input written to the cache for one hour.
	Write1h int
	// Output is what the model wrote, reasoning included.
	Output int
	// Known tells a bill of nothing from a bill that was not seen.
	Known bool
}

// Input is the whole input of the request, all four tiers together.
func (u Usage) Input() int { return u.Fresh + u.Read + u.Write5m + u.Write1h }

// Add returns the sum of both bills. It is known if either is.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Fresh: u.Fresh + v.Fresh, Read: u.Read + v.Read,
		Write5m: u.Write5m + v.Write5m, Write1h: u.Write1h + v.Write1h,
		Output: u.Output + v.Output, Known: u.Known || v.Known,
	}
}

// maxTokens is the largest count that is believed. A larger one is a shape that
// was misread, and would overflow sums.
const maxTokens = 1 << 40

// usageFields are the numbers of one or more usage objects under their dotted
// names, and what the envelope said about their shape.
type usageFields struct {
	numbers map[string]int
	shape   usageShape
	seen    bool // a usage object stood there
	bad     bool // one of its members was no count
}

type usageShape uint8

const (
	shapeUnsaid usageShape = iota
	shapeAnthropic
	shapeChat
	shapeResponses
)

func (f *usageFields) clone() usageFields {
	c := *f
	c.numbers = maps.Clone(f.numbers)
	return c
}

// readUsageObjects looks for usage in one answer or one event of a stream: at
// the top, and inside `message` (Anthropic's first event) and `response`
// (events of the Responses API). Later numbers replace earlier ones, since
// every provider's counts are running totals.
func (f *usageFields) readUsageObjects(data []byte) error {
	dec := lenientDecoder(data)
	for dec.PeekKind() != jsontext.KindInvalid {
		if dec.PeekKind() != jsontext.KindBeginObject {
			if err := dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err := f.readEnvelope(dec, true); err != nil {
			return err
		}
	}
	if rest := bytes.TrimSpace(data[dec.InputOffset():]); len(rest) > 0 {
		_, err := dec.ReadToken()
		return err
	}
	return nil
}

func (f *usageFields) readEnvelope(dec *jsontext.Decoder, top bool) error {
	return eachMember(dec, func(name string) error {
		switch {
		case name == "usage":
			return f.readUsage(dec)
		case name == "type" || name == "object":
			return f.readKind(dec)
		case top && (name == "message" || name == "response") && dec.PeekKind() == jsontext.KindBeginObject:
			return f.readEnvelope(dec, false)
		}
		return dec.SkipValue()
	})
}

func (f *usageFields) readKind(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindString {
		return dec.SkipValue()
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch s := tok.String(); {
	case s == "message" || strings.HasPrefix(s, "message_"):
		f.shape = shapeAnthropic
	case s == "response" || strings.HasPrefix(s, "response."):
		f.shape = shapeResponses
	case strings.HasPrefix(s, "chat.completion"):
		f.shape = shapeChat
	}
	return nil
}

func (f *usageFields) readUsage(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		// null is how Chat streams say "not in this chunk".
		null := dec.PeekKind() == jsontext.KindNull
		if err := dec.SkipValue(); err != nil || null {
			return err
		}
		f.seen, f.bad = true, true
		return nil
	}
	// An object that is cut off in the middle is no bill: its later members
	// would be taken for nothing.
	var whole usageFields
	if err := whole.readNumbers(dec, ""); err != nil {
		return err
	}
	f.seen, f.bad = true, f.bad || whole.bad
	if f.numbers == nil {
		f.numbers = make(map[string]int, len(whole.numbers))
	}
	maps.Copy(f.numbers, whole.numbers)
	return nil
}

func (f *usageFields) readNumbers(dec *jsontext.Decoder, under string) error {
	return eachMember(dec, func(name string) error {
		switch dec.PeekKind() {
		case jsontext.KindNumber:
			tok, err := dec.ReadToken()
			if err != nil {
				return err
			}
			f.set(under+name, tok.String())
			return nil
		case jsontext.KindBeginObject:
			if under == "" {
				return f.readNumbers(dec, name+".")
			}
		case jsontext.KindString, jsontext.KindTrue, jsontext.KindFalse:
			if counted[under+name] {
				f.bad = true
			}
		}
		return dec.SkipValue()
	})
}

func (f *usageFields) set(name, number string) {
	if !counted[name] {
		return
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v < 0 || v > maxTokens || v != float64(int(v)) {
		f.bad = true
		return
	}
	if f.numbers == nil {
		f.numbers = make(map[string]int, 8)
	}
	f.numbers[name] = int(v)
}

// counted are the members that are counts in one of the shapes.
var counted = map[string]bool{
	"input_tokens": true, "output_tokens": true, "total_tokens": true,
	"cache_read_input_tokens": true, "cache_creation_input_tokens": true,
	"cache_creation.ephemeral_5m_input_tokens": true, "cache_creation.ephemeral_1h_input_tokens": true,
	"prompt_tokens": true, "completion_tokens": true,
	"prompt_tokens_details.cached_tokens": true, "prompt_tokens_details.cache_write_tokens": true,
	"input_tokens_details.cached_tokens": true, "input_tokens_details.cache_write_tokens": true,
}

// usage turns the numbers into tiers. It reports false where the shape is none
// that is known or the numbers contradict each other.
func (f *usageFields) usage() (Usage, bool) {
	if f.bad {
		return Usage{}, false
	}
	if whole, ok := f.numbers["prompt_tokens"]; ok {
		return f.openAI(whole, "prompt_tokens_details.", f.numbers["completion_tokens"])
	}
	in, ok := f.numbers["input_tokens"]
	if !ok {
		return Usage{}, false
	}
	if f.shape == shapeResponses || f.shape == shapeUnsaid && f.has("input_tokens_details.cached_tokens", "total_tokens") {
		return f.openAI(in, "input_tokens_details.", f.numbers["output_tokens"])
	}
	return f.anthropic(in)
}

func (f *usageFields) has(names ...string) bool {
	for _, n := range names {
		if _, ok := f.numbers[n]; ok {
			return true
		}
	}
	return false
}

// openAI: the whole input is given, the cached and written parts are of it.
func (f *usageFields) openAI(whole int, details string, out int) (Usage, bool) {
	read, write := f.numbers[details+"cached_tokens"], f.numbers[details+"cache_write_tokens"]
	if read+write > whole {
		return Usage{}, false
	}
	return Usage{Fresh: whole - read - write, Read: read, Write5m: write, Output: out, Known: true}, true
}

// anthropic: the parts are given. The split by lifetime stands beside the sum
// of all writes; the sum is what is billed, so it wins where they differ.
func (f *usageFields) anthropic(fresh int) (Usage, bool) {
	five, hour := f.numbers["cache_creation.ephemeral_5m_input_tokens"], f.numbers["cache_creation.ephemeral_1h_input_tokens"]
	write, ok := f.numbers["cache_creation_input_tokens"]
	if !ok {
		write = five + hour
	}
	hour = min(hour, write)
	return Usage{
		Fresh: fresh, Read: f.numbers["cache_read_input_tokens"],
		Write5m: write - hour, Write1h: hour,
		Output: f.numbers["output_tokens"], Known: true,
	}, true
}

// lenientDecoder reads what providers and clients really send: duplicate names
// and invalid UTF-8 are no reason to stop reading.
func lenientDecoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// eachMember calls visit with each name of the object that comes next; visit
// must consume the value.
func eachMember(dec *jsontext.Decoder, visit func(name string) error) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != jsontext.KindEndObject {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := visit(tok.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}
