package componenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Request is one request of a play, with what a client and a provider did.
type Request struct {
	Body   []byte
	After  time.Duration // since the request before
	Thread string        // which transcript it belongs to, for the judge
	Agent  string        // the trusted header of a subagent
	Model  string
	// Status is the answer's; 0: nobody knows. The zero value of a play is 200.
	Failed, Unknown bool
	// Restart begins with a fresh engine; the store stays.
	Restart bool
	// Reload applies another configuration before the request.
	Reload bool
	// NewEpoch says that bytes may change: the provider's cache is cold, or the
	// client changed the prefix in a way that is none of the judge's business.
	NewEpoch bool
}

// TB is what a judge needs of a test: *testing.T and *rapid.T have it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Player plays requests through an engine and judges what comes out.
type Player struct {
	Dialect transcript.Dialect
	// New makes an engine with its profiles applied, over the play's one store.
	New func() *pipeline.Engine
	// Reload changes the configuration of a running engine.
	Reload func(*pipeline.Engine)
	// MayGrow says that a component may add bytes.
	MayGrow bool

	engine *pipeline.Engine
	now    time.Time
	last   map[string][2]Elements // by thread and model: elements in and out
	// Bodies are the forwarded bodies, in order.
	Bodies  [][]byte
	Reports []pipeline.Report
}

// Play sends the requests in order.
func (p *Player) Play(t TB, reqs []Request) {
	t.Helper()
	p.now = time.Unix(1_700_000_000, 0)
	p.last = map[string][2]Elements{}
	for i, r := range reqs {
		if p.engine == nil || r.Restart {
			p.engine = p.New()
		}
		if r.Reload && p.Reload != nil {
			p.Reload(p.engine)
		}
		p.now = p.now.Add(r.After)
		received := bytes.Clone(r.Body)
		x := p.engine.Rewrite(context.Background(), pipeline.Request{Path: Path(p.Dialect), Body: r.Body, Now: p.now, Agent: r.Agent})
		out, rep := x.Body(), x.Report()
		switch {
		case r.Failed:
			x.Responded(529, p.now)
		case r.Unknown:
			x.Close()
		default:
			x.Responded(200, p.now)
		}
		x.Close()
		if !bytes.Equal(received, r.Body) {
			t.Fatalf("request %d: the engine wrote into the received body", i)
		}
		if n := len(rep.Violations); n > 0 {
			t.Fatalf("request %d: violations %v", i, rep.Violations)
		}
		if rep.Reason == pipeline.OutputInvalid || rep.Reason == pipeline.EnginePanicked {
			t.Fatalf("request %d: %s", i, rep.Reason)
		}
		for _, c := range rep.Components {
			for _, g := range []pipeline.Gate{pipeline.GatePanic, pipeline.GateContract, pipeline.GateVerify} {
				if c.Gates[g] > 0 {
					t.Fatalf("request %d: component %s: %s", i, c.Name, g)
				}
			}
		}
		p.judge(t, i, r, out)
		p.Bodies, p.Reports = append(p.Bodies, out), append(p.Reports, rep)
	}
}

// Path is the path of a dialect's requests.
func Path(d transcript.Dialect) string {
	switch d {
	case transcript.Anthropic:
		return "/v1/messages"
	case transcript.OpenAIChat:
		return "/v1/chat/completions"
	}
	return "/v1/responses"
}

// judge holds one forwarded body against the received one and against the one
// forwarded before in the same thread.
func (p *Player) judge(t TB, i int, r Request, out []byte) {
	t.Helper()
	in := r.Body
	if json.Valid(in) && !json.Valid(out) {
		t.Fatalf("request %d: valid JSON became invalid", i)
	}
	edits, err := Edits(p.Dialect, in, out)
	if err != nil {
		t.Fatalf("request %d: %v", i, err)
	}
	texts, err := resultTexts(p.Dialect, in)
	if err != nil {
		t.Fatalf("request %d: %v", i, err)
	}
	for _, e := range edits {
		p.judgeEdit(t, i, e, texts)
	}
	a, err := Read(p.Dialect, in)
	if err != nil {
		t.Fatalf("request %d: %v", i, err)
	}
	b, err := Read(p.Dialect, out)
	if err != nil {
		t.Fatalf("request %d: %v", i, err)
	}
	if a.System != b.System {
		t.Fatalf("request %d: the system prompt's text changed", i)
	}
	if len(a.Chain) != len(b.Chain) {
		t.Fatalf("request %d: %d messages became %d", i, len(a.Chain)-1, len(b.Chain)-1)
	}
	key := r.Thread + "\x00" + r.Model
	if before, ok := p.last[key]; ok && !r.NewEpoch {
		was, now := before[0], before[1]
		for k := 0; k < min(len(a.Chain), len(was.Chain)) && a.Chain[k] == was.Chain[k]; k++ {
			if b.Chain[k] != now.Chain[k] {
				t.Fatalf("request %d: message %d came in as before and went out otherwise:\nwas %s\nis  %s", i, k-1, now.Chain[k], b.Chain[k])
			}
		}
	}
	if !r.Failed {
		p.last[key] = [2]Elements{a, b}
	}
}

// judgeEdit holds one edited string: a tool result's, shorter in bytes and in
// tokens, and not empty.
func (p *Player) judgeEdit(t TB, i int, e [2]string, texts map[string]bool) {
	t.Helper()
	var was, is string
	if json.Unmarshal([]byte(e[0]), &was) != nil || json.Unmarshal([]byte(e[1]), &is) != nil {
		t.Fatalf("request %d: an edited string is no JSON string", i)
	}
	if !texts[was] {
		t.Fatalf("request %d: an edited string is no tool result: %.120q", i, was)
	}
	if p.MayGrow {
		return
	}
	// A secret's mask is never undone for being longer; what it adds is bounded.
	if n := strings.Count(is, "[REDACTED:") - strings.Count(was, "[REDACTED:"); n > 0 && len(is) < len(was)+48*n+64 {
		return
	}
	if len(e[1]) >= len(e[0]) || tokens.Estimate(is) >= tokens.Estimate(was) {
		t.Fatalf("request %d: a rewrite grew: %d to %d bytes", i, len(e[0]), len(e[1]))
	}
}

var _ TB = (*testing.T)(nil)
