package components

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trimtab-io/trimtab/internal/corpus"
	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

// single is one recorded request with something in it that the conversations have
// seldom or never.
type single struct {
	ID       string
	Endpoint string
	Features []string
	Body     json.RawMessage
}

// singles are the recorded requests.
func singles(t *testing.T) []single {
	t.Helper()
	f, err := os.Open(corpus.Path(t, "dev/singles.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []single
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		var s single
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// Every recorded single request, as it is, with two long results behind it, and
// with all its texts made long: whatever stands beside a result stays as it came,
// byte for byte, and breaks no rule of the provider that it did not break before.
func TestLawOnRecordedSingles(t *testing.T) {
	names := lineups()[len(lineups())-1].names
	seen := map[string]bool{}
	var rewritten, beside atomic.Int64
	played := levels
	if !alone { // the race detector makes the judges slow
		played = []store.Level{store.Metadata}
	}
	t.Run("each", func(each *testing.T) {
		for _, s := range singles(t) {
			for _, f := range s.Features {
				seen[f] = true
			}
			each.Run(s.ID, func(t *testing.T) {
				t.Parallel()
				d := transcript.Detect(s.Endpoint, false)
				for _, body := range [][]byte{s.Body, longer(t, d, s.Body), longer(t, d, grown(t, "", s.Body))} {
					for _, level := range played {
						st := newStore()
						p := componenttest.Player{Dialect: d, New: func() *pipeline.Engine {
							return newEngine(build(t, names), level, st, verifier())
						}}
						p.Play(t, []componenttest.Request{{Body: body}, {Body: body, Restart: true}})
						out := p.Bodies[0]
						w := promptcache.Wire(d)
						if v := append(provider.Added(w, body, out), provider.Altered(w, body, out)...); len(v) > 0 {
							t.Errorf("level %s: %v", level, v)
						}
						for _, r := range mixed(t, body) {
							beside.Add(1)
							if !bytes.Contains(out, r) {
								t.Errorf("level %s: a result that is not text alone was changed: %.300s", level, r)
							}
						}
						if len(out) < len(body) {
							rewritten.Add(1)
						} else if !bytes.Equal(body, s.Body) && !bytes.Contains(body, []byte(`"previous_response_id":"`)) {
							t.Errorf("level %s: nothing was shortened, %s: %v", level, p.Reports[0].Reason, p.Reports[0].Components)
						}
					}
				}
			})
		}
	})
	for _, f := range []string{
		"image", "document", "file", "audio", "thinking", "redacted_thinking", "parallel", "reasoning_item", "encrypted_content",
		"mcp", "server_tool", "web_search", "code_interpreter", "compaction", "context_management", "previous_response_id",
		"response_format", "cache_control",
	} {
		if !seen[f] {
			t.Errorf("no recorded request has %s", f)
		}
	}
	if beside.Load() == 0 {
		t.Error("no result has a part that is not text")
	}
	if n := int(rewritten.Load()); n < 200*len(played) {
		t.Errorf("only %d were rewritten", n)
	}
}

// longer is a request with two turns at its end in which the same command prints
// the same rows.
func longer(t *testing.T, d transcript.Dialect, body []byte) []byte {
	t.Helper()
	text, err := json.Marshal(rows())
	if err != nil {
		t.Fatal(err)
	}
	const args = `{"command":"grep -rn shift internal"}`
	quoted, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	var tail strings.Builder
	for i := range 2 {
		id := fmt.Sprintf("call_added_%d", i)
		switch d {
		case transcript.Anthropic:
			fmt.Fprintf(&tail, `,{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"bash","input":%s}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}`, id, args, id, text)
		case transcript.OpenAIChat:
			fmt.Fprintf(&tail, `,{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"bash","arguments":%s}}]},{"role":"tool","tool_call_id":%q,"content":%s}`, id, quoted, id, text)
		default:
			fmt.Fprintf(&tail, `,{"type":"function_call","call_id":%q,"name":"bash","arguments":%s},{"type":"function_call_output","call_id":%q,"output":%s}`, id, quoted, id, text)
		}
	}
	list := "messages"
	if d == transcript.OpenAIResponses {
		list = "input"
	}
	at := endOfList(t, body, list)
	if at < 0 { // a string in its place
		return body
	}
	added := tail.String()
	if bytes.HasSuffix(bytes.TrimSpace(body[:at]), []byte("[")) {
		added = added[1:]
	}
	return append(append(bytes.Clone(body[:at]), added...), body[at:]...)
}

// rows are what a search prints.
func rows() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "internal/shiftplan/roster_%d.go:%d: the shift of row %d ends before it starts\n", i/20, 10+i, i*37)
	}
	return b.String()
}

// grown is a value with the rows behind each text in it, whoever wrote it.
func grown(t *testing.T, key string, v json.RawMessage) json.RawMessage {
	t.Helper()
	switch v[0] {
	case '"':
		switch key {
		case "text", "content", "output", "thinking", "signature", "encrypted_content", "summary", "error", "stdout", "instructions", "system":
			// Of several parts each is cleaned by itself, and not folded.
			text, err := json.Marshal("\n\x1b[32mfound:\x1b[0m\r\n" + rows())
			if err != nil {
				t.Fatal(err)
			}
			return append(bytes.Clone(v[:len(v)-1]), text[1:]...)
		}
		return v
	case '[', '{':
		var out []byte
		last := 0
		dec := json.NewDecoder(bytes.NewReader(v))
		if _, err := dec.Token(); err != nil {
			t.Fatal(err)
		}
		for dec.More() {
			if v[0] == '{' {
				name, err := dec.Token()
				if err != nil {
					t.Fatal(err)
				}
				key = name.(string)
			}
			var inner json.RawMessage
			if err := dec.Decode(&inner); err != nil {
				t.Fatal(err)
			}
			end := int(dec.InputOffset())
			out = append(append(out, v[last:end-len(inner)]...), grown(t, key, inner)...)
			last = end
		}
		return append(out, v[last:]...)
	}
	return v
}

// mixed are the results of a request that have a part that is not text.
func mixed(t *testing.T, body []byte) []json.RawMessage {
	t.Helper()
	var req struct{ Messages, Input json.RawMessage }
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	var found []json.RawMessage
	var look func(list json.RawMessage)
	look = func(list json.RawMessage) {
		var elements []json.RawMessage
		if json.Unmarshal(list, &elements) != nil {
			return // a string in its place
		}
		for _, raw := range elements {
			var e struct {
				Type, Role      string
				Content, Output json.RawMessage
			}
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			var parts []struct{ Type string }
			if e.Type != "tool_result" && e.Role != "tool" && !strings.HasSuffix(e.Type, "_call_output") {
				look(e.Content)
				continue
			}
			if len(e.Output) > 0 {
				e.Content = e.Output
			}
			_ = json.Unmarshal(e.Content, &parts) // a string is no list
			for _, p := range parts {
				if !strings.HasSuffix(p.Type, "text") {
					found = append(found, raw)
					break
				}
			}
		}
	}
	look(req.Messages)
	look(req.Input)
	return found
}

// endOfList is where the list that is a member of a request ends, or -1.
func endOfList(t *testing.T, body []byte, name string) int {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if key == name && v[0] == '[' {
			return int(dec.InputOffset()) - 1
		}
	}
	return -1
}
