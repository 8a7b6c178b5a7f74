package promptcache

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// words is a text of n tokens to countWords, told apart by its first word.
func words(first string, n int) string { return first + strings.Repeat(" w", n-1) }

func countWords(s string) int { return len(strings.Fields(s)) }

const (
	mark   = `,"cache_control":{"type":"ephemeral"}`
	markHr = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

func textBlock(first string, n int, mark string) string {
	return fmt.Sprintf(`{"type":"text","text":%q%s}`, words(first, n), mark)
}

func message(role string, blocks ...string) string {
	return fmt.Sprintf(`{"role":%q,"content":[%s]}`, role, strings.Join(blocks, ","))
}

func anthropicBody(model, system string, messages ...string) string {
	return fmt.Sprintf(`{"model":%q,"messages":[%s],"system":[%s]}`, model, strings.Join(messages, ","), system)
}

// simStepCase is one request of a case and what it must cost.
type simStepCase struct {
	at   float64
	body string
	want Usage
}

func blockRun(n int) string {
	var all []string
	for i := range n {
		all = append(all, textBlock(fmt.Sprintf("b%d", i), 10, ""))
	}
	return strings.Join(all, ",")
}

func TestSimulatorAnthropic(t *testing.T) {
	sys := textBlock("sys", 2000, mark)
	user := func(n int, m string) string { return message("user", textBlock("u", n, m)) }
	next := func(m string) []string {
		return []string{user(500, ""), message("assistant", textBlock("a", 100, "")), message("user", textBlock("v", 300, m))}
	}
	for _, tc := range []struct {
		name  string
		steps []simStepCase
	}{
		{"write, then read and write the rest", []simStepCase{
			{0, anthropicBody("m", sys, user(500, mark)), Usage{Write5m: 2500}},
			{10, anthropicBody("m", sys, next(mark)...), Usage{Read: 2500, Write5m: 400}},
			{20, anthropicBody("m", sys, next(mark)...), Usage{Read: 2900}},
			{30, anthropicBody("m", sys, append(next(""), message("assistant", textBlock("x", 7, "")))...), Usage{Read: 2000, Fresh: 907}},
		}},
		{"nothing marked, nothing cached", []simStepCase{
			{0, anthropicBody("m", textBlock("sys", 2000, ""), user(500, "")), Usage{Fresh: 2500}},
			{1, anthropicBody("m", textBlock("sys", 2000, ""), user(500, "")), Usage{Fresh: 2500}},
		}},
		{"a hit renews five minutes", []simStepCase{
			{0, anthropicBody("m", sys, user(500, mark)), Usage{Write5m: 2500}},
			{290, anthropicBody("m", sys, user(500, mark)), Usage{Read: 2500}},
			{580, anthropicBody("m", sys, user(500, mark)), Usage{Read: 2500}},
			{881, anthropicBody("m", sys, user(500, mark)), Usage{Write5m: 2500}},
		}},
		{"an hour for the head, five minutes for the rest", []simStepCase{
			{0, anthropicBody("m", textBlock("sys", 2000, markHr), user(500, mark)), Usage{Write1h: 2000, Write5m: 500}},
			{400, anthropicBody("m", textBlock("sys", 2000, markHr), user(500, mark)), Usage{Read: 2000, Write5m: 500}},
			{3000, anthropicBody("m", textBlock("sys", 2000, markHr), user(500, mark)), Usage{Read: 2000, Write5m: 500}},
			{6601, anthropicBody("m", textBlock("sys", 2000, markHr), user(500, mark)), Usage{Write1h: 2000, Write5m: 500}},
		}},
		{"below the minimum", []simStepCase{
			{0, anthropicBody("m", textBlock("sys", 1023, mark)), Usage{Fresh: 1023}},
			{1, anthropicBody("m", textBlock("sys", 1023, mark)), Usage{Fresh: 1023}},
			{2, anthropicBody("m", textBlock("sys", 1023, mark), user(1, mark)), Usage{Write5m: 1024}},
			{3, anthropicBody("m", textBlock("sys", 1023, mark), user(1, mark)), Usage{Read: 1024}},
			{4, anthropicBody("m", textBlock("sys", 1023, mark), user(2, mark)), Usage{Write5m: 1025}},
		}},
		{"twenty positions are looked at", []simStepCase{
			{0, anthropicBody("m", textBlock("sys", 2000, ""), user(10, mark)), Usage{Write5m: 2010}},
			{1, anthropicBody("m", textBlock("sys", 2000, ""), message("user", textBlock("u", 10, ""), blockRun(18), textBlock("z", 10, mark))), Usage{Read: 2010, Write5m: 190}},
			{2, anthropicBody("m", textBlock("sys", 2000, ""), message("user", textBlock("u", 10, ""), blockRun(19), textBlock("y", 10, mark))), Usage{Write5m: 2210}},
		}},
		{"a breakpoint on the way carries the look-back on", []simStepCase{
			{0, anthropicBody("m", textBlock("sys", 2000, ""), user(10, mark)), Usage{Write5m: 2010}},
			{1, anthropicBody("m", textBlock("sys", 2000, ""), message("user", textBlock("u", 10, ""), blockRun(19), textBlock("y", 10, mark), blockRun(10), textBlock("z", 10, mark))), Usage{Write5m: 2320}},
			{2, anthropicBody("m", textBlock("sys", 2000, ""), message("user", textBlock("u", 10, ""), blockRun(18), textBlock("y", 10, mark), blockRun(10), textBlock("z", 10, mark))), Usage{Read: 2010, Write5m: 300}},
		}},
		{"the fifth breakpoint does not count", []simStepCase{
			{0, anthropicBody("m", sys, message("user", textBlock("a", 10, mark), textBlock("b", 10, mark), textBlock("c", 10, mark), textBlock("d", 10, mark))), Usage{Write5m: 2030, Fresh: 10}},
		}},
		{"a changed block costs everything after it", []simStepCase{
			{0, anthropicBody("m", sys, next(mark)...), Usage{Write5m: 2900}},
			{1, anthropicBody("m", sys, user(499, ""), next("")[1], next(mark)[2]), Usage{Read: 2000, Write5m: 899}},
		}},
		{"each model has its own cache", []simStepCase{
			{0, anthropicBody("m", sys, user(500, mark)), Usage{Write5m: 2500}},
			{1, anthropicBody("n", sys, user(500, mark)), Usage{Write5m: 2500}},
			{2, anthropicBody("m", sys, user(500, mark)), Usage{Read: 2500}},
		}},
		{"spelling is no difference", []simStepCase{
			{0, anthropicBody("m", sys, user(500, mark)), Usage{Write5m: 2500}},
			{
				1, strings.Replace(anthropicBody("m", sys, next(mark)...),
					message("user", textBlock("u", 500, "")), fmt.Sprintf(`{ "content":%q, "role":"\u0075ser"}`, words("u", 500)), 1),
				Usage{Read: 2500, Write5m: 400},
			},
		}},
		{"a change of tool_choice keeps tools and system", []simStepCase{
			{0, anthropicBody("m", sys, user(500, mark)), Usage{Write5m: 2500}},
			{1, strings.Replace(anthropicBody("m", sys, user(500, mark)), `{"model"`, `{"tool_choice":{"type":"any"},"model"`, 1), Usage{Read: 2000, Write5m: 500}},
		}},
		{"tools come first", []simStepCase{
			{0, strings.Replace(anthropicBody("m", sys), `{"model"`, fmt.Sprintf(`{"tools":[{"name":%q%s}],"model"`, words("t", 1100), mark), 1), Usage{Write5m: 3101}},
			{1, strings.Replace(anthropicBody("m", textBlock("other", 50, mark)), `{"model"`, fmt.Sprintf(`{"tools":[{"name":%q}],"model"`, words("t", 1100)), 1), Usage{Read: 1101, Write5m: 50}},
		}},
		{"the automatic breakpoint", []simStepCase{
			{0, strings.Replace(anthropicBody("m", textBlock("sys", 2000, ""), user(500, "")), `{"model"`, `{"cache_control":{"type":"ephemeral"},"model"`, 1), Usage{Write5m: 2500}},
			{1, strings.Replace(anthropicBody("m", textBlock("sys", 2000, ""), next("")...), `{"model"`, `{"cache_control":{"type":"ephemeral","ttl":"1h"},"model"`, 1), Usage{Read: 2500, Write1h: 400}},
		}},
		{"a breakpoint inside a tool result", []simStepCase{
			{0, anthropicBody("m", textBlock("sys", 2000, ""), `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[`+textBlock("r", 100, mark)+`]}]}`), Usage{Write5m: 2100}},
			{1, anthropicBody("m", textBlock("sys", 2000, ""), fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":%q%s}]}`, words("r", 100), mark)), Usage{Read: 2100}},
		}},
		{"not on thinking, not on empty text", []simStepCase{
			{0, anthropicBody("m", textBlock("sys", 2000, ""), message("assistant", `{"type":"thinking","thinking":"t t","signature":"x"`+mark+`}`)), Usage{Fresh: 2002}},
			{1, anthropicBody("m", textBlock("sys", 2000, ""), message("user", `{"type":"text","text":""`+mark+`}`)), Usage{Fresh: 2000}},
		}},
		{"an image costs what it costs, not its base64", []simStepCase{
			{0, anthropicBody("m", textBlock("sys", 2000, ""), message("user", `{"type":"image","source":{"type":"base64","data":"`+strings.Repeat("a ", 9000)+`"}`+mark+`}`)), Usage{Write5m: 2000 + simImageTokens}},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { runSimulator(t, WireAnthropic, tc.steps) })
	}
}

func runSimulator(t *testing.T, w Wire, steps []simStepCase) {
	t.Helper()
	sim := NewSimulator(NewBlockCounter(countWords))
	for i, step := range steps {
		got, err := sim.Bill(w, []byte(step.body), step.at)
		if err != nil {
			t.Fatal(err)
		}
		step.want.Known = true
		if d := cmp.Diff(step.want, got); d != "" {
			t.Fatalf("request %d (-want +got):\n%s", i, d)
		}
	}
}

func TestSimulatorOpenAI(t *testing.T) {
	chat := func(messages ...string) string {
		return `{"model":"g","messages":[` + strings.Join(messages, ",") + `]}`
	}
	// The role is one word of each message.
	msg := func(role, first string, n int) string {
		return fmt.Sprintf(`{"role":%q,"content":%q}`, role, words(first, n-1))
	}
	responses := func(instructions string, items ...string) string {
		return fmt.Sprintf(`{"model":"g","instructions":%q,"input":[%s]}`, instructions, strings.Join(items, ","))
	}
	for _, tc := range []struct {
		name  string
		wire  Wire
		steps []simStepCase
	}{
		{"1024 and then steps of 128", WireChat, []simStepCase{
			{0, chat(msg("user", "a", 1023)), Usage{Fresh: 1023}},
			{1, chat(msg("user", "a", 1023)), Usage{Fresh: 1023}},
			{2, chat(msg("user", "b", 1024)), Usage{Fresh: 1024}},
			{3, chat(msg("user", "b", 1024)), Usage{Read: 1024}},
			{4, chat(msg("user", "c", 1151)), Usage{Fresh: 1151}},
			{5, chat(msg("user", "c", 1151)), Usage{Read: 1024, Fresh: 127}},
			{6, chat(msg("user", "d", 1152)), Usage{Fresh: 1152}},
			{7, chat(msg("user", "d", 1152)), Usage{Read: 1152}},
		}},
		{"what was sent is read, what is new is fresh", WireChat, []simStepCase{
			{0, chat(msg("system", "s", 2000), msg("user", "u", 500)), Usage{Fresh: 2500}},
			{1, chat(msg("system", "s", 2000), msg("user", "u", 500), msg("assistant", "a", 100), msg("tool", "t", 300)), Usage{Read: 2432, Fresh: 468}},
		}},
		{"the token prefix ends inside a block", WireChat, []simStepCase{
			{0, chat(msg("system", "s", 2000), msg("user", "u", 500)), Usage{Fresh: 2500}},
			{1, chat(msg("system", "s", 2000), msg("user", "u", 301), msg("user", "v", 10)), Usage{Read: 2176 + 0, Fresh: 135}},
			{2, chat(msg("system", "s", 1100), msg("user", "w", 10)), Usage{Read: 1024, Fresh: 86}},
		}},
		{"an hour after the last use", WireChat, []simStepCase{
			{0, chat(msg("system", "s", 2048)), Usage{Fresh: 2048}},
			{3600, chat(msg("system", "s", 2048)), Usage{Read: 2048}},
			{7200, chat(msg("system", "s", 2048)), Usage{Read: 2048}},
			{10801, chat(msg("system", "s", 2048)), Usage{Fresh: 2048}},
		}},
		{"two branches are both kept", WireChat, []simStepCase{
			{0, chat(msg("system", "s", 1024), msg("user", "u", 1024)), Usage{Fresh: 2048}},
			{1, chat(msg("system", "s", 1024), msg("user", "v", 1024)), Usage{Read: 1024, Fresh: 1024}},
			{2, chat(msg("system", "s", 1024), msg("user", "u", 1024)), Usage{Read: 2048}},
		}},
		{"calls are counted, ids are not", WireChat, []simStepCase{
			{0, chat(msg("system", "s", 2000), `{"role":"assistant","content":null,"tool_calls":[{"id":"call one two","type":"function","function":{"name":"n","arguments":"{ a b }"}}]}`), Usage{Fresh: 2006}},
		}},
		{"responses", WireResponses, []simStepCase{
			{0, responses(words("i", 2000), `{"type":"message","role":"user","content":[{"type":"input_text","text":"a b c"}]}`), Usage{Fresh: 2005}},
			{1, responses(words("i", 2000), `{"role":"user","content":"a b c"}`,
				`{"type":"function_call","call_id":"c c c","name":"n","arguments":"{ x }"}`,
				`{"type":"function_call_output","call_id":"c c c","output":"o o o o"}`), Usage{Read: 1920, Fresh: 95}},
		}},
		{"responses with a string", WireResponses, []simStepCase{
			{0, `{"model":"g","input":"` + words("i", 1279) + `"}`, Usage{Fresh: 1280}},
			{1, `{"model":"g","input":[{"role":"user","content":"` + words("i", 1279) + `"}]}`, Usage{Read: 1280}},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { runSimulator(t, tc.wire, tc.steps) })
	}
}

func TestSimulatorRefusesWhatIsNoBody(t *testing.T) {
	sim := NewSimulator(NewBlockCounter(countWords))
	for _, body := range []string{"", "[]", `{"messages":[`, `{"messages":[{"content":[{]}`, `null`} {
		for _, w := range []Wire{WireAnthropic, WireChat, WireResponses} {
			if _, err := sim.Bill(w, []byte(body), 0); err == nil {
				t.Errorf("%s: %q was billed", w, body)
			}
		}
	}
}

func FuzzSimulator(f *testing.F) {
	f.Add([]byte(anthropicBody("m", textBlock("s", 2000, mark), message("user", textBlock("u", 5, markHr)))))
	f.Add([]byte(`{"tools":[1,"a",{}],"input":["x",{"type":"reasoning","summary":[{"text":"s"}]},3],"messages":[{"tool_calls":[{"function":{"name":1}}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, w := range []Wire{WireAnthropic, WireChat, WireResponses} {
			sim := NewSimulator(NewBlockCounter(countWords))
			first, err := sim.Bill(w, body, 0)
			if err != nil {
				continue
			}
			again, err := sim.Bill(w, body, 1)
			if err != nil || again.Input() != first.Input() {
				t.Fatalf("%s: %+v, then %+v, %v", w, first, again, err)
			}
			if again.Read < first.Write5m+first.Write1h || again.Fresh < 0 || first.Fresh < 0 {
				t.Fatalf("%s: wrote %+v, read %+v", w, first, again)
			}
		}
	})
}
