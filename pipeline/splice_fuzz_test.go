package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// piece is a token with the bytes before it and its own, as another library sees them.
type piece struct {
	raw   string
	token any
	key   string // the name that stands before it, if any
}

func piecesOf(body []byte) (all []piece, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	at, last := int64(0), ""
	for dec.More() || len(all) == 0 || dec.InputOffset() < int64(len(bytes.TrimRight(body, " \t\r\n"))) {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		end := dec.InputOffset()
		p := piece{raw: string(body[at:end]), token: tok, key: last}
		if s, ok := tok.(string); ok {
			last = s
		} else {
			last = ""
		}
		all, at = append(all, p), end
	}
	return append(all, piece{raw: string(body[at:])}), nil
}

// FuzzSplice: whatever a body holds, a rewrite of it differs in strings of results
// alone, each cut where the component cuts it; every byte besides is the same. The
// judge is encoding/json, which sees tokens and where they end.
func FuzzSplice(f *testing.F) {
	for i, d := range []transcript.Dialect{transcript.Anthropic, transcript.OpenAIChat, transcript.OpenAIResponses} {
		for marks := range 2 {
			f.Add(script(3).Body(d, 3, componenttest.Style{Marks: marks}), byte(i))
		}
	}
	f.Add([]byte(` { "messages" : [ {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{"x":1e9}}]} ,`+
		`{"content":[{"content":[{"text":"a \u00e9\ud83d\ude00 line of text\nand another one, longer than that","type":"text"}],"type":"tool_result","tool_use_id":"a"}],"role":"user"}], "n":-0 } `), byte(0))
	f.Add([]byte(`{"input":[{"type":"function_call","call_id":"a","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"one line of it\r\nan\u006fther\tline of it\/\n\n\n"}]}`), byte(2))
	paths := []string{"/v1/messages", "/v1/chat/completions", "/v1/responses"}
	f.Fuzz(func(t *testing.T, body []byte, d byte) {
		before := bytes.Clone(body)
		e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}})
		x := e.Rewrite(context.Background(), pipeline.Request{Path: paths[int(d)%3], Body: body, Now: time.Unix(1_700_000_000, 0)})
		out := slices.Clone(x.Body())
		r := x.Report()
		x.Close()
		if !bytes.Equal(body, before) {
			t.Fatal("the request's own bytes were changed")
		}
		if r.Reason == pipeline.OutputInvalid || r.Reason == pipeline.EnginePanicked {
			t.Fatalf("%s of %q", r.Reason, body)
		}
		if bytes.Equal(out, body) {
			return
		}
		if len(out) >= len(body) {
			t.Fatalf("%d bytes became %d", len(body), len(out))
		}
		in, err := piecesOf(body)
		if err != nil {
			t.Fatalf("rewrote what is no JSON (%v): %q", err, body)
		}
		after, err := piecesOf(out)
		if err != nil || len(in) != len(after) {
			t.Fatalf("%d tokens became %d, %v: %q", len(in), len(after), err, out)
		}
		for i := range in {
			if in[i].raw == after[i].raw {
				continue
			}
			was, ok := in[i].token.(string)
			is, still := after[i].token.(string)
			line, _, more := strings.Cut(was, "\n")
			switch {
			case !ok || !still || !more || is != line:
				t.Fatalf("%q became %q", in[i].raw, after[i].raw)
			case in[i].key != "content" && in[i].key != "text" && in[i].key != "output":
				t.Fatalf("%q of %q was changed", in[i].raw, in[i].key)
			case !strings.HasPrefix(in[i].raw, strings.TrimSuffix(after[i].raw, `"`)):
				t.Fatalf("kept bytes were written anew: %q became %q", in[i].raw, after[i].raw)
			}
		}
	})
}
