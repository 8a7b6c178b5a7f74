package document_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/document"
)

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		text, brackets string
		indented       bool
		want           string
		shaped         bool
	}{
		{"{\"a\": [1]}\n", "[{", true, `{"a": [1]}`, true},
		{"header\nOutput:\n  [1, 2]", "[{", true, `[1, 2]`, true},
		{"header\n  [1, 2]", "[", false, "", false},
		{"header\n[1, 2]\n\n", "[", false, `[1, 2]`, true},
		{`{"a": 1}`, "[", true, "", false},
		{"{\"a\": 1}\n} tail", "[{", true, "", false},
		{"[INFO] one\n[INFO] two [x]", "[{", true, "", true},
		{strings.Repeat("line\n", 10) + "[1]", "[{", true, "[1]", true},
		{strings.Repeat("line\n", 11) + "[1]", "[{", true, "", false},
		{" \n", "[{", true, "", false},
	} {
		from, to, shaped := document.Find(tt.text, tt.brackets, tt.indented)
		if got := tt.text[from:to]; got != tt.want || shaped != tt.shaped {
			t.Errorf("%q: found %q, shaped %v", tt.text, got, shaped)
		}
	}
}

// The end of a value is where the standard library's decoder stops.
func FuzzValueEnd(f *testing.F) {
	for _, s := range []string{`{"a\"b": [1, {"c": "]"}]} `, `"\\" `, `-1.5e3,`, `null]`, `[[],{}]`, `[1]x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := json.NewDecoder(strings.NewReader(text))
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return
		}
		end := int(d.InputOffset())
		if rest := text[end:]; rest != "" && !document.Blank(rest[0]) && strings.IndexByte(",]}", rest[0]) < 0 {
			return // a number goes on as what is no number
		}
		if got := document.ValueEnd(text, document.Skip(text, 0)); got != end {
			t.Fatalf("%q: %d, want %d", text, got, end)
		}
	})
}
