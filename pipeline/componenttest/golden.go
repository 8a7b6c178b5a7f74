package componenttest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

var update = flag.Bool("update", false, "write the wanted texts of testdata/*.txtar")

// Golden runs a component over each testdata/*.txtar of the working directory.
// A file is a conversation: sections "call NAME" (its arguments as JSON) and
// "result" or "result error" (its text) in turn, "settings.json" and "tools.json"
// where they matter, and "want N", the N-th result as it is forwarded; a result
// without one must go out as it came. With -update the wanted texts are written,
// to be reviewed by eye.
func Golden(t *testing.T, verifier pipeline.Verifier, make func(settings []byte) (pipeline.Component, error)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata/*.txtar")
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			g, err := readGolden(a)
			if err != nil {
				t.Fatal(err)
			}
			c, err := make(g.settings)
			if err != nil {
				t.Fatal(err)
			}
			got := g.run(t, c, verifier)
			if *update {
				writeGolden(t, f, a, g, got)
				return
			}
			for i := range g.results {
				if want := g.want(i); got[i] != want {
					t.Errorf("result %d:\n%s\nwant:\n%s", i+1, got[i], want)
				}
			}
		})
	}
}

// golden is one file.
type golden struct {
	settings, tools []byte
	steps           []goldenStep
	results         []string
	wants           map[int]string
}

// goldenStep is a call or a result.
type goldenStep struct {
	call   string
	args   json.RawMessage
	text   string
	failed bool
}

func readGolden(a *txtar.Archive) (*golden, error) {
	g := &golden{wants: map[int]string{}, settings: []byte("{}")}
	for _, f := range a.Files {
		kind, rest, _ := strings.Cut(f.Name, " ")
		switch kind {
		case "settings.json":
			g.settings = f.Data
		case "tools.json":
			g.tools = f.Data
		case "call":
			if !json.Valid(f.Data) {
				return nil, fmt.Errorf("section %q is no JSON", f.Name)
			}
			g.steps = append(g.steps, goldenStep{call: rest, args: f.Data})
		case "result":
			g.steps = append(g.steps, goldenStep{text: string(f.Data), failed: rest == "error"})
			g.results = append(g.results, string(f.Data))
		case "want":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return nil, fmt.Errorf("section %q", f.Name)
			}
			g.wants[n-1] = string(f.Data)
		default:
			return nil, fmt.Errorf("unknown section %q", f.Name)
		}
	}
	return g, nil
}

func (g *golden) want(i int) string {
	if w, ok := g.wants[i]; ok {
		return w
	}
	return g.results[i]
}

// body is the conversation as an Anthropic request.
func (g *golden) body() []byte {
	type block = map[string]any
	messages := []block{{"role": "user", "content": "go"}}
	add := func(role string, b block) {
		if last := messages[len(messages)-1]; last["role"] == role {
			if blocks, ok := last["content"].([]block); ok {
				last["content"] = append(blocks, b)
				return
			}
		}
		messages = append(messages, block{"role": role, "content": []block{b}})
	}
	calls, results := 0, 0
	for _, s := range g.steps {
		if s.call != "" {
			calls++
			add("assistant", block{"type": "tool_use", "id": fmt.Sprint("t", calls), "name": s.call, "input": s.args})
			continue
		}
		results++
		b := block{"type": "tool_result", "tool_use_id": fmt.Sprint("t", results), "content": s.text}
		if s.failed {
			b["is_error"] = true
		}
		add("user", b)
	}
	body := block{"model": "m", "messages": messages}
	if g.tools != nil {
		body["tools"] = json.RawMessage(g.tools)
	}
	out, err := json.Marshal(body)
	if err != nil {
		panic(err) // only strings and valid JSON went in
	}
	return out
}

// run plays the conversation and returns the forwarded results.
func (g *golden) run(t *testing.T, c pipeline.Component, verifier pipeline.Verifier) []string {
	t.Helper()
	e := pipeline.New(pipeline.Options{Secret: []byte("test secret"), Verifier: verifier})
	e.Apply([]pipeline.Profile{{Name: "default", Components: []pipeline.Component{c}, Level: store.Off}}, "default")
	x := e.Rewrite(context.Background(), pipeline.Request{Path: Path(transcript.Anthropic), Body: g.body(), Now: time.Unix(1_700_000_000, 0)})
	defer x.Close()
	texts, err := orderedTexts(x.Body())
	if err != nil || len(texts) != len(g.results) {
		t.Fatalf("%d results came out of %d: %v", len(texts), len(g.results), err)
	}
	for _, r := range x.Report().Components {
		if n := r.Gates[pipeline.GateVerify] + r.Gates[pipeline.GateContract] + r.Gates[pipeline.GatePanic]; n > 0 {
			t.Fatalf("gates %v", r.Gates)
		}
	}
	return texts
}

// orderedTexts lists the texts of an Anthropic body's results, in order.
func orderedTexts(body []byte) (texts []string, err error) {
	var req struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	for _, m := range req.Messages {
		var blocks []struct {
			Type    string `json:"type"`
			Content string `json:"content"`
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue // a string
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				texts = append(texts, b.Content)
			}
		}
	}
	return texts, nil
}

func writeGolden(t *testing.T, path string, a *txtar.Archive, g *golden, got []string) {
	t.Helper()
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want ") })
	for i, text := range got {
		if text != g.results[i] {
			a.Files = append(a.Files, txtar.File{Name: fmt.Sprint("want ", i+1), Data: []byte(text)})
		}
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}
