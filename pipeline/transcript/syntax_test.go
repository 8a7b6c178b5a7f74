package transcript_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// judge is another reader of JSON, as lenient as ours.
func judge(v []byte) bool {
	return jsontext.Value(v).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// sameVerdict holds the scanner against both judges, at every place in white
// space and inside of a longer value.
func sameVerdict(t interface {
	Helper()
	Fatalf(string, ...any)
}, v []byte,
) {
	t.Helper()
	got := transcript.Valid(v)
	if want := judge(v); got != want {
		t.Fatalf("%q: valid %v, jsontext says %v", v, got, want)
	}
	if want := json.Valid(v); got != want {
		t.Fatalf("%q: valid %v, encoding/json says %v", v, got, want)
	}
	isString := got && v[0] == '"' && v[len(v)-1] == '"'
	if transcript.ValidString(v) != isString {
		t.Fatalf("%q: a string: %v, want %v", v, !isString, isString)
	}
	// Inside a body the parser must come to the same verdict.
	body := append(append([]byte(`{"messages":[],"x":`), v...), '}')
	_, err := transcript.Parse(transcript.Anthropic, body)
	if want := judge(body); err == nil && !want || errors.Is(err, transcript.ErrSyntax) && want {
		t.Fatalf("%q: parsed with %v, jsontext says %v", body, err, want)
	}
}

var syntaxSeeds = []string{
	``, ` `, `0`, `-0`, `-`, `01`, `1.`, `.1`, `1.0`, `1e`, `1e+`, `1E-07`, `-1.5e3`, `+1`, `1 1`, `1a`, `--1`, `1e5.2`,
	`true`, `tru`, `truex`, `null`, `false`, `nul`, `True`, `NaN`,
	`""`, `"`, `"a`, `"\`, `"\"`, `"\\"`, `"\x"`, `"\u12"`, `"\u12G4"`, `"\u12ab"`, `"\uD800"`, `"\ud83d\ude00"`, "\"a\tb\"", "\"\x7f\"", "\"\x00\"", "\"\xff\xc3\"", "\"\xc3",
	`"1234567"`, `"12345678"`, `"123456789\n1234567\t"`, "\"1234567\x1f\"", "\"12345678\n\"",
	`[]`, `[ ]`, `[1,]`, `[,1]`, `[1 2]`, `[1,2`, `[`, `]`, `[}`, `[1}`, `[[],{}]`, `[1,,2]`, `["a" , "b"]`,
	`{}`, `{ }`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`, `{"a":1,"a":2}`, `{a:1}`, `{"a":1`, `{`, `{]`, `{"a":1]`, `{1:2}`, `{"a" : { "b" : [ ] } }`,
	"\ufeff1", " \t\r\n1\n", "1\x00", "\x001", "1\v", `/**/1`, `{"a":1}x`, `{"a":1}{}`,
}

// TestSyntax holds the scanner against the judges on what is hard about JSON,
// and on each such text cut off or changed in one byte.
func TestSyntax(t *testing.T) {
	for _, s := range syntaxSeeds {
		sameVerdict(t, []byte(s))
		for i := range s {
			sameVerdict(t, []byte(s[:i]))
			for _, c := range []byte{'"', '\\', ',', ':', '{', '}', '[', ']', '0', 'e', ' ', 0, 0x1f, 0x80} {
				sameVerdict(t, []byte(s[:i]+string(rune(c))+s[i+1:]))
				sameVerdict(t, []byte(s[:i]+string([]byte{c})+s[i:]))
			}
		}
	}
}

// TestDepth holds the limit of nesting against jsontext's.
func TestDepth(t *testing.T) {
	for _, n := range []int{9_999, 10_000, 10_001, 1_000_000} {
		for _, v := range []string{
			strings.Repeat("[", n) + strings.Repeat("]", n),
			strings.Repeat(`{"":`, n) + "0" + strings.Repeat("}", n),
			strings.Repeat("[", n),
		} {
			if got, want := transcript.Valid([]byte(v)), judge([]byte(v)); got != want {
				t.Errorf("%d levels of %.4s: %v, want %v", n, v, got, want)
			}
		}
	}
}

// TestSyntaxOfAnyTokens puts JSON's tokens together at random.
func TestSyntaxOfAnyTokens(t *testing.T) {
	tokens := []string{"{", "}", "[", "]", ",", ":", `"a"`, `""`, `"\n"`, "1", "-0.5e1", "true", "null", " ", "\n", `"`, `\`, "0", "e", ".", "-"}
	rapid.Check(t, func(t *rapid.T) {
		sameVerdict(t, []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 0, 12).Draw(t, "tokens"), "")))
	})
}

// TestSyntaxOfAnyString puts special bytes at any place among the eight that the
// scanner looks at together.
func TestSyntaxOfAnyString(t *testing.T) {
	bytes := []byte{'a', 'a', 'a', 'b', '\\', '"', 'n', 'u', '0', 0x1f, 0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0x9f, 0xa2, 0xdc, 0xff}
	rapid.Check(t, func(t *rapid.T) {
		sameVerdict(t, []byte(`"`+string(rapid.SliceOfN(rapid.SampledFrom(bytes), 0, 30).Draw(t, "inside"))+`"`))
	})
}

// FuzzSyntax holds the scanner against both judges on anything.
func FuzzSyntax(f *testing.F) {
	for _, s := range syntaxSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, v []byte) { sameVerdict(t, v) })
}
