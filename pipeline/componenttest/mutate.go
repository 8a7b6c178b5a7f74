package componenttest

import (
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Mutator turns a script into the requests of a client that does something
// recorded conversations do not show.
type Mutator struct {
	Name  string
	Plays func(t *rapid.T, s Script, d transcript.Dialect) []Request
}

// Mutators are the clients under which the law is claimed.
func Mutators() []Mutator {
	return []Mutator{
		{"plain", func(_ *rapid.T, s Script, d transcript.Dialect) []Request { return plain(s, d, Style{Marks: 1}) }},
		{"moving marks", movingMarks},
		{"flips and spaces", flips},
		{"nonce in system", nonce},
		{"retries", retries},
		{"failures", failures},
		{"rewind", rewind},
		{"edited message", editedMessage},
		{"subagents", subagents},
		{"restarts", restarts},
		{"idle gaps", idleGaps},
		{"compaction", compaction},
		{"context editing", contextEditing},
		{"reload", reload},
	}
}

// gap is the time between two turns of a busy agent.
const gap = 20 * time.Second

func plain(s Script, d transcript.Dialect, st Style) []Request {
	var out []Request
	for n := range len(s.Steps) + 1 {
		out = append(out, Request{Body: s.Body(d, n, st), After: gap, Thread: "main"})
	}
	return out
}

// movingMarks changes how many breakpoints there are, every turn.
func movingMarks(_ *rapid.T, s Script, d transcript.Dialect) []Request {
	var out []Request
	for n := range len(s.Steps) + 1 {
		out = append(out, Request{Body: s.Body(d, n, Style{Marks: n % 3}), After: gap, Thread: "main"})
	}
	return out
}

// flips writes the first text as an array every other turn, and JSON with
// spaces from the middle on, which is a change by the client.
func flips(_ *rapid.T, s Script, d transcript.Dialect) []Request {
	var out []Request
	for n := range len(s.Steps) + 1 {
		st := Style{Marks: 1, UserFlips: n%2 == 1, Spaces: n > len(s.Steps)/2}
		out = append(out, Request{Body: s.Body(d, n, st), After: gap, Thread: "main"})
	}
	return out
}

// nonce puts another text in front of the system prompt on every request.
func nonce(_ *rapid.T, s Script, d transcript.Dialect) []Request {
	var out []Request
	for n := range len(s.Steps) + 1 {
		s.Nonce = "cch=" + strconv.Itoa(n*7919) + "; "
		out = append(out, Request{Body: s.Body(d, n, Style{Marks: 1}), After: gap, Thread: "main"})
	}
	return out
}

// retries sends every request twice.
func retries(_ *rapid.T, s Script, d transcript.Dialect) []Request {
	var out []Request
	for _, r := range plain(s, d, Style{Marks: 1}) {
		again := r
		again.After = time.Second
		out = append(out, r, again)
	}
	return out
}

// failures refuses some requests, and loses the answers of others.
func failures(t *rapid.T, s Script, d transcript.Dialect) []Request {
	out := plain(s, d, Style{Marks: 1})
	for i := range out {
		switch rapid.IntRange(0, 5).Draw(t, "fate") {
		case 0:
			out[i].Failed = true
		case 1:
			out[i].Unknown = true
		}
	}
	return out
}

// rewind goes back and on with other answers.
func rewind(t *rapid.T, s Script, d transcript.Dialect) []Request {
	out := plain(s, d, Style{Marks: 1})
	back := rapid.IntRange(0, len(s.Steps)).Draw(t, "back")
	other := s
	other.Steps = append(append([]Step{}, s.Steps[:back]...), reversed(s.Steps[back:])...)
	for n := back; n <= len(other.Steps); n++ {
		out = append(out, Request{Body: other.Body(d, n, Style{Marks: 1}), After: gap, Thread: "main"})
	}
	return out
}

func reversed(in []Step) []Step {
	out := make([]Step, len(in))
	for i, s := range in {
		s.Say += " again"
		out[len(in)-1-i] = s
	}
	return out
}

// editedMessage changes a text in the middle of the transcript.
func editedMessage(t *rapid.T, s Script, d transcript.Dialect) []Request {
	out := plain(s, d, Style{Marks: 1})
	if len(s.Steps) == 0 {
		return out
	}
	other := s
	other.Steps = append([]Step{}, s.Steps...)
	i := rapid.IntRange(0, len(s.Steps)-1).Draw(t, "edited")
	other.Steps[i].Say += " (edited)"
	for n := i + 1; n <= len(s.Steps); n++ {
		out = append(out, Request{Body: other.Body(d, n, Style{Marks: 1}), After: gap, Thread: "main"})
	}
	return out
}

// subagents interleaves a second transcript of the same conversation, once told
// apart by a header and once not.
func subagents(t *rapid.T, s Script, d transcript.Dialect) []Request {
	sub := Generate(t, min(len(s.Steps), 4), "")
	agent := ""
	if rapid.Bool().Draw(t, "header") {
		agent = "sub-1"
	}
	var out []Request
	for i, r := range plain(s, d, Style{Marks: 1}) {
		out = append(out, r)
		if i <= len(sub.Steps) {
			sub.User = s.User // the same first text: the same conversation
			sub.System = "You are a subagent."
			out = append(out, Request{Body: sub.Body(d, i, Style{Marks: 1}), After: time.Second, Thread: "sub", Agent: agent})
		}
	}
	return out
}

// restarts begins with a fresh process now and then; the store stays.
func restarts(_ *rapid.T, s Script, d transcript.Dialect) []Request {
	out := plain(s, d, Style{Marks: 1})
	for i := range out {
		out[i].Restart = i%2 == 1
	}
	return out
}

// idleGaps lets the provider's cache go cold.
func idleGaps(t *rapid.T, s Script, d transcript.Dialect) []Request {
	out := plain(s, d, Style{Marks: 1})
	for i := range out {
		switch rapid.IntRange(0, 3).Draw(t, "idle") {
		case 0:
			out[i].After, out[i].NewEpoch = 400*time.Second, true
		case 1:
			out[i].After = 355 * time.Second // one second short of nothing: still warm
		}
	}
	return out
}

// compaction replaces the transcript so far by a summary.
func compaction(t *rapid.T, s Script, d transcript.Dialect) []Request {
	cut := rapid.IntRange(0, len(s.Steps)).Draw(t, "cut")
	out := plain(Script{System: s.System, User: s.User, Steps: s.Steps[:cut]}, d, Style{Marks: 1})
	rest := s
	rest.User, rest.Steps = s.User+"\nSummary: much was done.", s.Steps[cut:]
	return append(out, plain(rest, d, Style{Marks: 1})...)
}

// contextEditing lets the provider drop earlier content from the middle on.
func contextEditing(_ *rapid.T, s Script, d transcript.Dialect) []Request {
	var out []Request
	for n := range len(s.Steps) + 1 {
		s.ContextEditing = n > len(s.Steps)/2
		out = append(out, Request{Body: s.Body(d, n, Style{Marks: 1}), After: gap, Thread: "main"})
	}
	return out
}

// reload changes the configuration under a warm conversation.
func reload(_ *rapid.T, s Script, d transcript.Dialect) []Request {
	out := plain(s, d, Style{Marks: 1})
	for i := range out {
		out[i].Reload = i%2 == 1
	}
	return out
}
