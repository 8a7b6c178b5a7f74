package smartcrush_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/smartcrush"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func TestGolden(t *testing.T) {
	componenttest.Golden(t, verify.New(), componenttest.FromJSON(smartcrush.New))
}

// rewrite runs the component over the result of a command, or of a tool that is no
// shell.
func rewrite(t componenttest.TB, s *trimtabv1.Smartcrush, command, text string, failed bool) (string, pipeline.Gate) {
	t.Helper()
	c, err := smartcrush.New(trimtabv1.Fill(s))
	if err != nil {
		t.Fatalf("%v", err)
	}
	call := classify.OfCall("list_things", nil, "")
	if command != "" {
		call = componenttest.Command(command)
	}
	b, gate := componenttest.Rewrite(c, call, text, failed)
	if gate != "" {
		return text, gate
	}
	if err := verify.Items(text, b); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return b, ""
}

// rows is an array of n objects; extra is put into row 10 in place of its end.
func rows(n int, extra string) string {
	var b strings.Builder
	b.WriteString("[")
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		end := `"failures": 0, "error": null, "errors": [], "failed": false}`
		if i == 10 && extra != "" {
			end = extra
		}
		fmt.Fprintf(&b, `{"id": %d, "name": "item number %d", %s`, i, i, end)
	}
	return b.String() + "]"
}

func TestKeeps(t *testing.T) {
	for _, tt := range []struct {
		name, extra string
		kept        bool
	}{
		{"nothing", "", false},
		{"a state", `"state": "ERROR"}`, true},
		{"a count of failures", `"failures": 2}`, true},
		{"no failures", `"failures": 0.0}`, false},
		{"an empty error", `"error": ""}`, false},
		{"an error of another word", `"error": "E42"}`, true},
		{"an empty object", `"error": { }}`, false},
		{"an object", `"error": {"code": 3}}`, true},
		{"deep down", `"runs": [[{"state": "failed"}]]}`, true},
		{"a flag", `"failed": true}`, true},
		{"a long text that mentions one", `"body": "` + strings.Repeat("word ", 60) + `error"}`, false},
		{"an escaped quote", `"a\"error": 0, "x": "\"fatal\""}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, gate := rewrite(t, &trimtabv1.Smartcrush{}, "", rows(20, tt.extra), false)
			if gate != "" || !json.Valid([]byte(got)) {
				t.Fatalf("gate %q: %s", gate, got)
			}
			if strings.Contains(got, `"id": 10,`) != tt.kept {
				t.Errorf("got %s", got)
			}
			want := `"[trimtab cut 15 items]"`
			if tt.kept {
				want = `"[trimtab cut 7 items]", {"id": 10, `
			}
			if !strings.Contains(got, want) || !strings.Contains(got, `{"id": 2, `) || !strings.Contains(got, `{"id": 18, `) {
				t.Errorf("no %s in %s", want, got)
			}
		})
	}
}

func TestGates(t *testing.T) {
	for _, tt := range []struct {
		name, command, text string
		failed              bool
		gate                pipeline.Gate
	}{
		{name: "an array", text: rows(20, "")},
		{name: "an object", text: `{"total": 20, "items": ` + rows(20, "") + `, "next": null}`},
		{name: "of a command", command: "gh api x", text: rows(20, "")},
		{name: "behind a preamble", command: "gh api x", text: "Exit code 0\nOutput:\n" + rows(20, "") + "\n"},
		{name: "a file", command: "cat x.json", text: rows(20, ""), gate: smartcrush.GateKind},
		{name: "a search", command: "rg --json x", text: rows(20, ""), gate: smartcrush.GateKind},
		{name: "a failure", text: rows(20, ""), failed: true, gate: smartcrush.GateFailed},
		{name: "short", text: "[1,2]", gate: smartcrush.GateSmall},
		{name: "text", text: strings.Repeat("word ", 300), gate: smartcrush.GateShape},
		{name: "something behind it", text: rows(20, "") + "]", gate: smartcrush.GateParse},
		{name: "cut off", text: "[" + rows(20, ""), gate: smartcrush.GateParse},
		{name: "two levels down", text: `{"a": {"items": ` + rows(20, "") + `}}`, gate: smartcrush.GateShort},
		{name: "few items", text: rows(7, ""), gate: smartcrush.GateShort},
		{name: "all report", text: "[" + strings.Repeat(`{"id": 1, "name": "x", "state": "failed"}, `, 30) + `1]`, gate: smartcrush.GateAll},
		{name: "names", text: "[" + strings.Repeat(`"src/a/file.go", `, 99) + `"x"]`, gate: smartcrush.GateShort},
		{name: "crushed already", text: strings.Replace(rows(20, ""), ", {", `, "[trimtab cut 2 items]", {`, 1), gate: smartcrush.GateMark},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, gate := rewrite(t, &trimtabv1.Smartcrush{}, tt.command, tt.text, tt.failed); gate != tt.gate {
				t.Errorf("gate %q, want %q: %s", gate, tt.gate, got)
			}
		})
	}
}

// Doubled keys, numbers, escapes and lone surrogates stay byte for byte.
func TestBytesStay(t *testing.T) {
	first := `{"a":1.50,"a":2,"b":"\ud800\u003c\/","c":12345678901234567890,"d":1e5}`
	got, gate := rewrite(t, &trimtabv1.Smartcrush{}, "", "[ "+first+" ,\t"+rows(40, "")[1:], false)
	if gate != "" || !strings.HasPrefix(got, "[ "+first+" ,\t{") {
		t.Errorf("gate %q: %s", gate, got)
	}
}

// Whatever the document: what is left is valid and accounted for (rewrite checks
// that), and a second run changes nothing.
func TestAnyDocument(t *testing.T) {
	item := rapid.SampledFrom([]string{
		`1`, `null`, `"text"`, `{"a": "` + strings.Repeat("long ", 20) + `"}`, `{"state": "error"}`, `[1, [2, {"x": "]}"}]]`, `{ }`, `"a \"quoted\" [word"`, `{"errors": 0}`, `-1.5e3`, `"\\"`,
	})
	rapid.Check(t, func(t *rapid.T) {
		array := func() string {
			sep := rapid.SampledFrom([]string{",", ", ", " ,\n  "}).Draw(t, "separator")
			return `[{"id": 0}` + sep + strings.Join(rapid.SliceOfN(item, 1, 40).Draw(t, "items"), sep) + rapid.SampledFrom([]string{"]", " ]", "\n]"}).Draw(t, "end")
		}
		text := array()
		if rapid.Bool().Draw(t, "object") {
			text = `{"a": ` + text + `, "b" : ` + array() + `, "c": "x"}`
		}
		text = rapid.SampledFrom([]string{"", "Exit code 0\n"}).Draw(t, "preamble") + text + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "tail")
		one := uint32(1)
		s := &trimtabv1.Smartcrush{MinTokens: &one, KeepFirst: &one}
		got, gate := rewrite(t, s, "", text, false)
		if gate != "" {
			return
		}
		if again, gate := rewrite(t, s, "", got, false); gate == "" {
			t.Fatalf("%q changed again to %q", got, again)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	f.Add(rows(20, ""))
	f.Add(`{"a":` + rows(20, `"x": "\"fatal\""}`) + `}`)
	f.Add("header\n[{},\"[trimtab cut 3 items]\",2,3,4,5,6,7,\"\\\\\",9]\n")
	one := uint32(1)
	f.Fuzz(func(t *testing.T, text string) { rewrite(t, &trimtabv1.Smartcrush{MinTokens: &one}, "", text, false) })
}

func BenchmarkRewrite(b *testing.B) {
	c, _ := smartcrush.New(trimtabv1.Fill(&trimtabv1.Smartcrush{}))
	text := rows(12000, "")
	block := pipeline.Block{Text: text, Received: text, Parts: 1}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Rewrite(block, pipeline.Prefix{})
	}
}
