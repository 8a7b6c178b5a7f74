package promptcache

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
)

// A judge of the reader: it has the whole answer at once, splits it by the letter of
// the standard of server-sent events, and decodes it with another library. It has an
// opinion only on answers that are well formed; found is false elsewhere.
type billJudge struct {
	numbers map[string]float64
	shapes  map[string]bool
	unclear bool
}

func judgeBill(answer string) (u Usage, found bool) {
	j := billJudge{numbers: map[string]float64{}, shapes: map[string]bool{}}
	body := strings.TrimLeft(answer, " \t\r\n")
	switch {
	case strings.Contains(answer, `\u`) || strings.Contains(answer, "\ufeff") || !isASCII(answer):
		return Usage{}, false // names can be written in many ways
	case body == "":
		return Usage{}, false
	case body[0] == '[':
		return Usage{}, false
	case body[0] == '{':
		j.value(body)
	default:
		for _, data := range eventsOf(body) {
			if strings.Contains(data, "usage") {
				j.value(data)
			}
		}
	}
	return j.bill()
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 126 }) < 0
}

// eventsOf are the data of the events that were dispatched.
func eventsOf(stream string) (all []string) {
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	var data []string
	for line := range strings.SplitSeq(stream, "\n") {
		if line == "" {
			if data != nil {
				all = append(all, strings.Join(data, "\n"))
			}
			data = nil
			continue
		}
		if rest, ok := strings.CutPrefix(line, "data:"); ok {
			data = append(data, strings.TrimPrefix(rest, " "))
		}
	}
	if data != nil {
		all = append(all, strings.Join(data, "\n")) // a stream that ends without its blank line
	}
	return all
}

func (j *billJudge) value(text string) {
	dec := json.NewDecoder(strings.NewReader(text))
	var v map[string]any
	if err := dec.Decode(&v); err != nil || repeats(text) {
		j.unclear = true
		return
	}
	if _, err := dec.Token(); err != io.EOF {
		j.unclear = true
		return
	}
	j.envelope(v)
	for _, inner := range []string{"message", "response"} {
		if m, ok := v[inner].(map[string]any); ok {
			j.envelope(m)
		}
	}
}

// repeats says that an object has a name twice: which one counts is a matter of taste.
func repeats(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	var stack []map[string]bool // nil: an array
	name := false
	for {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		switch d := tok.(type) {
		case json.Delim:
			switch d {
			case '{':
				stack = append(stack, map[string]bool{})
			case '[':
				stack = append(stack, nil)
			default:
				stack = stack[:len(stack)-1]
			}
			name = len(stack) > 0 && stack[len(stack)-1] != nil
			continue
		case string:
			if name {
				seen := stack[len(stack)-1]
				if seen[d] {
					return true
				}
				seen[d], name = true, false
				continue
			}
		}
		name = len(stack) > 0 && stack[len(stack)-1] != nil
	}
}

func (j *billJudge) envelope(v map[string]any) {
	for _, key := range []string{"type", "object"} {
		switch s, _ := v[key].(string); {
		case s == "message" || strings.HasPrefix(s, "message_"):
			j.shapes["anthropic"] = true
		case s == "response" || strings.HasPrefix(s, "response."):
			j.shapes["responses"] = true
		case strings.HasPrefix(s, "chat.completion"):
			j.shapes["chat"] = true
		}
	}
	switch u := v["usage"].(type) {
	case nil:
	case map[string]any:
		for name, n := range u {
			j.number(name, n)
			if inner, ok := n.(map[string]any); ok {
				for k, m := range inner {
					j.number(name+"."+k, m)
				}
			}
		}
	default:
		j.unclear = true
	}
}

func (j *billJudge) number(name string, v any) {
	switch n := v.(type) {
	case float64:
		if n < 0 || n != math.Trunc(n) || n > 1<<39 {
			j.unclear = true
			return
		}
		j.numbers[name] = n
	case string, bool:
		j.unclear = true
	}
}

func (j *billJudge) bill() (Usage, bool) {
	n := func(name string) int { return int(j.numbers[name]) }
	_, chat := j.numbers["prompt_tokens"]
	_, other := j.numbers["input_tokens"]
	if j.unclear || len(j.shapes) != 1 || chat == other {
		return Usage{}, false
	}
	switch {
	case chat && j.shapes["chat"]:
		d := "prompt_tokens_details."
		u := Usage{Fresh: n("prompt_tokens") - n(d+"cached_tokens") - n(d+"cache_write_tokens"), Read: n(d + "cached_tokens"), Write5m: n(d + "cache_write_tokens"), Output: n("completion_tokens"), Known: true}
		return u, u.Fresh >= 0
	case other && j.shapes["responses"]:
		d := "input_tokens_details."
		u := Usage{Fresh: n("input_tokens") - n(d+"cached_tokens") - n(d+"cache_write_tokens"), Read: n(d + "cached_tokens"), Write5m: n(d + "cache_write_tokens"), Output: n("output_tokens"), Known: true}
		return u, u.Fresh >= 0
	case other && j.shapes["anthropic"]:
		five, hour := n("cache_creation.ephemeral_5m_input_tokens"), n("cache_creation.ephemeral_1h_input_tokens")
		if sum, ok := j.numbers["cache_creation_input_tokens"]; ok && int(sum) != five+hour {
			if five+hour > 0 {
				return Usage{}, false // it contradicts itself
			}
			five = int(sum)
		}
		return Usage{Fresh: n("input_tokens"), Read: n("cache_read_input_tokens"), Write5m: five, Write1h: hour, Output: n("output_tokens"), Known: true}, true
	}
	return Usage{}, false
}

func TestTheJudgeKnowsAllAnswers(t *testing.T) {
	seen := 0
	for _, tc := range answers {
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			u, found := judgeBill(strings.ReplaceAll(tc.answer, "\n", eol))
			if found && (u != tc.want || tc.outcome != UsageRead) {
				t.Errorf("%s: %+v, want %+v", tc.name, u, tc.want)
			}
			if found {
				seen++
			}
		}
	}
	if seen < 30 {
		t.Errorf("the judge has an opinion on %d answers only", seen)
	}
}

// FuzzBill: on every answer that the judge understands the reader reads the same,
// cut into pieces of any size.
func FuzzBill(f *testing.F) {
	for i, tc := range answers {
		f.Add([]byte(tc.answer), byte(i))
		f.Add([]byte(strings.ReplaceAll(tc.answer, "\n", "\r\n")), byte(1))
	}
	f.Fuzz(func(t *testing.T, answer []byte, size byte) {
		want, found := judgeBill(string(answer))
		if !found || len(answer) > 1<<16 {
			return
		}
		r := NewUsageReader(0)
		for p := range bytes.SplitSeq(answer, nil) { // characters: the smallest pieces
			r.Write(p)
		}
		if got, outcome := r.Usage(); got != want || outcome != UsageRead {
			t.Fatalf("%+v %s, the judge reads %+v in %q", got, outcome, want, answer)
		}
		r = NewUsageReader(0)
		for p := answer; len(p) > 0; p = p[min(int(size)+1, len(p)):] {
			r.Write(p[:min(int(size)+1, len(p))])
		}
		if got, outcome := r.Usage(); got != want || outcome != UsageRead {
			t.Fatalf("in pieces of %d: %+v %s, the judge reads %+v in %q", int(size)+1, got, outcome, want, answer)
		}
	})
}
