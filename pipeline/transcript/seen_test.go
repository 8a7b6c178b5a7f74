package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// longBody draws a body with strings around the length from which they are
// remembered, many of them alike at their beginning.
func longBody(t *rapid.T) []byte {
	text := rapid.Custom(func(t *rapid.T) string {
		line := rapid.SampledFrom([]string{"x", `\n`, `\"`, "line of code\\n", "é", `\ud800`}).Draw(t, "line")
		return strings.Repeat("same beginning ", rapid.IntRange(0, 8).Draw(t, "alike")) + strings.Repeat(line, rapid.IntRange(0, 1100/len(line)).Draw(t, "lines"))
	})
	mark := rapid.SampledFrom([]string{"", `,"cache_control":{"type":"ephemeral"}`})
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"system":[{"type":"text","text":"%s"%s}],"messages":[{"role":"user","content":"%s"}`, text.Draw(t, "system"), mark.Draw(t, "mark"), text.Draw(t, "user"))
	for i := range rapid.IntRange(0, 4).Draw(t, "calls") {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Write","input":{"text":"%s"}}]},`, i, text.Draw(t, "input"))
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"%s},{"type":"text","text":"%s"%s}]}`,
			i, text.Draw(t, "result"), mark.Draw(t, "mark"), text.Draw(t, "text"), mark.Draw(t, "mark"))
	}
	b.WriteString("]}")
	return b.Bytes()
}

// What was seen before changes nothing: not what is found in a body, not its
// digests, not whether it is refused.
func TestSeenChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seen := transcript.NewSeen(hasher)
		body := longBody(t)
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			got, err := seen.Parse(transcript.Anthropic, body)
			want, wantErr := transcript.Parse(transcript.Anthropic, body)
			if (err == nil) != (wantErr == nil) || errors.Is(err, transcript.ErrSyntax) != errors.Is(wantErr, transcript.ErrSyntax) {
				t.Fatalf("%v, want %v", err, wantErr)
			}
			if err == nil {
				ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Hasher" }, cmp.Ignore())
				if d := cmp.Diff(want.Digest(hasher), got.Digest(hasher), ignore, cmp.AllowUnexported(transcript.MessageDigest{})); d != "" {
					t.Fatal(d)
				}
				if d := cmp.Diff(spans(want), spans(got)); d != "" {
					t.Fatal(d)
				}
			}
			body = bytes.Clone(body)
			at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
			if rapid.Bool().Draw(t, "cut") {
				body = append(body[:at], body[min(len(body), at+rapid.IntRange(0, 9).Draw(t, "n")):]...)
			} else {
				body[at] = rapid.SampledFrom([]byte(`"\x{},`+"\n")).Draw(t, "byte")
			}
			if len(body) == 0 {
				return
			}
		}
	})
}

func spans(t *transcript.Transcript) (out []transcript.Span) {
	for _, m := range t.Messages {
		out = append(out, m.Span)
		for _, b := range m.Blocks {
			out = append(append(out, b.Span, b.Text), b.Marks...)
		}
	}
	for _, c := range t.Calls {
		out = append(out, c.Args)
	}
	for _, r := range t.Results {
		for _, l := range r.Texts {
			out = append(out, l.Span)
		}
	}
	return out
}

// The digests of a changed body are those of the body that came of it.
func TestAfterIsTheDigestOfTheNewBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := longBody(t)
		seen := transcript.NewSeen(hasher)
		tr, err := seen.Parse(transcript.Anthropic, body)
		if err != nil {
			t.Fatal(err)
		}
		var changes []transcript.Change
		var out []byte
		at := 0
		for _, r := range tr.Results {
			s := r.Texts[0].Span
			if rapid.Bool().Draw(t, "keep") {
				continue
			}
			put := []byte(`"` + strings.Repeat("new ", rapid.IntRange(0, 200).Draw(t, "length")) + `"`)
			c := transcript.Change{Span: s, Len: len(put)}
			if rapid.Bool().Draw(t, "known") {
				c.Sum = hasher.Sum(put)
			}
			out = append(append(out, body[at:s.Start]...), put...)
			changes, at = append(changes, c), s.End
		}
		out = append(out, body[at:]...)
		parsed, err := transcript.Parse(transcript.Anthropic, out)
		if err != nil {
			t.Fatal(err)
		}
		got, want := tr.After(hasher, tr.Digest(hasher), out, changes), parsed.Digest(hasher)
		if got.Head != want.Head {
			t.Fatal("the head differs")
		}
		for i, m := range want.Messages {
			if got.Messages[i].Sum != m.Sum {
				t.Fatalf("message %d differs", i)
			}
		}
	})
}

// A string that was accepted once is the same string the next time, and no other.
func TestSeenString(t *testing.T) {
	seen := transcript.NewSeen(hasher)
	for range 2 {
		for v, want := range map[string]bool{`"a"`: true, `"a`: false, `"a""`: false, ``: false, `a`: false, ` "a"`: false} {
			if sum, ok := seen.String([]byte(v)); ok != want || sum != hasher.Sum([]byte(v)) {
				t.Errorf("%q: %v", v, ok)
			}
		}
	}
}
