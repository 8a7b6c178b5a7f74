package components

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// shown is what is forwarded of the results of calls, with all components: each is
// a tool's name, its arguments and its result.
func shown(t *testing.T, results ...[3]string) []string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}`)
	for i, r := range results {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":%s,"input":%s}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}`,
			i, quote(r[0]), r[1], i, quote(r[2]))
	}
	b.WriteString(`]}`)
	x, _ := forward(t, anthropicPath, []byte(b.String()))
	tr, err := transcript.Parse(transcript.Anthropic, x.Body())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range tr.Results {
		text, _ := transcript.Decode(x.Body()[r.Texts[0].Span.Start:r.Texts[0].Span.End])
		out = append(out, text)
	}
	return out
}

func shell(command, text string) [3]string {
	return [3]string{"Bash", `{"command":` + quote(command) + `}`, text}
}

func refuses(t *testing.T, component, settings, says string) {
	t.Helper()
	for _, e := range Catalogue() {
		if e.Name != component {
			continue
		}
		m := e.Defaults()
		err := protojson.Unmarshal([]byte(settings), m)
		if err == nil {
			_, err = e.New(m)
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s %s: %v", component, settings, err)
		}
		return
	}
	t.Errorf("there is no %s", component)
}

// The defects that a reference system of the field was found to have, each under
// its number in the register.
func TestDefectRegister(t *testing.T) {
	source := strings.Repeat("    if err:\n        return False\n    return do_something(x)\n\n", 30)
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"1 repeated lines of a source listing stay", func(t *testing.T) {
			for _, command := range []string{"cat src/a.py", "sed -n 1,200p src/a.py", "git show HEAD:src/a.py", "cd x && cat a.py | head -200"} {
				if got := shown(t, shell(command, source))[0]; got != source {
					t.Errorf("%s: %q", command, got)
				}
			}
		}},
		{"2 doubled carriage returns end lines", func(t *testing.T) {
			in := strings.Repeat("foo bar baz\r\r\nnext line here\r\n", 30)
			got := shown(t, shell("./tool", in))[0]
			if !strings.Contains(got, "foo bar baz") || !strings.Contains(got, "next line here") {
				t.Errorf("%q", got)
			}
		}},
		{"3 what follows a document stays", func(t *testing.T) {
			for _, in := range []string{"{\"a\":   1}\n} tail of the text", "[{\"a\": 1}, {\"a\": 2}]\n] tail", "{\"a\":  1}\n\"b\""} {
				if got := shown(t, [3]string{"get", `{}`, in})[0]; got != in {
					t.Errorf("%q became %q", in, got)
				}
			}
		}},
		{"4 texts that differ in white space alone are different", func(t *testing.T) {
			a := strings.Repeat("key:  value of it\n  nested: x\n", 40)
			b := strings.ReplaceAll(a, "  ", " ")
			got := shown(t, shell("make a", a), shell("make b", b))
			if strings.Contains(got[1], "identical output") || !strings.Contains(got[1], "key: value of it") {
				t.Errorf("%q", got[1])
			}
		}},
		{"5 rows of percentages are data", func(t *testing.T) {
			in := ""
			for i := range 60 {
				in += fmt.Sprintf("  %d%%   %d%%   1,%03d\n| %d%% | 34%% |\n", i, i+30, i, i)
			}
			got := shown(t, shell("./coverage", in))[0]
			for line := range strings.Lines(in) {
				if !strings.Contains(got, strings.TrimSpace(line)) {
					t.Fatalf("%q is gone", line)
				}
			}
		}},
		{"6 doubled keys, lone surrogates, order and numbers stay", func(t *testing.T) {
			in := `{"z": 1, "a": 1.50, "z": 2, "s": "\ud800", "n": 12345678901234567890}`
			got := shown(t, [3]string{"get", `{}`, in})[0]
			if strings.ReplaceAll(in, " ", "") != got {
				t.Errorf("%q", got)
			}
		}},
		{"7 gaps are counted and the summary stays", func(t *testing.T) {
			in := "collected 200 items\n\n"
			for i := range 200 {
				in += fmt.Sprintf("tests/test_%d.py::test_case PASSED [%3d%%]\n", i, i/2)
			}
			in += "\n============ 200 passed in 2.01s ============\n"
			got := shown(t, shell("pytest -v", in))[0]
			if !strings.Contains(got, "200 passed in 2.01s") || len(got) < len(in) && !strings.Contains(got, "[trimtab cut ") {
				t.Errorf("%q", got)
			}
			failed := strings.ReplaceAll(in, "PASSED", "FAILED") + "FAILED tests/test_1.py::test_case - assert 1 == 2\n200 failed in 2s\n"
			if got := shown(t, shell("pytest -v", failed))[0]; !strings.Contains(got, "200 failed in 2s") || !strings.Contains(got, "assert 1 == 2") {
				t.Errorf("%q", got)
			}
		}},
		{"8 numbers out of bounds are refused", func(t *testing.T) {
			refuses(t, "linecap", `{"minSize":-1}`, "minSize")
			refuses(t, "gutter", `{"every":3}`, "every")
			refuses(t, "backref", `{"minLines":1}`, "min_lines")
		}},
		{"9 a quoted mark spoils its own block alone", func(t *testing.T) {
			quoted := "[trimtab identical output to #1]\n" + numbered(40)
			got := shown(t, [3]string{"Read", `{"file_path":"/a"}`, quoted}, [3]string{"Read", `{"file_path":"/b"}`, numbered(40)})
			if got[0] != quoted || got[1] == numbered(40) {
				t.Errorf("%q, %q", got[0][:80], got[1][:80])
			}
		}},
		{"10 nothing that a store refuses changes a pure rewrite", func(t *testing.T) {
			for _, e := range Catalogue() {
				c, err := New(e.Name, nil)
				if err != nil {
					t.Fatal(err)
				}
				if d := c.Describe(); is[pipeline.Pure](c) && d.Keeps == pipeline.KeepsTexts && d.AtLevel[0] != d.AtLevel[2] {
					t.Errorf("%s: %v", e.Name, d.AtLevel)
				}
			}
		}},
		{"11 a fold that costs tokens is none", func(t *testing.T) {
			in := "a/b.go:1:x\nc/d.go:2:y\ne/f.go:3:z\ng/h.go:4:w\n"
			if got := shown(t, shell("grep -rn x .", in))[0]; got != in {
				t.Errorf("%q", got)
			}
		}},
		{"12 a key that names errors is no error", func(t *testing.T) {
			var rows []string
			for i := range 60 {
				rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"row number %d","failures":0,"error":null,"panics":[]}`, i, i))
			}
			rows[30] = `{"id":30,"name":"row","failures":2,"error":"disk full","panics":[]}`
			got := shown(t, [3]string{"list_rows", `{}`, "[" + strings.Join(rows, ",") + "]"})[0]
			if !strings.Contains(got, "disk full") || !json.Valid([]byte(got)) || strings.Count(got, `"id"`) > 30 {
				t.Errorf("%q", got)
			}
		}},
		{"14 the shape tells the dialect, not the provider's name", func(t *testing.T) {
			body := []byte(`{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"/a"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + quote(numbered(60)) + `}]}]}`)
			if x, _ := forward(t, "/model/anthropic.claude/invoke", body); !x.Changed() {
				if x, _ := forward(t, anthropicPath, body); !x.Changed() {
					t.Error("nothing was done")
				}
			}
			input := []byte(`{"model":"m","input":[{"type":"function_call","call_id":"a","name":"read_file","arguments":"{\"path\":\"/a\"}"},{"type":"function_call_output","call_id":"a","output":` + quote(numbered(60)) + `}]}`)
			if x, _ := forward(t, responsesPath, input); !x.Changed() {
				t.Error("a Responses item is left alone")
			}
		}},
		{"17 an unknown value is refused, not taken for another", func(t *testing.T) {
			refuses(t, "secretmask", `{"wire":"ful"}`, "store_only")
			refuses(t, "cmdfilter", `{"markerMode":"fulll"}`, "unknown field")
		}},
		{"19 what is pointed at stands there", func(t *testing.T) {
			in := steps(1, 200)
			got := shown(t, shell("make log", in), shell("make log", in))
			if strings.Contains(got[1], "identical output to #1") && got[0] != in {
				t.Errorf("#1 was changed: %.200q", got[0])
			}
		}},
	} {
		t.Run(c.name, c.run)
	}
}
