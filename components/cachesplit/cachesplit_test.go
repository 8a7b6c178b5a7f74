package cachesplit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/cachesplit"
	"github.com/trimtab-io/trimtab/pipeline"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

var rules = strings.Repeat("You follow every rule with great care and never skip a step. ", 150)

func component(t testing.TB, markers ...string) *cachesplit.Component {
	t.Helper()
	c, err := cachesplit.New(&trimtabv1.Cachesplit{Markers: markers})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rewrite(t testing.TB, c pipeline.Component, path, body string) string {
	t.Helper()
	e := pipeline.New(pipeline.Options{Secret: []byte("s")})
	e.Apply([]pipeline.Profile{{Name: "default", Components: []pipeline.Component{c}}}, "default")
	x := e.Rewrite(context.Background(), pipeline.Request{Path: path, Body: []byte(body), Now: time.Unix(1, 0)})
	defer x.Close()
	return string(x.Body())
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

const messages = `"messages":[{"role":"user","content":"hi"}]`

func TestSplitsTheFirstMarkedBlock(t *testing.T) {
	text := rules + "é \"quoted\"\\\ngitStatus: M a.go\nmore\nRecent commits:\nabc"
	block := `{ "type":"text", "citations":null,"text":` + quoted(text) + `,"cache_control":{"type":"ephemeral","ttl":"1h"} }`
	body := `{"model":"m","system":[{"type":"text","text":"first"},` + block + `,{"type":"text","text":"last"}],` + messages + `}`
	got := rewrite(t, component(t), "/v1/messages", body)
	cut := strings.Index(text, "gitStatus:")
	head := `{ "type":"text", "citations":null,"text":` + quoted(text[:cut]) + `,"cache_control":{"type":"ephemeral","ttl":"1h"} }`
	tail := `{ "type":"text", "citations":null,"text":` + quoted(text[cut:]) + ` }`
	want := strings.Replace(body, block, head+","+tail, 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLeavesAlone(t *testing.T) {
	marked := func(text string) string {
		return `[{"type":"text","text":` + quoted(text) + `,"cache_control":{"type":"ephemeral"}}]`
	}
	changing := rules + "\ngitStatus: clean"
	for name, c := range map[string]struct{ path, system string }{
		"no changing part":                {"/v1/messages", marked(rules)},
		"a changing part at the start":    {"/v1/messages", marked("gitStatus: clean\n" + rules)},
		"a stable part that is too small": {"/v1/messages", marked("short\ngitStatus: clean")},
		"no breakpoint on the block":      {"/v1/messages", `[{"type":"text","text":` + quoted(changing) + `}]`},
		"a string":                        {"/v1/messages", quoted(changing)},
		"an empty list":                   {"/v1/messages", `[]`},
		"another dialect":                 {"/v1/chat/completions", marked(changing)},
		"nothing after the marker's line": {"/v1/messages", marked(rules + "\n")},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"system":` + c.system + `,` + messages + `}`
			if got := rewrite(t, component(t), c.path, body); got != body {
				t.Errorf("changed to\n%s", got)
			}
		})
	}
}

func TestOwnMarkersReplaceTheList(t *testing.T) {
	body := func(text string) string {
		return `{"system":[{"type":"text","text":` + quoted(text) + `,"cache_control":{"type":"ephemeral"}}],` + messages + `}`
	}
	c := component(t, "Today:")
	if b := body(rules + "\nToday: Monday"); rewrite(t, c, "/v1/messages", b) == b {
		t.Error("an own marker does nothing")
	}
	if b := body(rules + "\ngitStatus: clean"); rewrite(t, c, "/v1/messages", b) != b {
		t.Error("the built-in markers are still in force")
	}
	for _, bad := range []string{"", "two\nlines"} {
		if _, err := cachesplit.New(&trimtabv1.Cachesplit{Markers: []string{bad}}); err == nil {
			t.Errorf("marker %q is accepted", bad)
		}
	}
}

// Both halves together are the text, whatever it holds; there are never more
// breakpoints; and the rest of the body is the same bytes.
func TestNothingIsLost(t *testing.T) {
	c := component(t)
	rapid.Check(t, func(rt *rapid.T) {
		text := rules + rapid.String().Draw(rt, "before") + rapid.SampledFrom([]string{"\ngitStatus:", "\nCurrent branch: ", "Recent commits:"}).Draw(rt, "marker") +
			rapid.String().Draw(rt, "after")
		mark := rapid.SampledFrom([]string{`,"cache_control":{"type":"ephemeral"}`, `,"cachePoint":{"type":"default"}`, ``}).Draw(rt, "mark")
		in := `{"system":[{"type":"text","text":` + quoted(text) + mark + `}],` + messages + `}`
		out := rewrite(t, c, "/v1/messages", in)
		var a, b struct{ System []map[string]any }
		if json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal([]byte(out), &b) != nil {
			rt.Fatalf("no JSON: %s", out)
		}
		joined := ""
		for _, s := range b.System {
			joined += s["text"].(string)
			if s["text"] == "" {
				rt.Fatal("an empty block")
			}
		}
		if joined != a.System[0]["text"].(string) {
			rt.Fatalf("%q became %q", a.System[0]["text"], joined)
		}
		if strings.Count(out, "cache_control")+strings.Count(out, "cachePoint") != strings.Count(in, "cache_control")+strings.Count(in, "cachePoint") {
			rt.Fatal("the number of breakpoints changed")
		}
		if !strings.HasSuffix(out, "],"+messages+"}") {
			rt.Fatal("the rest of the body changed")
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(`{"system":[{"type":"text","text":%s,"cache_control":{}}],%s}`, quoted(rules+"\ngitStatus: x"), messages)))
	f.Fuzz(func(t *testing.T, body []byte) {
		out := rewrite(t, component(t), "/v1/messages", string(body))
		if json.Valid(body) && !json.Valid([]byte(out)) {
			t.Fatalf("valid JSON became %s", out)
		}
		if !json.Valid(body) && !bytes.Equal([]byte(out), body) {
			t.Fatal("what is no JSON was changed")
		}
	})
}

func BenchmarkRewriteEnvelope(b *testing.B) {
	c := component(b)
	v := pipeline.EnvelopeView{Dialect: "anthropic", System: []pipeline.SystemBlock{{Text: rules + "\ngitStatus: x", Marked: true}}}
	b.ReportAllocs()
	for b.Loop() {
		c.RewriteEnvelope(v)
	}
}
