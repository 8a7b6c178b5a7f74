package reader_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/reader"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

type object = map[string]any

// step is a call and its result.
type step struct {
	tool  string
	input object
	text  string
}

// transcriptOf is a body of those steps.
func transcriptOf(t testing.TB, steps ...step) []byte {
	t.Helper()
	messages := []object{{"role": "user", "content": "go"}}
	for i, s := range steps {
		id := fmt.Sprint("call", i)
		messages = append(messages,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": s.tool, "input": s.input}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": s.text}}})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(object{"model": "m", "messages": messages}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// numbered is a file as a read tool prints it.
func numbered(from, n int, separator string) string {
	var b strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, "%6d%sfunc f%d() { return %q } // of some length\n", i, separator, i*i, strings.Repeat("x", i%9))
	}
	return b.String()
}

func rows(path string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s:%d:\tfunc f%d() of some length\n", path, i*3+1, i)
	}
	return b.String()
}

// FuzzWritten: whatever two results say, what the engine makes of them reads as they
// did. The judge is the reader, which shares nothing with the components.
func FuzzWritten(f *testing.F) {
	read, plain := numbered(1, 40, "\t"), strings.ReplaceAll(numbered(1, 40, ""), "     ", "")
	for i, s := range []struct{ a, b string }{
		{read, read},
		{read, numbered(5, 30, "\t")},
		{plain, "before\n" + plain[200:] + "after\n"},
		{read, strings.ReplaceAll(plain, "\n", "\r\n")},
		{numbered(95, 20, "→"), numbered(90, 30, "→") + "end"},
		{numbered(1, 30, ": "), numbered(1, 30, ":")},
		{rows("/home/dev/project/pkg/server/handler.go", 20), rows("/home/dev/project/pkg/server/handler.go", 20) + rows("/home/dev/project/other.go", 9)},
		{rows("a/b.go", 30), "a/b.go\n\n" + rows("a/b.go", 12) + "--\nx"},
	} {
		f.Add(s.a, s.b, byte(i), byte(i))
	}
	inputs := []step{
		{tool: "Read", input: object{"file_path": "/src/a.go"}},
		{tool: "Bash", input: object{"command": "make"}},
		{tool: "Grep", input: object{"pattern": "x", "output_mode": "content"}},
		{tool: "Bash", input: object{"command": "cat -n /src/a.go"}},
		{tool: "Write", input: object{"file_path": "/src/a.go", "content": plain}},
	}
	f.Fuzz(func(t *testing.T, a, b string, first, second byte) {
		if strings.Contains(a+b, "[trimtab ") || len(a)+len(b) > 64<<10 {
			return
		}
		one, two := inputs[int(first)%len(inputs)], inputs[int(second)%len(inputs)]
		one.text, two.text = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?")
		in := transcriptOf(t, one, two, one)
		x := engine().Rewrite(context.Background(), pipeline.Request{Path: "/v1/messages", Body: in, Now: time.Unix(1_700_000_000, 0)})
		out := slices.Clone(x.Body())
		if r := x.Report(); r.Reason == pipeline.OutputInvalid || r.Reason == pipeline.EnginePanicked {
			t.Fatalf("%s", r.Reason)
		}
		x.Close()
		if len(out) > len(in) {
			t.Fatalf("%d bytes became %d", len(in), len(out))
		}
		compare(t, "fuzzed", in, out)
	})
}

// FuzzMarks: two decoders that share nothing, the verifier and the reader, decode any
// text to the same lines, if both take it.
func FuzzMarks(f *testing.F) {
	for _, s := range []string{
		"[trimtab same as #2: a b.go lines 1-5, unchanged]\n",
		"[trimtab identical output to #2; #n counts tool calls from the start]\n",
		"x\n[trimtab 3 lines: same as #1 lines 2-4]\ny\n",
		"    11\tx\n[trimtab lines 12-13: same as #1 lines 2-3]\n",
		"00099| x\n[trimtab lines 100-101: same as #2 from \"two two\" to \"three\"]\n",
		"[trimtab 2 lines: same as argument content of call #3 from \"second\" to \"third\"]\n",
		"[trimtab lines 9-12: every 10th number shown]\n 9\ta\nb\n11 not\n12\td\n13\tx\n",
		"x\n[trimtab 4 lines: rows grouped by path]\na/b.go\n1:x\n2-y\nplain\nc.go\n3:z\n4:w\n",
		"[trimtab 3 lines: rows grouped by directory]\na/\n\tb\n\tc\nd\n\te\n",
		"[trimtab paths: ./ = /home/dev/]\n./a\n x ./b\n[trimtab 2 lines: rows grouped by path]\n./c\n1:x\n2:y\n",
	} {
		f.Add(s)
	}
	earlier := []step{
		{"Read", object{"file_path": "/a"}, "     1\talpha\n     2\tbeta\n     3\tgamma\n     4\tdelta\n     5\tepsilon\n"},
		{"Bash", object{"command": "x"}, "one\ntwo two\nthree\nfour\nfive\n"},
		{"Write", object{"content": "first line\nsecond line\nthird line\n"}, "ok"},
	}
	source := func(call int, argument, text string) pipeline.Source {
		return pipeline.Source{
			Call: pipeline.Call{Ordinal: call}, Argument: argument, Parts: 1,
			Forwarded: func() string { return text },
		}
	}
	sources := []pipeline.Source{
		source(1, "", earlier[0].text), source(2, "", earlier[1].text),
		source(3, "content", "first line\nsecond line\nthird line\n"), source(3, "", earlier[2].text),
	}
	lines := func(t *testing.T, text string) ([]reader.Line, error) {
		all, err := reader.Read(transcriptOf(t, append(slices.Clone(earlier), step{"Bash", object{"command": "y"}, text})...))
		if err != nil {
			return nil, err
		}
		return all[len(all)-1], nil
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ToValidUTF8(text, "") != text || len(text) > 16<<10 {
			return
		}
		restored, err := verify.New().Verify(pipeline.Block{Text: text}, pipeline.Prefix{Sources: sources})
		if err != nil || strings.Contains(restored, "[trimtab ") {
			return
		}
		want, err := lines(t, restored)
		if err != nil {
			t.Fatalf("a text without marks is refused: %v", err)
		}
		got, err := lines(t, text)
		if err != nil {
			return
		}
		if len(got) == 0 {
			got = []reader.Line{{Number: -1}} // no line and an empty one are the same text
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the verifier reads %q, the reader %v", restored, got)
		}
	})
}
