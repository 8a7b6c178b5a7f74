package toon_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/toon"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func TestGolden(t *testing.T) {
	componenttest.Golden(t, verify.New(), componenttest.FromJSON(toon.New))
}

// rewrite runs the component over a result of a tool that is no shell.
func rewrite(t componenttest.TB, call classify.Call, text string) (string, pipeline.Gate) {
	t.Helper()
	c, err := toon.New(trimtabv1.Fill(&trimtabv1.Toon{}))
	if err != nil {
		t.Fatalf("%v", err)
	}
	b, gate := componenttest.Rewrite(c, call, text, false)
	if gate != "" {
		return text, gate
	}
	if len(b) >= len(text) {
		t.Fatalf("%q grew to %q", text, b)
	}
	return b, ""
}

var head = regexp.MustCompile(`(?m)^\[trimtab table of (\d+) objects: (.*)\]\n`)

// read reads a table back with expressions and encoding/json, which neither the
// component nor its own check uses.
func read(t componenttest.TB, text string) []map[string]any {
	t.Helper()
	at := head.FindStringSubmatchIndex(text)
	if at == nil {
		t.Fatalf("no table in %q", text)
	}
	keys := strings.Split(text[at[4]:at[5]], ",")
	cell := regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"|[^,]*)`)
	var out []map[string]any
	rows := strings.Split(text[at[1]:], "\n")
	var n int
	if _, err := fmt.Sscan(text[at[2]:at[3]], &n); err != nil || n > len(rows) {
		t.Fatalf("%d rows of %d", len(rows), n)
	}
	for _, row := range rows[:n] {
		o := map[string]any{}
		for _, k := range keys {
			c := cell.FindString(row)
			row = strings.TrimPrefix(row[len(c):], ",")
			var v any
			d := json.NewDecoder(strings.NewReader(c))
			d.UseNumber()
			switch err := d.Decode(&v); {
			case c == "":
				v = nil
			case err != nil || d.More() || c == "null":
				v = c
			}
			o[k] = v
		}
		out = append(out, o)
	}
	return out
}

func values(t componenttest.TB, doc string) []map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	var out []map[string]any
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	return out
}

func TestTables(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", `[{"id": 1, "name": "Alice", "role": "admin"}, {"id": 2, "name": "Bob", "role": "user"}, {"id": 3, "name": "Eve", "role": "user"}]`, "1,Alice,admin\n2,Bob,user\n3,Eve,user"},
		{"quoted", `[{"identifier": "x,y", "description": "he said \"hi\""}, {"identifier": "", "description": " x"}, {"identifier": "null", "description": "[x"}, {"identifier": null, "description": "ü"}]`, "\"x,y\",\"he said \\\"hi\\\"\"\n\"\",\" x\"\n\"null\",\"[x\"\n,ü"},
		{"numbers", `[{"identifier": 1, "description": "1"}, {"identifier": 1.50, "description": "1.50"}, {"identifier": true, "description": "true"}, {"identifier": 12345678901234567890, "description": "inf"}]`, "1,\"1\"\n1.50,\"1.50\"\ntrue,\"true\"\n12345678901234567890,\"inf\""},
		{"escapes stay", `[{"identifier": "\ud800", "description": "a\u003cb"}, {"identifier": "\/", "description": "b"}, {"identifier": "z", "description": "c"}]`, "\"\\ud800\",\"a\\u003cb\"\n\"\\/\",b\nz,c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, gate := rewrite(t, classify.Call{}, tt.in)
			if _, rows, _ := strings.Cut(got, "\n"); gate != "" || rows != tt.want {
				t.Fatalf("gate %q: %s", gate, got)
			}
			if !reflect.DeepEqual(read(t, got), values(t, tt.in)) {
				t.Errorf("%s reads as %v", got, read(t, got))
			}
		})
	}
}

func TestGates(t *testing.T) {
	row := func(s string) string { return "[" + strings.Repeat(s+", ", 9) + s + "]" }
	good := row(`{"identifier": 1, "name": "x"}`)
	for _, tt := range []struct {
		name, command, text string
		gate                pipeline.Gate
	}{
		{"a table", "", good, ""},
		{"behind a preamble", "gh api x", "Exit code 0\nOutput:\n" + good + "\n", ""},
		{"a file", "cat x.json", good, toon.GateFile},
		{"text", "", "words", toon.GateShape},
		{"an object", "", `{"a": ` + good + `}`, toon.GateShape},
		{"a mark", "", "[trimtab x]\n" + good, toon.GateMark},
		{"something behind it", "", good + "]", toon.GateParse},
		{"two documents", "", good + good, toon.GateParse},
		{"empty", "", "[]", toon.GateUniform},
		{"few", "", `[{"a": 1}, {"a": 2}]`, toon.GateUniform},
		{"another key", "", good[:len(good)-1] + `, {"identifier": 1, "names": "x"}]`, toon.GateUniform},
		{"another order", "", good[:len(good)-1] + `, {"name": "x", "identifier": 1}]`, toon.GateUniform},
		{"a missing key", "", good[:len(good)-1] + `, {"identifier": 1}]`, toon.GateUniform},
		{"a key twice", "", row(`{"identifier": 1, "identifier": 2}`), toon.GateUniform},
		{"a key twice later", "", good[:len(good)-1] + `, {"identifier": 1, "name": 1, "name": 2}]`, toon.GateUniform},
		{"nested", "", row(`{"identifier": [1]}`), toon.GateUniform},
		{"an odd key", "", row(`{"a,b": 1, "c]d": 2}`), toon.GateUniform},
		{"an empty key", "", row(`{"": 1}`), toon.GateUniform},
		{"numbers", "", "[1, 2, 3, 4]", toon.GateUniform},
		{"dense", "", `[{"a":1},{"a":2},{"a":3}]`, toon.GateDense},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call := classify.OfCall("fetch_rows", nil, "")
			if tt.command != "" {
				call = componenttest.Command(tt.command)
			}
			got, gate := rewrite(t, call, tt.text)
			if gate != tt.gate {
				t.Errorf("gate %q, want %q: %s", gate, tt.gate, got)
			}
			if gate == "" && !reflect.DeepEqual(read(t, got), values(t, tt.text[strings.Index(tt.text, "["):])) {
				t.Errorf("%s reads otherwise", got)
			}
		})
	}
}

// Whatever the cells: a table reads as the array, and a second run changes nothing.
func TestAnyTable(t *testing.T) {
	cell := rapid.SampledFrom([]string{
		`null`, `true`, `false`, `1`, `1.50`, `-0`, `1e5`, `12345678901234567890`, `""`, `"1"`, `"1.50"`, `"true"`, `"t"`, `"False"`, `"null"`, `"inf"`, `"NaN"`,
		`"0x1p4"`, `" x"`, `"x "`, `"a,b"`, `"\"q\""`, `"q\"q"`, `"a\nb"`, `"a\\"`, `"\u0001"`, `"\ud83d\ude00"`, `"ü 漢"`, `"[trimtab x"`, `"plain words"`, `"-"`, `"1,000"`,
	})
	rapid.Check(t, func(t *rapid.T) {
		keys := []string{"identifier", "name", "a/b", "c.d"}[:rapid.IntRange(1, 4).Draw(t, "keys")]
		var rows []string
		for range rapid.IntRange(3, 12).Draw(t, "rows") {
			var fields []string
			for _, k := range keys {
				fields = append(fields, fmt.Sprintf("%q : %s", k, cell.Draw(t, "cell")))
			}
			rows = append(rows, "{ "+strings.Join(fields, ", ")+" }")
		}
		in := "[" + strings.Join(rows, " ,\n ") + "]" + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		got, gate := rewrite(t, classify.Call{}, in)
		if gate == toon.GateContent {
			t.Fatalf("the check refuses %s", in)
		}
		if gate != "" {
			return
		}
		if !reflect.DeepEqual(read(t, got), values(t, in)) {
			t.Fatalf("%q reads as %v", got, read(t, got))
		}
		if again, gate := rewrite(t, classify.Call{}, got); gate == "" {
			t.Fatalf("%q changed again to %q", got, again)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	f.Add(`[{"id": 1, "name": "Alice"}, {"id": null, "name": "x,y"}, {"id": "2", "name": "\"q\""}]`)
	f.Add("Exit code 0\n" + `[{"k": "\ud800"}, {"k": "\\"}, {"k": " "}]` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, gate := rewrite(t, classify.Call{}, text)
		if gate != "" {
			return
		}
		for at := 0; at < len(text); at++ {
			if at > 0 && text[at-1] != '\n' || !json.Valid([]byte(text[at:])) || text[at] != '[' {
				continue
			}
			if !reflect.DeepEqual(read(t, got), values(t, text[at:])) {
				t.Fatalf("%q reads as %v", got, read(t, got))
			}
			return
		}
	})
}
