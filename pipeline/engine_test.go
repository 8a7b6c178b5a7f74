package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// fake is what all made-up components share.
type fake struct{ name string }

func (f fake) Describe() pipeline.Description {
	var m proto.Message = &trimtabv1.Textclean{}
	return pipeline.Description{Name: f.name, Config: m, Linear: true, EachPart: true}
}

// upper is a pure component that keeps the first line and says so.
type upper struct {
	fake
	do func(b pipeline.Block) (pipeline.Edit, pipeline.Gate)
}

func (u upper) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	return u.do(b)
}

// firstLine keeps the first line of longer texts.
func firstLine(b pipeline.Block) (pipeline.Edit, pipeline.Gate) {
	i := strings.IndexByte(b.Text, '\n')
	if i < 0 {
		return pipeline.Edit{}, "one_line"
	}
	return pipeline.Edit{Pieces: []pipeline.Piece{{Kind: pipeline.Keep, To: i}}}, ""
}

// writer is a generated component: a model's words for results of two lines.
type writer struct{ fake }

func (writer) Propose(v pipeline.View) (jobs []pipeline.Job) {
	for i, b := range v.Blocks {
		if b.Message >= v.FirstNew && strings.Count(b.Text, "\n") > 1 {
			jobs = append(jobs, pipeline.Job{Block: i, Prompt: b.Text})
		}
	}
	return jobs
}

func (writer) Accept(_ pipeline.Job, reply string) (string, pipeline.Gate) {
	if reply == "no" {
		return "", "rejected"
	}
	return reply, ""
}

func (writer) Render(_ pipeline.Block, text string) (pipeline.Edit, pipeline.Gate) {
	return pipeline.Edit{Pieces: []pipeline.Piece{{Kind: pipeline.Literal, Text: text}}}, ""
}

// cutter is a decided component: on cold turns it cuts everything but the last
// message down to as many characters as the record says.
type cutter struct {
	fake
	warm bool
}

func (c cutter) Decide(v pipeline.View) ([]pipeline.Decision, map[pipeline.Gate]int) {
	if !v.Cold && !c.warm {
		return nil, map[pipeline.Gate]int{pipeline.GateNotCold: len(v.Blocks)}
	}
	var out []pipeline.Decision
	for i, b := range v.Blocks {
		if !b.Decided && b.Message < v.LastAssistant {
			out = append(out, pipeline.Decision{Block: i, Params: [4]int64{5}})
		}
	}
	return out, nil
}

func (cutter) Render(b pipeline.Block, d pipeline.Decision) (pipeline.Edit, pipeline.Gate) {
	return pipeline.Edit{Pieces: []pipeline.Piece{{Kind: pipeline.Keep, To: min(int(d.Params[0]), len(b.Text))}}}, ""
}

var (
	_ pipeline.Pure      = upper{}
	_ pipeline.Generated = writer{}
	_ pipeline.Decided   = cutter{}
)

const long = "first line of some output\nsecond line of the output\nthird line of the output"

// script is n reads, each with another result.
func script(n int) componenttest.Script {
	s := componenttest.Script{System: "s", User: "go"}
	for i := range n {
		s.Steps = append(s.Steps, componenttest.Step{Say: fmt.Sprint("step ", i), Calls: []componenttest.ToolCall{
			{ID: fmt.Sprint("c", i), Name: "Read", Args: `{"file_path":"f"}`, Result: fmt.Sprint(i, " ", long)},
		}})
	}
	return s
}

func body(n int) []byte {
	return script(n).Body(transcript.Anthropic, n, componenttest.Style{Marks: 1})
}

type setup struct {
	opt     pipeline.Options
	profile pipeline.Profile
}

func engine(cs []pipeline.Component, with ...func(*setup)) *pipeline.Engine {
	s := setup{
		opt: pipeline.Options{Secret: []byte("s"), Store: store.Store{
			Level: store.Everything,
			Facts: memory.NewFacts(memory.FactsOptions{}), Texts: memory.NewTexts(memory.TextsOptions{}),
		}},
		profile: pipeline.Profile{Name: "default", Components: cs, Level: store.Everything},
	}
	for _, w := range with {
		w(&s)
	}
	e := pipeline.New(s.opt)
	e.Apply([]pipeline.Profile{s.profile}, "default")
	return e
}

var start = time.Unix(1_700_000_000, 0)

// send plays one request that is answered with 200.
func send(e *pipeline.Engine, at time.Duration, body []byte, with ...func(*pipeline.Request)) *pipeline.Exchange {
	r := pipeline.Request{Path: "/v1/messages", Body: body, Now: start.Add(at)}
	for _, w := range with {
		w(&r)
	}
	x := e.Rewrite(context.Background(), r)
	x.Responded(200, r.Now)
	x.Close()
	return x
}

func TestUntouchedBodiesAreTheSameSlice(t *testing.T) {
	e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}})
	for name, c := range map[string]struct {
		path, body string
		want       pipeline.Reason
	}{
		"not ours":      {"/v1/models", `{"messages":[]}`, pipeline.NotLLM},
		"bad JSON":      {"/v1/messages", `{"messages":[{"role":"us`, pipeline.BadJSON},
		"another shape": {"/v1/messages", `{"prompt":"x"}`, pipeline.UnknownShape},
		"no tools yet":  {"/v1/messages", `{"messages":[{"role":"user","content":"x"}]}`, pipeline.NoToolOutput},
		"empty":         {"/v1/messages", ``, pipeline.BadJSON},
		"deep nesting":  {"/v1/messages", strings.Repeat("[", 20000), pipeline.BadJSON},
	} {
		t.Run(name, func(t *testing.T) {
			in := []byte(c.body)
			x := e.Rewrite(context.Background(), pipeline.Request{Path: c.path, Body: in, Now: start})
			defer x.Close()
			if got := x.Report().Reason; got != c.want {
				t.Errorf("reason %q, want %q", got, c.want)
			}
			if x.Changed() || !bytes.Equal(x.Body(), in) {
				t.Error("the body changed")
			}
		})
	}
}

func TestAPanicRevertsThatComponentAlone(t *testing.T) {
	e := engine([]pipeline.Component{
		upper{fake{"broken"}, func(pipeline.Block) (pipeline.Edit, pipeline.Gate) { panic("secret text") }},
		upper{fake{"outside"}, func(b pipeline.Block) (pipeline.Edit, pipeline.Gate) {
			return pipeline.Edit{Pieces: []pipeline.Piece{{Kind: pipeline.Keep, To: len(b.Text) + 1}}}, ""
		}},
		upper{fake{"growing"}, func(b pipeline.Block) (pipeline.Edit, pipeline.Gate) {
			return pipeline.Edit{Pieces: []pipeline.Piece{{Kind: pipeline.Keep, To: len(b.Text)}, {Kind: pipeline.Literal, Text: " and more"}}}, ""
		}},
		upper{fake{"emptying"}, func(pipeline.Block) (pipeline.Edit, pipeline.Gate) {
			return pipeline.Edit{Pieces: []pipeline.Piece{{Kind: pipeline.Literal, Text: " \n"}}}, ""
		}},
		upper{fake{"good"}, firstLine},
	})
	r := send(e, 0, body(1)).Report()
	want := map[string]pipeline.Gate{"broken": pipeline.GatePanic, "outside": pipeline.GateContract, "growing": pipeline.GateNoGain, "emptying": pipeline.GateEmpty}
	for _, c := range r.Components {
		if g := want[c.Name]; g != "" && c.Gates[g] != 1 {
			t.Errorf("%s: gates %v, want %s", c.Name, c.Gates, g)
		}
		if c.Name == "good" && c.Edits != 1 {
			t.Errorf("good: %+v", c)
		}
	}
}

func TestAKnownBlockIsNotLookedAtAgain(t *testing.T) {
	looked := 0
	e := engine([]pipeline.Component{upper{fake{"upper"}, func(b pipeline.Block) (pipeline.Edit, pipeline.Gate) {
		looked++
		return firstLine(b)
	}}})
	for n := 1; n <= 5; n++ {
		r := send(e, time.Duration(n)*time.Second, body(n)).Report()
		if c := r.Components[0]; c.Edits != n || c.Replayed != n-1 {
			t.Errorf("turn %d: %d edits, %d replayed", n, c.Edits, c.Replayed)
		}
	}
	if looked != 5 {
		t.Errorf("the component was shown %d blocks, want 5", looked)
	}
}

func TestDecisionsAreTakenWhenColdAndReplayed(t *testing.T) {
	facts := memory.NewFacts(memory.FactsOptions{})
	with := func(s *setup) { s.opt.Store.Facts = facts }
	e := engine([]pipeline.Component{cutter{fake: fake{"cutter"}}}, with)
	send(e, 0, body(0))
	if r := send(e, 0, body(3)).Report(); r.Components[0].Edits != 0 || r.Components[0].Gates[pipeline.GateNotCold] == 0 {
		t.Errorf("warm: %+v", r.Components[0])
	}
	x := send(e, 10*time.Minute, body(4))
	if r := x.Report(); !r.Cold || r.Components[0].Edits != 3 || len(r.Violations) != 0 {
		t.Errorf("cold: %+v", r)
	}
	warm := send(e, 11*time.Minute, body(5)).Report()
	if c := warm.Components[0]; c.Edits != 3 || c.Replayed != 3 || len(warm.Violations) != 0 {
		t.Errorf("replayed: %+v, violations %v", c, warm.Violations)
	}
	again := engine([]pipeline.Component{cutter{fake: fake{"cutter"}}}, with) // a restart with the same store
	if got := send(again, 12*time.Minute, body(4)); !bytes.Equal(got.Body(), x.Body()) {
		t.Error("another process writes other bytes from the same facts")
	}
	if s := facts.Stats(); s.Live != 3 {
		t.Errorf("%d facts, want 3", s.Live)
	}
}

func TestARefusedDecisionIsNotTaken(t *testing.T) {
	e := engine([]pipeline.Component{cutter{fake: fake{"cutter"}}}, func(s *setup) {
		s.opt.Store.Facts = memory.NewFacts(memory.FactsOptions{MaxEntries: 1})
	})
	send(e, 0, body(3))
	r := send(e, 10*time.Minute, body(4)).Report()
	if c := r.Components[0]; c.Edits != 1 || c.Gates[pipeline.GateRefused] != 2 {
		t.Errorf("%+v", c)
	}
}

func TestDecidingComponentsSkipWithoutFacts(t *testing.T) {
	e := engine([]pipeline.Component{cutter{fake: fake{"cutter"}}}, func(s *setup) { s.profile.Level = store.Off })
	send(e, 0, body(3))
	r := send(e, 10*time.Minute, body(4)).Report()
	if c := r.Components[0]; c.Edits != 0 || c.Gates[pipeline.GateLevel] == 0 {
		t.Errorf("%+v", c)
	}
}

// On a warm turn a deciding component sees only what the provider does not hold.
func TestAWarmViewHoldsOnlyNewBlocks(t *testing.T) {
	seen := []int{}
	e := engine([]pipeline.Component{watcher{cutter{fake: fake{"cutter"}}, func(v pipeline.View) {
		seen = append(seen, len(v.Blocks))
	}}})
	send(e, 0, script(1).Body(transcript.Anthropic, 0, componenttest.Style{}))
	send(e, 0, body(2))
	send(e, time.Second, body(3))
	send(e, 10*time.Minute, body(4))
	if want := []int{0, 2, 1, 4}; !slices.Equal(seen, want) {
		t.Errorf("blocks seen %v, want %v", seen, want)
	}
}

type watcher struct {
	cutter
	see func(pipeline.View)
}

func (w watcher) Decide(v pipeline.View) ([]pipeline.Decision, map[pipeline.Gate]int) {
	w.see(v)
	return w.cutter.Decide(v)
}

// At the first contact with a conversation under way nobody knows what the
// provider holds, so nothing is decided.
func TestNothingIsDecidedAtFirstContact(t *testing.T) {
	e := engine([]pipeline.Component{cutter{fake: fake{"cutter"}, warm: true}})
	if r := send(e, 0, body(3)).Report(); r.Components[0].Edits != 0 {
		t.Errorf("%+v", r.Components[0])
	}
}

func TestGeneratedTextsAreKeptAndReplayedWithoutAModel(t *testing.T) {
	texts := memory.NewTexts(memory.TextsOptions{})
	calls := 0
	model := func(context.Context, string) (string, error) { calls++; return "short", nil }
	e := engine([]pipeline.Component{writer{fake{"writer"}}}, func(s *setup) { s.opt.Store.Texts, s.opt.Model = texts, model })
	send(e, 0, body(0))
	x := send(e, 0, body(2))
	if c := x.Report().Components[0]; c.Edits != 2 || calls != 2 {
		t.Fatalf("%+v, %d calls", c, calls)
	}
	if !bytes.Contains(x.Body(), []byte(`"content":"short"`)) {
		t.Error("the model's words are not in the body")
	}
	for name, m := range map[string]func(context.Context, string) (string, error){
		"no model":      nil,
		"model refuses": func(context.Context, string) (string, error) { return "", errors.New("429") },
		"hostile model": func(context.Context, string) (string, error) { return "no", nil },
	} {
		again := engine([]pipeline.Component{writer{fake{"writer"}}}, func(s *setup) { s.opt.Store.Texts, s.opt.Model = texts, m })
		if got := send(again, time.Minute, body(2)); !bytes.Equal(got.Body(), x.Body()) {
			t.Errorf("%s: the kept texts are not replayed", name)
		}
	}
	off := engine([]pipeline.Component{writer{fake{"writer"}}}, func(s *setup) {
		s.opt.Store.Texts, s.opt.Model, s.profile.Level = texts, model, store.Metadata
	})
	before := calls
	if r := send(off, 0, body(2)).Report(); r.Components[0].Gates[pipeline.GateLevel] == 0 || calls != before {
		t.Errorf("at metadata: %+v, %d calls", r.Components[0], calls-before)
	}
}

// No secret reaches a model, the Store or the wire by way of a generated text, at
// whatever level, whether or not secretmask is configured.
func TestSecretsAreNotKept(t *testing.T) {
	t.Run("T_never_on_disk", func(t *testing.T) {
		secret := "ghp_" + "aB3dE5gH7jK9mN1pQ3sT" + "5vX7zA9cE1gI3kM5"
		texts := memory.NewTexts(memory.TextsOptions{})
		asked := ""
		model := func(_ context.Context, prompt string) (string, error) {
			asked += prompt
			return "use " + secret, nil
		}
		e := engine([]pipeline.Component{writer{fake{"writer"}}}, func(s *setup) { s.opt.Store.Texts, s.opt.Model = texts, model })
		send(e, 0, body(0))
		x := send(e, 0, body(2))
		if !bytes.Contains(x.Body(), []byte("use [REDACTED:github]")) || bytes.Contains(x.Body(), []byte(secret)) {
			t.Errorf("forwarded: %s", x.Body())
		}
		again := engine([]pipeline.Component{writer{fake{"writer"}}}, func(s *setup) { s.opt.Store.Texts = texts })
		if got := send(again, time.Minute, body(2)); !bytes.Equal(got.Body(), x.Body()) {
			t.Error("what was kept is not what was forwarded")
		}
		if strings.Contains(asked, secret) || asked == "" {
			t.Errorf("asked %q", asked)
		}
	})
}

func TestReloadReachesNewConversationsOnly(t *testing.T) {
	e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}})
	first := send(e, 0, body(2))
	e.Apply([]pipeline.Profile{{Name: "default", Level: store.Metadata}}, "default")
	second := send(e, time.Second, body(3)).Report()
	if second.Generation != first.Report().Generation || len(second.Violations) != 0 || second.Components[0].Edits != 3 {
		t.Errorf("a warm conversation: %+v", second)
	}
	other := script(3)
	other.User = "another conversation"
	if r := send(e, 2*time.Second, other.Body(transcript.Anthropic, 3, componenttest.Style{})).Report(); r.Reason != pipeline.ModeOff {
		t.Errorf("a new conversation: %+v", r)
	}
	if r := send(e, 20*time.Minute, body(4)).Report(); r.Reason != pipeline.ModeOff {
		t.Errorf("a cold conversation: %+v", r)
	}
}

func TestTooManyGenerationsPinToNoRewriting(t *testing.T) {
	e := engine(nil, func(s *setup) { s.opt.MaxGenerations = 2 })
	for i := range 4 {
		e.Apply([]pipeline.Profile{{Name: "default", Components: []pipeline.Component{upper{fake{fmt.Sprint("u", i)}, firstLine}}}}, "default")
		s := script(1)
		s.User = fmt.Sprint("conversation ", i)
		r := send(e, 0, s.Body(transcript.Anthropic, 1, componenttest.Style{})).Report()
		if want := i >= 2; (r.Reason == pipeline.NoGeneration) != want {
			t.Errorf("generation %d: reason %q", i, r.Reason)
		}
	}
}

func TestHoldoutIsAShareOfConversations(t *testing.T) {
	held := 0
	const n = 400
	e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}}, func(s *setup) {
		s.profile.HoldoutShare, s.profile.HoldoutSeed = 0.25, "x"
	})
	for i := range n {
		s := script(1)
		s.User = fmt.Sprint("conversation ", i)
		r := send(e, 0, s.Body(transcript.Anthropic, 1, componenttest.Style{})).Report()
		if r.Arm == "holdout" {
			held++
			if r.Reason != pipeline.HeldOut || r.BytesAfter != r.BytesBefore {
				t.Fatalf("%+v", r)
			}
		}
	}
	if held < n/8 || held > n/2 {
		t.Errorf("%d of %d held out", held, n)
	}
}

func TestObserveSaysWhatItWouldSaveAndSendsTheOriginal(t *testing.T) {
	e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}}, func(s *setup) { s.profile.Mode = pipeline.Observe })
	in := body(2)
	x := send(e, 0, in)
	r := x.Report()
	if x.Changed() || !bytes.Equal(x.Body(), in) || r.Reason != pipeline.ObserveOnly || r.Arm != "observe" {
		t.Errorf("%+v", r)
	}
	if r.TokensAfter >= r.TokensBefore || r.Components[0].SavedTokens == 0 {
		t.Errorf("nothing is reported: %+v", r)
	}
}

func TestCountTokensRecordsNothing(t *testing.T) {
	e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}})
	count := func(r *pipeline.Request) { r.Path = "/v1/messages/count_tokens" }
	x := send(e, 0, body(2), count)
	if !x.Changed() || e.Stats().Conversations != 0 {
		t.Errorf("changed %v, %d conversations", x.Changed(), e.Stats().Conversations)
	}
	if y := send(e, time.Second, body(2)); !bytes.Equal(x.Body(), y.Body()) {
		t.Error("the message that was counted is not the one that is sent")
	}
}

func TestABypassIsACountedWriteAndNoViolation(t *testing.T) {
	e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}})
	send(e, 0, body(1))
	raw := send(e, time.Second, body(2), func(r *pipeline.Request) { r.Bypass = true })
	if raw.Changed() || raw.Report().Reason != pipeline.Bypassed {
		t.Errorf("%+v", raw.Report())
	}
	next := send(e, 2*time.Second, body(3)).Report()
	if len(next.Violations) != 0 || next.Rewrites["passthrough"] != 1 || next.Components[0].Edits != 3 {
		t.Errorf("%+v", next)
	}
	if after := send(e, 3*time.Second, body(4)).Report(); after.Rewrites["passthrough"] != 0 {
		t.Errorf("counted twice: %+v", after)
	}
}

func TestAPassedDeadlineSendsTheOriginal(t *testing.T) {
	slow := upper{fake{"slow"}, func(b pipeline.Block) (pipeline.Edit, pipeline.Gate) {
		time.Sleep(20 * time.Millisecond)
		return firstLine(b)
	}}
	e := engine([]pipeline.Component{slow}, func(s *setup) { s.profile.Limits.Deadline = time.Millisecond })
	in := body(3)
	x := send(e, 0, in)
	if x.Report().Reason != pipeline.DeadlinePassed || !bytes.Equal(x.Body(), in) {
		t.Errorf("%+v", x.Report())
	}
}

func TestExcludedToolsAreLeftAlone(t *testing.T) {
	e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}}, func(s *setup) { s.profile.Exclude = []string{"Re*"} })
	if r := send(e, 0, body(2)).Report(); r.Components[0].Edits != 0 || r.Components[0].Gates[pipeline.GateExcluded] != 2 {
		t.Errorf("%+v", r.Components[0])
	}
}

func TestLargeTextsAreForLinearComponentsOnly(t *testing.T) {
	e := engine([]pipeline.Component{costly{upper{fake{"costly"}, firstLine}}, upper{fake{"linear"}, firstLine}}, func(s *setup) {
		s.profile.Limits.LinearBlock = 50
	})
	r := send(e, 0, body(1)).Report()
	if r.Components[0].Gates[pipeline.GateBudget] != 1 || r.Components[1].Edits != 1 {
		t.Errorf("%+v", r.Components)
	}
}

// costly is a component that is not of linear cost.
type costly struct{ upper }

func (c costly) Describe() pipeline.Description {
	d := c.upper.Describe()
	d.Linear = false
	return d
}

// The engine serves many conversations at once, each as if it were alone.
func TestConcurrentConversations(t *testing.T) {
	e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}, cutter{fake: fake{"cutter"}}})
	done := make(chan [][]byte)
	for i := range 8 {
		go func() {
			var out [][]byte
			for n := 1; n <= 6; n++ {
				s := script(6)
				s.User = fmt.Sprint("conversation ", i%2) // pairs share a conversation
				out = append(out, send(e, time.Duration(n)*time.Second, s.Body(transcript.Anthropic, n, componenttest.Style{})).Body())
			}
			done <- out
		}()
	}
	first := map[string][][]byte{}
	for range 8 {
		out := <-done
		key := string(out[0])
		if before, ok := first[key]; ok {
			for i := range out {
				if !bytes.Equal(before[i], out[i]) {
					t.Errorf("turn %d differs between two clients with the same transcript", i)
				}
			}
		}
		first[key] = out
	}
}

// What an agent does is counted once, in every arm, and never for what a
// transcript already held.
func TestOutcomesCountWhatIsNew(t *testing.T) {
	call := func(id, name, args string, failed bool) componenttest.Step {
		return componenttest.Step{Say: "x", Calls: []componenttest.ToolCall{{ID: id, Name: name, Args: args, Result: long, IsError: failed}}}
	}
	s := componenttest.Script{User: "go", Steps: []componenttest.Step{
		call("a", "Read", `{"file_path":"f"}`, false),
		call("b", "Read", `{"file_path":"f","offset":5}`, false),
		call("c", "Edit", `{"file_path":"f","old_string":"a","new_string":"b"}`, true),
		call("d", "Read", `{"file_path":"f"}`, false),
		call("e", "Bash", `{"command":"make"}`, true),
		call("f", "Bash", `{"command":"make"}`, false),
		call("g", "Bash", `{"command":"make clean"}`, false),
	}}
	arms := map[string]func(*setup){
		"treated": func(*setup) {},
		"holdout": func(s *setup) { s.profile.HoldoutShare = 1 },
		"observe": func(s *setup) { s.profile.Mode = pipeline.Observe },
	}
	for arm, with := range arms {
		e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}}, with)
		var sum pipeline.Outcomes
		for n := range len(s.Steps) + 1 {
			for range 2 { // every request is sent twice
				r := send(e, time.Duration(n)*time.Second, s.Body(transcript.Anthropic, n, componenttest.Style{})).Report()
				if r.Arm != arm {
					t.Fatalf("arm %q, want %q", r.Arm, arm)
				}
				o := r.Outcomes
				sum = pipeline.Outcomes{
					Turns: sum.Turns + o.Turns, Conversations: sum.Conversations + o.Conversations, FailedEdits: sum.FailedEdits + o.FailedEdits,
					RepeatedReads: sum.RepeatedReads + o.RepeatedReads, RepeatedCommands: sum.RepeatedCommands + o.RepeatedCommands, Calls: sum.Calls + o.Calls,
				}
			}
		}
		if want := (pipeline.Outcomes{Turns: 8, Conversations: 1, FailedEdits: 1, RepeatedReads: 1, RepeatedCommands: 1, Calls: 7}); sum != want {
			t.Errorf("%s: %+v, want %+v", arm, sum, want)
		}
		other := s
		other.User = "adopted"
		if o := send(e, time.Minute, other.Body(transcript.Anthropic, 7, componenttest.Style{})).Report().Outcomes; o != (pipeline.Outcomes{}) {
			t.Errorf("%s: what was there before is counted: %+v", arm, o)
		}
	}
}

// A rewrite that came too late was not sent, and the next turn knows it.
func TestSentRawCountsAsARawTurn(t *testing.T) {
	e := engine([]pipeline.Component{upper{fake{"upper"}, firstLine}})
	send(e, 0, body(1))
	x := e.Rewrite(context.Background(), pipeline.Request{Path: "/v1/messages", Body: body(2), Now: start.Add(time.Second)})
	x.SentRaw()
	x.Responded(200, start.Add(time.Second))
	next := send(e, 2*time.Second, body(3)).Report()
	if len(next.Violations) != 0 || next.Rewrites["passthrough"] != 1 {
		t.Errorf("violations %v, rewrites %v", next.Violations, next.Rewrites)
	}
}

// The arm of a conversation is the same in every process, and after a restart with
// another secret; its seed and nothing else changes it.
func TestArmsAreEqualInEveryProcess(t *testing.T) {
	arms := func(secret, seed string) (out []string) {
		e := pipeline.New(pipeline.Options{Secret: []byte(secret)})
		e.Apply([]pipeline.Profile{{Name: "default", Components: []pipeline.Component{upper{fake{"upper"}, firstLine}}, HoldoutShare: 0.5, HoldoutSeed: seed}}, "default")
		for i := range 64 {
			b := fmt.Appendf(nil, `{"messages":[{"role":"user","content":"go %d"}]}`, i)
			out = append(out, send(e, 0, b).Report().Arm)
		}
		return out
	}
	one := arms("a secret of sixteen bytes", "seed")
	held := 0
	for _, arm := range one {
		if arm == "holdout" {
			held++
		}
	}
	if held < 16 || held > 48 {
		t.Errorf("%d of 64 conversations are held out at a share of a half", held)
	}
	if !slices.Equal(one, arms("another secret, longer", "seed")) {
		t.Error("another process chooses other arms")
	}
	if slices.Equal(one, arms("a secret of sixteen bytes", "other")) {
		t.Error("the seed chooses nothing")
	}
}

// Clients repeat call ids. What was cut when it was old is not cut when the
// same call with the same output comes again: the model asks for it now.
func TestARepeatedCallIsNotCutWithTheFirst(t *testing.T) {
	s := script(3)
	s.Steps = append(s.Steps, s.Steps[0]) // the same id, the same bytes
	s.Steps = append(s.Steps, componenttest.Step{Say: "end", User: "more"})
	e := engine([]pipeline.Component{cutter{fake: fake{"cutter"}}})
	at := func(n int) []byte { return s.Body(transcript.Anthropic, n, componenttest.Style{}) }
	send(e, 0, at(2))
	cold := send(e, 10*time.Minute, at(3))
	if cold.Report().Components[0].Edits != 2 {
		t.Fatalf("%+v", cold.Report().Components[0])
	}
	x := send(e, 11*time.Minute, at(4))
	if c := x.Report().Components[0]; c.Edits != 2 || len(x.Report().Violations) != 0 {
		t.Errorf("the new result is cut as well: %+v", c)
	}
	if !bytes.Contains(x.Body(), []byte(`"content":"0 first line of some output\nsecond`)) {
		t.Error("the new result does not go out whole")
	}
}

// A model's name is the client's text: what is no plain short name is not
// reported, logged or labelled.
func TestModelNamesAreBounded(t *testing.T) {
	e := engine(nil)
	for name, want := range map[string]string{
		"claude-sonnet-4-5-20250929": "claude-sonnet-4-5-20250929", "anthropic/claude:beta@x": "anthropic/claude:beta@x", "": "",
		"two words": "other", "größe": "other", strings.Repeat("m", 101): "other",
	} {
		b, _ := json.Marshal(map[string]any{"model": name, "messages": []any{}})
		if got := send(e, 0, b).Report().Model; got != want {
			t.Errorf("%q is reported as %q, want %q", name, got, want)
		}
	}
}
