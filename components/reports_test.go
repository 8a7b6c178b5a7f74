package components

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

// The inputs that users of this field reported, each under its number. What
// every case asserts is asserted by the player: valid JSON, the same messages,
// ids and roles, the same bytes outside edited strings, and the law.

const (
	anthropicPath = "/v1/messages"

	responsesPath = "/v1/responses"
)

// steps is a log of n lines as a build prints it.
func steps(turn, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "step %d took %d ms in /home/dev/project/build/target/release/deps\n", i, (turn*31+i*17)%900)
	}
	return b.String()
}

func all() []string { return lineups()[len(lineups())-1].names }

func reportEngine(t componenttest.TB) *pipeline.Engine {
	return newEngine(build(t, all()), store.Metadata, newStore(), verifier())
}

// forward sends one body through a fresh engine.
func forward(t *testing.T, path string, body []byte) (*pipeline.Exchange, pipeline.Report) {
	t.Helper()
	x := reportEngine(t).Rewrite(context.Background(), pipeline.Request{Path: path, Body: body, Now: time.Unix(1_700_000_000, 0)})
	t.Cleanup(x.Close)
	if !x.Changed() {
		if !bytes.Equal(x.Body(), body) {
			t.Fatal("an unchanged body has other bytes")
		}
		return x, x.Report()
	}
	if d := transcript.Detect(path, false); d != transcript.None && json.Valid(body) {
		if _, err := componenttest.Edits(d, body, x.Body()); err != nil {
			t.Fatal(err)
		}
	}
	return x, x.Report()
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

// numbered is a file read with line numbers.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%6d\tvalue_%d := compute(%d) // line %d of the file\n", i+1, i, i*7, i)
	}
	return b.String()
}

func TestT01PrefixStabilityOverASession(t *testing.T) {
	s := componenttest.Script{System: "rules", User: "go"}
	for i := range 12 {
		s.Steps = append(s.Steps, componenttest.Step{Say: "next", Calls: []componenttest.ToolCall{
			{ID: fmt.Sprint("t", i), Name: "Bash", Args: `{"command":"make"}`, Result: steps(i/4, 150)},
		}})
	}
	p := componenttest.Player{Dialect: transcript.Anthropic, New: func() *pipeline.Engine { return reportEngine(t) }}
	var reqs []componenttest.Request
	for n := range len(s.Steps) + 1 {
		reqs = append(reqs, componenttest.Request{Body: s.Body(transcript.Anthropic, n, componenttest.Style{Marks: 1}), After: 20 * time.Second, Thread: "main", Restart: n == 6})
	}
	p.Play(t, reqs)
	if r := p.Reports[12]; r.TokensAfter >= r.TokensBefore {
		t.Errorf("nothing was saved: %d of %d", r.TokensAfter, r.TokensBefore)
	}
}

func TestT02BreakpointOnTheNewestBlock(t *testing.T) {
	body := `{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"go"},
{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"f"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + quote(numbered(600)) + `,"cache_control":{"type":"ephemeral"}}]}]}`
	x, r := forward(t, anthropicPath, []byte(body))
	if r.TokensAfter >= r.TokensBefore {
		t.Error("the newest block is not shortened")
	}
	if !bytes.HasSuffix(x.Body(), []byte(`,"cache_control":{"type":"ephemeral"}}]}]}`)) {
		t.Error("the breakpoint is gone")
	}
}

func TestT03BudgetAndDeadline(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < 4<<20 {
		fmt.Fprintf(&b, "%016x%016x%016x\n", rng.Uint64(), rng.Uint64(), rng.Uint64())
	}
	body := []byte(`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"x"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + quote(b.String()) + `}]}]}`)
	x, r := forward(t, anthropicPath, body)
	if x.Changed() {
		t.Error("a block over the budget was changed")
	}
	for _, c := range r.Components {
		if c.Name == "backref" && c.Gates[pipeline.GateBudget] != 1 {
			t.Errorf("backref: %v", c.Gates)
		}
	}
	// A deadline that fires costs one raw turn; the next one returns.
	s := componenttest.Script{User: "go", Steps: []componenttest.Step{{Say: "x", Calls: []componenttest.ToolCall{
		{ID: "a", Name: "Read", Args: `{"file_path":"f"}`, Result: numbered(100)},
	}}, {Say: "y", User: "more"}}}
	e := reportEngine(t)
	send := func(ctx context.Context, n int) *pipeline.Exchange {
		x := e.Rewrite(ctx, pipeline.Request{Path: anthropicPath, Body: s.Body(transcript.Anthropic, n, componenttest.Style{}), Now: time.Unix(1_700_000_000+int64(n), 0)})
		x.Responded(200, time.Unix(1_700_000_000+int64(n), 0))
		return x
	}
	late, cancel := context.WithCancel(context.Background())
	cancel()
	if got := send(late, 1); got.Report().Reason != pipeline.DeadlinePassed || got.Changed() || got.Report().Rewrites["deadline"] != 1 {
		t.Errorf("late: %+v", got.Report())
	}
	if got := send(context.Background(), 2); !got.Changed() || len(got.Report().Violations) != 0 || got.Report().Rewrites["passthrough"] != 1 {
		t.Errorf("the turn after: %+v", got.Report())
	}
}

// TestT05 runs this test binary again with other settings of the runtime and
// compares what it forwards.
func TestT05DeterminismAcrossProcesses(t *testing.T) {
	s := componenttest.Script{System: "rules", User: "go"}
	for i := range 8 {
		s.Steps = append(s.Steps, componenttest.Step{Say: "next", Calls: []componenttest.ToolCall{
			{ID: fmt.Sprint("t", i), Name: "Bash", Args: `{"command":"make"}`, Result: steps(i%3, 80)},
			{ID: fmt.Sprint("r", i), Name: "Read", Args: `{"file_path":"a.go"}`, Result: numbered(40 + i)},
		}})
	}
	body := s.Body(transcript.Anthropic, len(s.Steps), componenttest.Style{})
	if os.Getenv("TRIMTAB_TEST_CHILD") != "" {
		x, _ := forward(t, anthropicPath, body)
		fmt.Printf("forwarded %x\n", store.NewKeyer(nil).Key(x.Body()))
		return
	}
	want := ""
	for _, env := range [][]string{{"GOMAXPROCS=1", "TZ=UTC"}, {"GOMAXPROCS=8", "TZ=Asia/Kolkata"}, {"GODEBUG=randseednop=0", "LANG=C"}} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestT05DeterminismAcrossProcesses$", "-test.v")
		cmd.Env = append(append(os.Environ(), env...), "TRIMTAB_TEST_CHILD=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_, got, ok := strings.Cut(string(out), "forwarded ")
		if !ok {
			t.Fatalf("the child printed %s", out)
		}
		got, _, _ = strings.Cut(got, "\n")
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%v forwards other bytes", env)
		}
	}
}

func TestT08ByteFidelity(t *testing.T) {
	for name, body := range map[string]string{
		"odd but plain": "\t{ \"z\":1.0 , \"model\":\"m\",\"n\":[1e3,12345678901234567890,-0.0],\r\n \"messages\":[{\"content\":\"\\u00e9 é \\/ \\ud83d\",\"role\":\"user\"}] , \"a\":{\"b\":null} }  \n",
		"a key twice":   `{"metadata":{"a":1},"metadata":{"b":2},"messages":[{"role":"user","content":"x"}]}`,
		"invalid UTF-8": "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}",
	} {
		t.Run(name, func(t *testing.T) {
			if x, _ := forward(t, anthropicPath, []byte(body)); string(x.Body()) != body {
				t.Errorf("got %q", x.Body())
			}
		})
	}
	// The same oddities around a result that is shortened.
	odd := "{ \"z\":1.0 , \"messages\":[ {\"role\":\"user\",\"content\":\"\\u00e9 \\/\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"Read\",\"input\":{\"file_path\":\"f\",\"n\":1e3}}]},\r\n{\"role\":\"user\",\"content\":[ {\"tool_use_id\":\"a\" , \"content\":%s,\"type\":\"tool_result\"} ] } ],\"n\":12345678901234567890 } \n"
	body := fmt.Sprintf(odd, quote(numbered(100)))
	x, _ := forward(t, anthropicPath, []byte(body))
	head, tail, _ := strings.Cut(odd, "%s")
	if got := string(x.Body()); got == body || !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) {
		t.Error("bytes outside the edited string changed, or nothing was edited")
	}
}

func TestT09CacheKeyFieldsAreUntouched(t *testing.T) {
	fields := `"prompt_cache_key":"team-a","prompt_cache_retention":"24h","store":false,"safety_identifier":"u1"`
	body := `{"model":"m",` + fields + `,"input":[{"type":"function_call","call_id":"a","name":"read_file","arguments":"{\"path\":\"f\"}"},
{"type":"function_call_output","call_id":"a","output":` + quote(numbered(100)) + `}]}`
	x, _ := forward(t, responsesPath, []byte(body))
	if !x.Changed() || !bytes.Contains(x.Body(), []byte(fields)) {
		t.Errorf("changed %v", x.Changed())
	}
}

func TestT11ProtectedAssistantBlocks(t *testing.T) {
	assistant := `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"EqQB=="},{"type":"redacted_thinking","data":"zz"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},` +
		`{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","encrypted_content":"xx"}]},{"type":"text","text":"now"},{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"f"}}]}`
	body := `{"messages":[{"role":"user","content":"go"},` + assistant + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + quote(numbered(400)) + `}]}]}`
	x, r := forward(t, anthropicPath, []byte(body))
	if !x.Changed() || !bytes.Contains(x.Body(), []byte(assistant)) || r.Results != 1 {
		t.Errorf("changed %v, results %d", x.Changed(), r.Results)
	}
}

func TestT12ParallelAndBrokenPairs(t *testing.T) {
	use := func(id string) string {
		return `{"type":"tool_use","id":"` + id + `","name":"Read","input":{"file_path":"` + id + `"}}`
	}
	res := func(id, extra string) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `"` + extra + `,"content":` + quote(id+"\n"+numbered(60)) + `}`
	}
	body := `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[` + use("a") + `,` + use("b") + `,` + use("c") + `]},
{"role":"user","content":[` + res("c", "") + `,` + res("a", `,"is_error":true`) + `,` + res("b", "") + `,{"type":"text","text":"and now"}]}]}`
	x, _ := forward(t, anthropicPath, []byte(body))
	in, err1 := transcript.Parse(transcript.Anthropic, []byte(body))
	out, err2 := transcript.Parse(transcript.Anthropic, x.Body())
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for i := range in.Results {
		if in.Results[i].Call != out.Results[i].Call || in.Results[i].IsError != out.Results[i].IsError {
			t.Errorf("result %d: %+v became %+v", i, in.Results[i], out.Results[i])
		}
	}
	orphan := `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"gone","content":` + quote(numbered(100)) + `}]}]}`
	if x, r := forward(t, anthropicPath, []byte(orphan)); x.Changed() || r.Components[0].Gates[pipeline.GateNoCall] != 1 {
		t.Errorf("an orphan: changed %v, %v", x.Changed(), r.Components[0].Gates)
	}
}

func TestT13ResponsesItems(t *testing.T) {
	reasoning := `{"type":"reasoning","id":"rs","encrypted_content":"gAAA","summary":[]}`
	rest := `{"type":"function_call","call_id":"c2","name":"read_file","arguments":"{}"},{"type":"x_custom","output":` + quote(numbered(50)) + `},{"type":"compaction","encrypted_content":"zz"}`
	items := `[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},` + reasoning + `,{"type":"function_call","call_id":"c1","name":"read_file","arguments":"{\"path\":\"f\"}"},` +
		`{"type":"function_call_output","call_id":"c1","output":` + quote(numbered(300)) + `},` + rest + `]`
	x, _ := forward(t, responsesPath, []byte(`{"model":"m","input":`+items+`}`))
	if !x.Changed() || !bytes.Contains(x.Body(), []byte(reasoning)) || !bytes.Contains(x.Body(), []byte(rest)) {
		t.Error("something besides the output's text changed, or nothing did")
	}
	withPrevious, _ := forward(t, responsesPath, []byte(`{"model":"m","previous_response_id":"resp_1","input":`+items+`}`))
	if !bytes.Contains(withPrevious.Body(), []byte(reasoning)) {
		t.Error("reasoning changed")
	}
}

func TestT14SystemRoleInsideMessages(t *testing.T) {
	sys := `{"role":"system","content":"be brief from here on"}`
	body := `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"f"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + quote(numbered(100)) + `}]},` + sys + `,{"role":"user","content":"on"}]}`
	x, r := forward(t, anthropicPath, []byte(body))
	if !x.Changed() || r.Messages != 5 || !bytes.Contains(x.Body(), []byte(`]},`+sys+`,{"role":"user","content":"on"}]}`)) {
		t.Errorf("changed %v, %d messages", x.Changed(), r.Messages)
	}
}

func TestT17DeferredTools(t *testing.T) {
	var tools []string
	for i := range 40 {
		deferred := ""
		if i >= 10 {
			deferred = `,"defer_loading":true`
		}
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","description":"d","input_schema":{"type":"object","properties":{}}%s}`, i, deferred))
	}
	decl := `[` + strings.Join(tools, ",") + `,{"type":"tool_search_tool_regex_20251119","name":"tool_search"}]`
	body := `{"tools":` + decl + `,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"f"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + quote(numbered(900)) + `}]}]}`
	x, _ := forward(t, anthropicPath, []byte(body))
	if !x.Changed() || !bytes.Contains(x.Body(), []byte(decl)) {
		t.Error("declarations changed, or the result did not")
	}
}

func TestT20ExclusionsAndHonestMarks(t *testing.T) {
	names := []string{"Read", "mcp__fs__read_file", "serena.find_symbol", "Skill"}
	for _, d := range dialects {
		s := componenttest.Script{User: "go"}
		for i, n := range names {
			s.Steps = append(s.Steps, componenttest.Step{Say: "x", Calls: []componenttest.ToolCall{{ID: fmt.Sprint("c", i), Name: n, Args: `{"file_path":"f"}`, Result: numbered(300)}}})
		}
		body := s.Body(d, len(names), componenttest.Style{})
		e := pipeline.New(pipeline.Options{Secret: []byte("s"), Verifier: verifier()})
		e.Apply([]pipeline.Profile{{Name: "default", Components: build(t, all()), Exclude: names}}, "default")
		x := e.Rewrite(context.Background(), pipeline.Request{Path: componenttest.Path(d), Body: body, Now: time.Unix(1, 0)})
		if x.Changed() {
			t.Errorf("%s: an excluded tool's result changed", d)
		}
		x.Close()
		open, _ := forward(t, componenttest.Path(d), body)
		if !open.Changed() {
			t.Errorf("%s: nothing changes without the exclusion", d)
		}
		if bytes.Contains(open.Body(), []byte("expand")) || bytes.Contains(open.Body(), []byte("id=")) {
			t.Errorf("%s: a mark promises what is not there", d)
		}
		again, _ := forward(t, componenttest.Path(d), open.Body())
		if !bytes.Equal(again.Body(), open.Body()) {
			t.Errorf("%s: what was rewritten is rewritten again", d)
		}
	}
}

// The count is of what is sent: b of the extra inputs.
func TestCountTokensCountsWhatIsSent(t *testing.T) {
	s := componenttest.Script{User: "go", Steps: []componenttest.Step{{Say: "x", Calls: []componenttest.ToolCall{
		{ID: "a", Name: "Read", Args: `{"file_path":"f"}`, Result: numbered(100)},
	}}}}
	body := s.Body(transcript.Anthropic, 1, componenttest.Style{})
	sent, _ := forward(t, anthropicPath, body)
	counted, _ := forward(t, anthropicPath+"/count_tokens", body)
	if !sent.Changed() || !bytes.Equal(sent.Body(), counted.Body()) {
		t.Error("count_tokens counts something else")
	}
}
