package dependence_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/trimtab-io/trimtab/components"
	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/dependence"
	"github.com/trimtab-io/trimtab/internal/service"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// update is componenttest's flag: write generated files anew.
func update() bool { return flag.Lookup("update").Value.String() == "true" }

const page = "../../docs/data-dependence.md"

func described(t *testing.T) []pipeline.Description {
	t.Helper()
	var out []pipeline.Description
	for _, e := range components.Catalogue() {
		c, err := components.New(e.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c.Describe())
	}
	return out
}

func presets(t *testing.T) []dependence.Preset {
	t.Helper()
	var out []dependence.Preset
	for _, name := range config.Presets() {
		e, err := config.Load(config.Options{Environ: []string{"TRIMTAB_PRESET=" + name}})
		if err != nil {
			t.Fatal(err)
		}
		p := dependence.Preset{Name: name}
		for _, c := range e.Profile("").Components {
			p.Components = append(p.Components, c.Name)
		}
		out = append(out, p)
	}
	return out
}

func TestThePageIsWhatTheCatalogueSays(t *testing.T) {
	want := dependence.Markdown(described(t), dependence.Features(), presets(t))
	if update() {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not up to date: run go test ./internal/dependence -update", page)
	}
}

// A row says something: every cell is filled, a reason is eight words and no
// pointer at code, and the decision record exists.
func TestRowsAreWhole(t *testing.T) {
	reason := func(name, s string) {
		if len(strings.Fields(s)) < 8 || strings.ContainsAny(s, "()_") {
			t.Errorf("%s: the reason %q is no plain sentence of eight words", name, s)
		}
	}
	seen := map[string]bool{}
	for _, d := range described(t) {
		seen[d.Name] = true
		reason(d.Name, d.Reason)
		if d.Keeps == "" || d.Where == "" || d.Summary == "" || d.AtLevel[0] == "" || d.AtLevel[1] == "" || d.AtLevel[2] == "" {
			t.Errorf("%s: an empty cell: %+v", d.Name, d)
		}
		if m, _ := filepath.Glob("../../" + d.Decided + "*.md"); len(m) != 1 {
			t.Errorf("%s: no decision record %q", d.Name, d.Decided)
		}
	}
	for _, f := range dependence.Features() {
		reason(f.Name, f.Reason)
		if f.Keeps == "" || f.Proof == "" || f.AtLevel[0] == "" || f.AtLevel[1] == "" || f.AtLevel[2] == "" {
			t.Errorf("%s: an empty cell", f.Name)
		}
		name, in, _ := strings.Cut(f.Proof, " in ")
		found := false
		files, _ := filepath.Glob("../../" + in + "/*_test.go")
		for _, file := range files {
			src, _ := os.ReadFile(file)
			found = found || bytes.Contains(src, []byte("func "+name+"("))
		}
		if !found {
			t.Errorf("%s: there is no test %s", f.Name, f.Proof)
		}
	}
	for _, p := range presets(t) {
		for _, c := range p.Components {
			if !seen[c] {
				t.Errorf("preset %s runs %s, which has no row", p.Name, c)
			}
		}
	}
}

// witness is a conversation on which every component has something to do.
func witness(canary string) componenttest.Script {
	var numbered, hits strings.Builder
	for i := range 60 {
		fmt.Fprintf(&numbered, "%6d\tvalue_%d := compute(%d) // %s line %d of the file\n", i+1, i, i*7, canary, i)
		fmt.Fprintf(&hits, "/home/dev/project/src/server/handler.go:%d:\tcall_%d(%s)\n", i*3+1, i, canary)
	}
	call := func(id, name, args, result string) componenttest.Step {
		return componenttest.Step{Say: "next", Calls: []componenttest.ToolCall{{ID: id, Name: name, Args: args, Result: result}}}
	}
	s := componenttest.Script{
		System: strings.Repeat("You are careful and thorough in everything you do here. ", 200) + "\ngitStatus: clean " + canary + "\n",
		User:   "Fix it. " + canary,
		Steps: []componenttest.Step{
			call("a", "Read", `{"file_path":"src/a.go"}`, numbered.String()),
			call("b", "Grep", `{"pattern":"call"}`, hits.String()),
			call("c", "Bash", `{"command":"go test ./..."}`, strings.Repeat("\x1b[32mok\x1b[0m   pkg "+canary+"\n", 40)),
			call("d", "Read", `{"file_path":"src/a.go"}`, numbered.String()),
			call("s", "Bash", `{"command":"git remote -v"}`, "origin https://joe:q8w7e6r5@example.org/"+canary+".git (fetch)\n"),
			call("j", "list_items", `{}`, `[{"id": 1, "name": "`+canary+`", "tags": ["a", "b"]}, {"id": 2, "name": "second", "tags": ["c", "d"]}]`),
			call("p", "Bash", `{"command":"git push"}`, strings.Repeat("remote: Counting objects: 100% (25/25), done.\n", 20)+"To example.org/"+canary+"\n"),
			call("l", "Bash", `{"command":"npm run start"}`, "ready\n"+strings.Repeat("waiting for the lock of "+canary+" in the pool\n", 30)+"done\n"),
			call("x", "Bash", `{"command":"npm run build"}`, strings.Repeat("transforming the modules\nrendering the chunks "+canary+"\n", 40)+"built\n"),
			call("s", "list_jobs", `{}`, `{"jobs": [`+strings.Repeat(`{"id": 1, "state": "`+canary+`", "errors": 0}, `, 40)+`{"id": 2}]}`),
			call("t", "list_users", `{}`, "["+strings.Repeat(`{"identifier": 1, "name": "`+canary+`"}, `, 5)+`{"identifier": 2, "name": "second"}]`),
			call("o", "Bash", `{"command":"npm run seed"}`, logOf(900, canary)),
		},
	}
	for i := range 8 {
		s.Steps = append(s.Steps, call(fmt.Sprint("e", i), "Bash", `{"command":"true"}`, "done "+fmt.Sprint(i)))
	}
	return s
}

// logOf is a log of n lines that all differ.
func logOf(n int, canary string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d.%03d inserted row %d of table %s\n", i/10, i*7%1000, i*13, canary)
	}
	return b.String()
}

// Every cell of the table, run: what the row says is what happens.
func TestCells(t *testing.T) {
	for _, e := range components.Catalogue() {
		for level := store.Off; level <= store.Everything; level++ {
			t.Run(e.Name+"/"+level.String(), func(t *testing.T) {
				c, err := components.New(e.Name, nil)
				if err != nil {
					t.Fatal(err)
				}
				facts, texts := memory.NewFacts(memory.FactsOptions{}), memory.NewTexts(memory.TextsOptions{})
				p := componenttest.Player{Dialect: transcript.Anthropic, New: func() *pipeline.Engine {
					eng := pipeline.New(pipeline.Options{
						Secret: []byte("s"), Verifier: verify.New(),
						Store: store.Store{Level: store.Everything, Facts: facts, Texts: texts},
					})
					eng.Apply([]pipeline.Profile{{Name: "default", Components: []pipeline.Component{c}, Level: level}}, "default")
					return eng
				}}
				s := witness("")
				style := componenttest.Style{Marks: 1}
				p.Play(t, []componenttest.Request{
					{Body: s.Body(transcript.Anthropic, len(s.Steps)-2, style)},
					{Body: s.Body(transcript.Anthropic, len(s.Steps)-2, style), After: 10 * time.Minute, NewEpoch: true},
					{Body: s.Body(transcript.Anthropic, len(s.Steps)-1, style), After: time.Second},
				})
				d := c.Describe()
				last := p.Reports[2].Components[0]
				switch d.AtLevel[level] {
				case pipeline.Works, pipeline.WorksNoUndo, pipeline.WorksReduced:
					if last.Edits == 0 {
						t.Errorf("it did nothing on the second turn: %v", last.Gates)
					}
				case pipeline.Skips:
					if last.Edits != 0 || last.Gates[pipeline.GateLevel] == 0 {
						t.Errorf("it does not skip: %+v", last)
					}
				default:
					t.Errorf("no test knows %q", d.AtLevel[level])
				}
				if n := facts.Stats().Live; (n > 0) != (d.Keeps == pipeline.KeepsFacts && level >= store.Metadata && d.AtLevel[level] != pipeline.Skips) {
					t.Errorf("%d facts are kept, and the row says %s", n, d.Keeps)
				}
				if n := texts.Stats().Live; n > 0 && d.Keeps != pipeline.KeepsTexts {
					t.Errorf("%d texts are kept, and the row says %s", n, d.Keeps)
				}
			})
		}
	}
}

// Nothing that an operator can look at has a piece of a request's text: the
// logs at the lowest level, every admin route, the metadata for Envoy's access
// log, and the files of the process.
func TestCanariesInObservables(t *testing.T) {
	const canary = "qzjxvkwpfyh"
	for _, level := range []string{"off", "metadata", "everything"} {
		t.Run(level, func(t *testing.T) {
			dir := t.TempDir()
			var log bytes.Buffer
			s, err := service.Start(t.Context(), service.Options{
				Config: config.Options{Environ: []string{
					"TRIMTAB_PRESET=balanced", "TRIMTAB_LEVEL=" + level,
					"TRIMTAB_GRPC=unix:" + filepath.Join(dir, "s"), "TRIMTAB_ADMIN=127.0.0.1:0",
				}},
				Version: "test", Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			if err != nil {
				t.Fatal(err)
			}
			var seen bytes.Buffer
			w := witness(canary)
			for n := range len(w.Steps) + 1 {
				seen.WriteString(exchange(t, s.Address(), w.Body(transcript.Anthropic, n, componenttest.Style{Marks: 1})))
			}
			for _, path := range []string{"/metrics", "/stats", "/healthz", "/readyz"} {
				seen.WriteString(get(t, "http://"+s.Admin()+path))
			}
			inForce := get(t, "http://"+s.Admin()+"/config")
			seen.WriteString(inForce)
			if err := s.Kill(); err != nil {
				t.Error(err)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			for _, f := range files {
				if b, err := os.ReadFile(f); err == nil {
					seen.Write(b)
				}
			}
			if !strings.Contains(strings.Join(strings.Fields(inForce), " "), `"path": "profiles.default.storage.level", "value": "`+level) {
				t.Fatalf("the level is not in force: %s", inForce)
			}
			if !strings.Contains(seen.String(), "trimtab_") || !strings.Contains(seen.String(), "saved") {
				t.Fatal("nothing was observed")
			}
			for name, text := range map[string]string{"the logs": log.String(), "an observable": seen.String()} {
				if componenttest.HasPiece(text, canary) {
					t.Errorf("%s have content", name)
				}
			}
		})
	}
}

// exchange plays one request as Envoy does and returns the metadata for the
// access log.
func exchange(t *testing.T, address string, body []byte) string {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := extprocv3.NewExternalProcessorClient(conn).Process(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	header := func(kv ...string) *extprocv3.HttpHeaders {
		h := &extprocv3.HttpHeaders{Headers: &corev3.HeaderMap{}}
		for i := 0; i < len(kv); i += 2 {
			h.Headers.Headers = append(h.Headers.Headers, &corev3.HeaderValue{Key: kv[i], RawValue: []byte(kv[i+1])})
		}
		return h
	}
	var out strings.Builder
	call := func(r *extprocv3.ProcessingRequest) {
		if err := stream.Send(r); err != nil {
			t.Fatal(err)
		}
		resp, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, resp.GetDynamicMetadata())
	}
	call(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{RequestHeaders: header(
		":method", "POST", ":path", "/v1/messages", "content-type", "application/json", "content-length", fmt.Sprint(len(body)))}})
	call(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{RequestBody: &extprocv3.HttpBody{Body: body, EndOfStream: true}}})
	call(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: header(
		":status", "200", "content-type", "application/json")}})
	answer := `{"type":"message","content":[{"type":"text","text":"qzjxvkwpfyh"}],"usage":{"input_tokens":5,"output_tokens":2}}`
	call(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseBody{ResponseBody: &extprocv3.HttpBody{Body: []byte(answer), EndOfStream: true}}})
	_ = stream.CloseSend()
	for {
		if _, err := stream.Recv(); err != nil {
			return out.String()
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
