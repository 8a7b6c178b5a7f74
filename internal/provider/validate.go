package provider

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// Violation is one rule of a provider that a request body breaks.
type Violation struct {
	Rule    string // stable name of the rule
	Where   string // where it is broken: "messages.3.content.0", "input[4]"
	Message string // what the provider says
}

func (v Violation) String() string { return v.Rule + " at " + v.Where + ": " + v.Message }

// Validate returns the rules of the wire's provider that body breaks, in the
// order in which it finds them. It checks what a rewriter could break: pairing,
// breakpoints, empty blocks, and that the body is JSON of the right shape; not
// models, limits or schemas.
func Validate(w promptcache.Wire, body []byte) []Violation {
	var found violations
	switch w {
	case promptcache.WireAnthropic:
		var req anthropicRequest
		if found.decode(body, &req) {
			req.validate(&found)
		}
	case promptcache.WireChat:
		var req chatRequest
		if found.decode(body, &req) {
			req.validate(&found)
		}
	case promptcache.WireResponses:
		var req responsesRequest
		if found.decode(body, &req) {
			req.validate(&found, nil)
		}
	default:
		found.add("wire", "", "wire %q is not known", w)
	}
	return found
}

// Added returns the rules that forwarded breaks and received did not.
func Added(w promptcache.Wire, received, forwarded []byte) []Violation {
	after := Validate(w, forwarded)
	if len(after) == 0 {
		return nil
	}
	before := map[Violation]int{}
	for _, v := range Validate(w, received) {
		before[v]++
	}
	var added []Violation
	for _, v := range after {
		if before[v] > 0 {
			before[v]--
			continue
		}
		added = append(added, v)
	}
	return added
}

type violations []Violation

func (v *violations) add(rule, where, format string, args ...any) {
	*v = append(*v, Violation{rule, where, fmt.Sprintf(format, args...)})
}

func (v *violations) decode(body []byte, into any) bool {
	if err := json.Unmarshal(body, into, lenient); err != nil {
		v.add("json", "", "the body is not JSON of the right shape: %v", err)
		return false
	}
	return true
}

// lenient accepts what providers accept: unknown members, duplicate names,
// bytes that are not UTF-8.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// listOrString is a list of values, or a string in its place.
type listOrString struct {
	raw  jsontext.Value
	list []jsontext.Value
}

func (l *listOrString) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	l.raw = raw.Clone()
	if raw.Kind() != jsontext.KindBeginArray {
		return nil
	}
	return json.Unmarshal(l.raw, &l.list, lenient)
}

func (l *listOrString) missing() bool {
	return l.raw == nil || l.raw.Kind() == jsontext.KindNull
}

func (l *listOrString) isString() bool { return l.raw.Kind() == jsontext.KindString }

func (l *listOrString) text() string {
	var s string
	if l.isString() {
		_ = json.Unmarshal(l.raw, &s, lenient)
	}
	return s
}
