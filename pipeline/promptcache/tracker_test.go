package promptcache_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/store"
)

var (
	seed   = transcript.Sum{1}
	hasher = transcript.NewHasher()
	conv   = store.NewKeyer(nil).Key([]byte("conversation"))
	start  = time.Unix(1_700_000_000, 0)
)

// chat is an Anthropic body with the messages given as text, user and assistant
// in turn.
func chat(model string, texts ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%q,"messages":[`, model)
	for i, x := range texts {
		role := []string{"user", "assistant"}[i%2]
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":%q,"content":%s}`, role, x)
	}
	return b.String() + "]}"
}

func text(s string) string { return fmt.Sprintf("%q", s) }

func result(id, s string) string {
	return fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%q}]`, id, s)
}

// step is one request: begin it, and answer it.
func step(t *testing.T, tr *promptcache.Tracker, at time.Duration, agent, body string) *promptcache.Turn {
	t.Helper()
	turn, out := begin(t, tr, at, agent, body)
	turn.Done(out, nil, nil, false, start.Add(at))
	return turn
}

func begin(t *testing.T, tr *promptcache.Tracker, at time.Duration, agent, body string) (*promptcache.Turn, []transcript.Sum) {
	t.Helper()
	p, err := transcript.Parse(transcript.Anthropic, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	d := p.Digest(hasher)
	return tr.Begin(conv, seed, p, d, agent, start.Add(at)), promptcache.Chain(seed, d)
}

func TestColdIsTheLongestLifetimeAndAMinute(t *testing.T) {
	oneHour := `[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}]`
	for _, c := range []struct {
		name  string
		first string
		after time.Duration
		cold  bool
	}{
		{"5 minutes and 59 seconds", text("a"), 5*time.Minute + 59*time.Second, false},
		{"5 minutes and 60 seconds", text("a"), 5*time.Minute + 60*time.Second, true},
		{"an hour's cache after half an hour", oneHour, 30 * time.Minute, false},
		{"an hour's cache after an hour and a minute", oneHour, 61 * time.Minute, true},
		{"a clock that went back", text("a"), -time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := promptcache.NewTracker(0, nil)
			step(t, tr, 0, "", chat("m", c.first))
			turn, _ := begin(t, tr, c.after, "", chat("m", c.first, text("b"), text("c")))
			if turn.Cold != c.cold {
				t.Errorf("cold %v, want %v", turn.Cold, c.cold)
			}
		})
	}
	t.Run("the first contact is not cold", func(t *testing.T) {
		turn, _ := begin(t, promptcache.NewTracker(0, nil), 0, "", chat("m", text("a")))
		if turn.Cold || !turn.New {
			t.Errorf("cold %v, new %v", turn.Cold, turn.New)
		}
	})
	t.Run("an answer that nobody saw starts no clock", func(t *testing.T) {
		tr := promptcache.NewTracker(0, nil)
		turn, out := begin(t, tr, 0, "", chat("m", text("a")))
		turn.Done(out, nil, nil, false, time.Time{})
		if turn, _ := begin(t, tr, time.Hour, "", chat("m", text("a"))); turn.Cold || turn.Sent != 1 {
			t.Errorf("cold %v, sent %d", turn.Cold, turn.Sent)
		}
	})
}

func TestThreads(t *testing.T) {
	tr := promptcache.NewTracker(0, nil)
	main1 := step(t, tr, 0, "", chat("m", text("go"), text("x")))
	sub := step(t, tr, 1, "", chat("m", text("subtask")))
	agent := step(t, tr, 2, "k1", chat("m", text("subtask 2")))
	main2 := step(t, tr, 3, "", chat("m", text("go"), text("x"), result("a", "long output")))
	// The content of a result does not tell threads apart; its id does.
	main3 := step(t, tr, 4, "", chat("m", text("go"), text("x"), result("a", "cleared by the client"), text("y")))
	sub2 := step(t, tr, 5, "", chat("m", text("subtask"), text("z")))
	agent2 := step(t, tr, 6, "k1", chat("m", text("whatever")))
	other := step(t, tr, 7, "", chat("other", text("go"), text("x"), result("a", "long output"), text("y"), text("z")))
	if main1.Thread != "" || main2.Thread != "" || main3.Thread != "" {
		t.Errorf("the first thread: %q %q %q", main1.Thread, main2.Thread, main3.Thread)
	}
	if sub.Thread == "" || sub2.Thread != sub.Thread {
		t.Errorf("the subagent: %q then %q", sub.Thread, sub2.Thread)
	}
	if agent.Thread != "a:k1" || agent2.Thread != "a:k1" {
		t.Errorf("by header: %q then %q", agent.Thread, agent2.Thread)
	}
	if main2.Same != 2 || main2.Sent != 2 || main3.Same != 2 {
		t.Errorf("same %d of %d, then %d", main2.Same, main2.Sent, main3.Same)
	}
	if !other.New {
		t.Error("another model finds the first one's cache")
	}
}

func TestAForkInheritsWhatItShares(t *testing.T) {
	tr := promptcache.NewTracker(0, nil)
	long := text(strings.Repeat("long ", 100))
	step(t, tr, 0, "", chat("m", text("go"), long, text("a"), text("b")))
	fork, out := begin(t, tr, 1, "", chat("m", text("go"), long, text("other")))
	if fork.New || fork.Thread == "" || fork.Same != 2 {
		t.Fatalf("new %v, thread %q, same %d", fork.New, fork.Thread, fork.Same)
	}
	out[2] = transcript.Sum{9} // message 1 goes out otherwise than in the parent
	if v, broken := fork.Compare(out, nil); !broken || v.Message != 1 {
		t.Errorf("got %+v, %v", v, broken)
	}
}

func TestCompareFindsTheFirstChangeAndItsComponent(t *testing.T) {
	tr := promptcache.NewTracker(0, nil)
	body := chat("m", text("a"), text("b"), text("c"), text("d"))
	turn, out := begin(t, tr, 0, "", body)
	const gutter, mask = 0, 1
	mark := func(c uint16, sum uint32) promptcache.EditMark {
		return promptcache.EditMark{Message: 1, Component: c, Sum: sum}
	}
	turn.Done(out, []promptcache.EditMark{mark(gutter, 1), mark(mask, 2)}, nil, false, start)
	again, out := begin(t, tr, 1, "", body)
	if _, broken := again.Compare(out, nil); broken {
		t.Error("the same bytes are a violation")
	}
	for i := 2; i < len(out); i++ {
		out[i] = transcript.Sum{byte(i)}
	}
	for name, c := range map[string]struct {
		marks []promptcache.EditMark
		want  int
	}{
		"the second differs": {[]promptcache.EditMark{mark(gutter, 1), mark(mask, 3)}, mask},
		"one is missing":     {[]promptcache.EditMark{mark(gutter, 1)}, mask},
		"all the same":       {[]promptcache.EditMark{mark(gutter, 1), mark(mask, 2)}, -1},
	} {
		v, broken := again.Compare(out, c.marks)
		if !broken || v.Message != 1 || v.Component != c.want {
			t.Errorf("%s: got %+v, %v", name, v, broken)
		}
	}
	changed, out := begin(t, tr, 2, "", chat("m", text("a"), text("B"), text("c")))
	if _, broken := changed.Compare(out, nil); broken {
		t.Error("a change by the client is a violation")
	}
}

func TestRawTurnsMoveNoChain(t *testing.T) {
	tr := promptcache.NewTracker(0, nil)
	step(t, tr, 0, "", chat("m", text("a")))
	turn, out := begin(t, tr, 1, "", chat("m", text("a"), text("b"), text("c")))
	turn.Done(out, nil, nil, true, start.Add(time.Second))
	next, _ := begin(t, tr, 2, "", chat("m", text("a"), text("b"), text("c"), text("d"), text("e")))
	if !next.Raw || next.Sent != 3 || next.Same != 1 {
		t.Errorf("raw %v, sent %d, same %d", next.Raw, next.Sent, next.Same)
	}
}

func TestPinIsKeptUntilEverythingIsCold(t *testing.T) {
	var dropped []any
	tr := promptcache.NewTracker(2, func(p any) { dropped = append(dropped, p) })
	pin := func(at time.Duration, v string) any {
		p, _ := tr.Pin(conv, start.Add(at), func() any { return v })
		return p
	}
	if pin(0, "one") != "one" {
		t.Fatal("not pinned")
	}
	step(t, tr, 0, "", chat("m", text("a")))
	step(t, tr, 4*time.Minute, "k", chat("m", text("b")))
	if got := pin(7*time.Minute, "two"); got != "one" {
		t.Errorf("a warm thread's pin became %v", got)
	}
	if got := pin(11*time.Minute, "two"); got != "two" || len(dropped) != 1 {
		t.Errorf("after all went cold the pin is %v, dropped %v", got, dropped)
	}
	for i := range 2 {
		tr.Pin(store.NewKeyer(nil).Key([]byte{byte(i)}), start, func() any { return "other" })
	}
	if len(dropped) != 2 || dropped[1] != "two" {
		t.Errorf("a forgotten conversation keeps its pin: %v", dropped)
	}
}

// A client that names another model on every request fills nothing.
func TestModelsOfAThreadAreBounded(t *testing.T) {
	tr := promptcache.NewTracker(0, nil)
	for i := range 3 * promptcache.MaxModels {
		step(t, tr, time.Duration(i)*time.Second, "", chat(fmt.Sprint("model-", i), text("a")))
	}
	known := 0
	for i := range 3 * promptcache.MaxModels {
		if turn, _ := begin(t, tr, time.Minute, "", chat(fmt.Sprint("model-", i), text("a"))); !turn.New {
			known++
			if i < 2*promptcache.MaxModels {
				t.Errorf("model %d is still known", i)
			}
		}
	}
	if known != promptcache.MaxModels {
		t.Errorf("%d models are known, want %d", known, promptcache.MaxModels)
	}
}
