package format_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/components/format"
	"github.com/trimtab-io/trimtab/pipeline"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// rewrite runs the component over a result of an unknown tool.
func rewrite(t *testing.T, text string, depth uint32) (string, bool) {
	t.Helper()
	c, err := format.New(trimtabv1.Fill(&trimtabv1.Format{LineDepth: &depth}))
	if err != nil {
		t.Fatal(err)
	}
	edit, gate := c.Rewrite(pipeline.Block{Text: text, Received: text}, pipeline.Prefix{})
	if gate != "" {
		return text, false
	}
	var b strings.Builder
	for _, p := range edit.Pieces {
		b.WriteString(text[p.From:p.To])
	}
	return b.String(), true
}

// values reads a document with the standard library, which keeps neither doubled
// keys nor the text of numbers; the component's own check looks at those. Strings
// that hold a document are read too.
func values(t *testing.T, doc string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	if m, ok := v.(map[string]any); ok {
		for k, x := range m {
			if s, ok := x.(string); ok && json.Valid([]byte(s)) {
				m[k] = values(t, s)
			}
		}
	}
	return v
}

func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		"{\n  \"a\": [1, 2,\n 3]\n}\n", "header\n[ {\"a\" : \"x\\\\\\\"y\" } , 1e5 ]",
		"{\"stdout\":\"{\\n  \\\"a\\\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17],\\n  \\\"b\\\": null\\n}\"}",
		"{\"a\": 1}\n} tail", "{\"a\": 1}, ", "[1, 2]\"x\"", "{\"a\": 1}]", "[\"\\ud800\", \"\\u00e9\", \"é\"]", "{\"a\": 1, \"a\": 2}", "{}x", "[1,\u00a02]",
	} {
		f.Add(seed, uint32(1))
	}
	f.Fuzz(func(t *testing.T, text string, depth uint32) {
		after, acted := rewrite(t, text, depth%101)
		if !acted {
			return
		}
		if len(after) >= len(text) {
			t.Fatalf("grew: %q to %q", text, after)
		}
		if again, acted := rewrite(t, after, depth%101); acted {
			t.Fatalf("%q changed again to %q", after, again)
		}
		// Only white space went, plain or as an escape, and all else is in order.
		bare := strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", `\n`, "", `\t`, "", `\r`, "", `\u0020`, "", `\u000a`, "", `\u000A`, "", `\u0009`, "", `\u000d`, "", `\u000D`, "")
		if bare.Replace(text) != bare.Replace(after) {
			t.Fatalf("%q became %q", text, after)
		}
		// The document begins at the same line start in both.
		for at := 0; at < len(text); {
			rest := strings.TrimSpace(text[at:])
			if json.Valid([]byte(rest)) && (rest[0] == '{' || rest[0] == '[') {
				if was, is := values(t, rest), values(t, strings.TrimSpace(after[at:])); !reflect.DeepEqual(was, is) {
					t.Fatalf("%q became %q", was, is)
				}
				return
			}
			i := strings.IndexByte(text[at:], '\n')
			if i < 0 {
				break
			}
			at += i + 1
		}
	})
}
