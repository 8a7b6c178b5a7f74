package pipeline

import (
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Outcomes are counts by which one can see what a model does with a shortened
// request: compared between the arms, they show a saving that makes agents work
// more. They are of what is new on this turn.
type Outcomes struct {
	// Turns is 1 for a request that goes on, 0 for a retry or a count.
	Turns int
	// Conversations is 1 on the first request of a conversation.
	Conversations int
	// FailedEdits counts edits whose result is an error.
	FailedEdits int
	// RepeatedReads counts reads of a file and range that were read before in
	// the same transcript.
	RepeatedReads int
	// RepeatedCommands counts commands that were run before in the same transcript.
	RepeatedCommands int
	// Calls counts tool calls.
	Calls int
}

// outcomes counts what is new on this turn. What a transcript already held when
// it was first seen is not counted.
func (r *run) outcomes() Outcomes {
	var o Outcomes
	if r.turn == nil || r.turn.New && r.lastAssistant() >= 0 {
		return o
	}
	if r.turn.Same == len(r.t.Messages) && !r.turn.New {
		return o // a retry
	}
	o.Turns = 1
	if !r.known {
		o.Conversations = 1
	}
	first := len(r.t.Calls)
	for first > 0 && r.t.Calls[first-1].Message >= r.turn.Same {
		first--
	}
	if first == len(r.t.Calls) {
		return o
	}
	seen := map[transcript.Sum]bool{}
	for c := range r.t.Calls {
		p := r.planOf(c)
		repeated := seen[p.identity]
		seen[p.identity] = true
		if c < first {
			continue
		}
		o.Calls++
		switch {
		case p.kind == classify.Edit:
			if ri := r.t.Calls[c].Result; ri >= 0 && r.t.Results[ri].IsError {
				o.FailedEdits++
			}
		case p.reads && repeated:
			o.RepeatedReads++
		case p.kind == classify.Shell && repeated:
			o.RepeatedCommands++
		}
	}
	return o
}
