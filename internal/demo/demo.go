package demo

import (
	"bytes"
	"context"
	_ "embed" // the conversation
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/internal/replay"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

//go:embed conversation.json
var recorded []byte

// Demo is one run of the conversation. Use it once.
type Demo struct {
	conversation *replay.Conversation
	provider     *provider.Provider
	counter      *promptcache.BlockCounter
	card         promptcache.Card
	now          atomic.Int64 // the recording's clock, in nanoseconds
}

// New prepares the conversation and the provider that plays the model's part in
// it. The provider's cache goes by the recording's clock, not by the wall's.
func New() (*Demo, error) {
	c, err := replay.Read(bytes.NewReader(recorded))
	if err != nil {
		return nil, err
	}
	count, err := replay.ExactCounter()
	if err != nil {
		return nil, err
	}
	script, err := answers()
	if err != nil {
		return nil, err
	}
	d := &Demo{
		conversation: c, counter: promptcache.NewBlockCounter(count),
		card: promptcache.BuiltInPrices().CardFor(c.Wire.Provider(), c.Model),
	}
	d.provider = provider.New(provider.Config{
		Script: script, Count: count, Now: func() time.Time { return time.Unix(0, d.now.Load()) },
	})
	return d, nil
}

// Provider is what the requests must reach in the end: the upstream of whatever
// listens at the address that Run is given.
func (d *Demo) Provider() *provider.Provider { return d.provider }

// answers are what the model said in the recording, and a last word.
func answers() ([]provider.Answer, error) {
	var file struct {
		Items []struct {
			Role    string `json:"role"`
			Content []struct {
				Type  string         `json:"type"`
				Text  string         `json:"text"`
				Name  string         `json:"name"`
				Input jsontext.Value `json:"input"`
			} `json:"content"`
		} `json:"items"`
	}
	if err := json.Unmarshal(recorded, &file); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	var all []provider.Answer
	for _, it := range file.Items {
		if it.Role != "assistant" {
			continue
		}
		var a provider.Answer
		for _, b := range it.Content {
			if b.Type == "text" {
				a.Text = b.Text
			} else {
				a.Calls = append(a.Calls, provider.Call{Name: b.Name, Input: string(b.Input)})
			}
		}
		all = append(all, a)
	}
	last := "A shift that ends at or before its start now ends on the next day: `ends_at` in shiftplan/roster.py:52 adds it, " +
		"and `duration` uses `ends_at`. Rest times and staffing after midnight follow from it; both have a test. All 38 tests pass."
	return append(all, provider.Answer{Text: last}), nil
}

// Turn is what one request came to.
type Turn struct {
	Before, After           promptcache.Usage // as simulated without, as billed with trimtab
	CostBefore, CostAfter   float64           // of the input, in US dollars
	BytesBefore, BytesAfter int
	// Rewritten is how many blocks that the provider had cached reached it in
	// another form than the turn before. It must be 0.
	Rewritten int
	// Broken are rules of the provider that the forwarded body breaks.
	Broken []provider.Violation
}

// Summary is the whole run.
type Summary struct {
	Turns []Turn
	Turn  // the sums
}

// Saved is the share of the bill that was saved, output left out.
func (s *Summary) Saved() float64 { return (s.CostBefore - s.CostAfter) / s.CostBefore }

// Run sends the conversation to baseURL, turn by turn, as its client did, and
// prints a line for each turn and the sums to out. What it costs without trimtab
// is simulated on the bodies that it sends; what it costs with, the provider's
// answers say. The error is the first request that failed; a summary of what
// came before it is returned too.
func (d *Demo) Run(ctx context.Context, baseURL string, out io.Writer) (*Summary, error) {
	r := &run{
		d: d, url: baseURL + d.conversation.Endpoint, table: newTable(out),
		without: promptcache.NewSimulator(d.counter), warmth: replay.Warmth{Wire: d.conversation.Wire},
		client: &http.Client{Transport: &http.Transport{}}, // never through a proxy of the environment
	}
	defer r.client.CloseIdleConnections()
	s := &Summary{}
	r.table.head()
	for k := range d.conversation.Turns {
		t, err := r.turn(ctx, k)
		if err != nil {
			return s, errors.Join(fmt.Errorf("turn %d: %w", k+1, err), r.table.flush())
		}
		s.Turns = append(s.Turns, t)
		s.Turn.add(t)
		r.table.turn(k+1, t)
	}
	r.table.sums(s)
	return s, r.table.flush()
}

func (t *Turn) add(o Turn) {
	t.Before, t.After = t.Before.Add(o.Before), t.After.Add(o.After)
	t.CostBefore += o.CostBefore
	t.CostAfter += o.CostAfter
	t.BytesBefore += o.BytesBefore
	t.BytesAfter += o.BytesAfter
	t.Rewritten += o.Rewritten
	t.Broken = append(t.Broken, o.Broken...)
}

// run is the conversation while it is sent.
type run struct {
	d       *Demo
	url     string
	client  *http.Client
	without *promptcache.Simulator
	warmth  replay.Warmth
	table   *table
}

func (r *run) turn(ctx context.Context, k int) (Turn, error) {
	c := r.d.conversation
	body, at := c.Body(k), c.Turns[k].At
	r.d.now.Store(int64(at * float64(time.Second)))
	before, err := r.without.Bill(c.Wire, body, at)
	if err != nil {
		return Turn{}, err
	}
	sent := len(r.d.provider.Received())
	after, err := r.send(ctx, body)
	if err != nil {
		return Turn{}, err
	}
	received := r.d.provider.Received()
	if len(received) != sent+1 {
		return Turn{}, fmt.Errorf("the provider saw %d requests instead of one: %s does not lead to it", len(received)-sent, r.url)
	}
	forwarded := received[sent].Body
	rewritten, _ := r.warmth.Turn(body, forwarded, at)
	t := Turn{
		Before: before, After: after,
		CostBefore: r.d.card.InputCost(before), CostAfter: r.d.card.InputCost(after),
		BytesBefore: len(body), BytesAfter: len(forwarded), Rewritten: rewritten,
		Broken: append(provider.Added(c.Wire, body, forwarded), provider.Altered(c.Wire, body, forwarded)...),
	}
	t.Before.Output = after.Output
	return t, nil
}

// send posts one body and reads the bill from the answer.
func (r *run) send(ctx context.Context, body []byte) (promptcache.Usage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return promptcache.Usage{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", "demo")
	resp, err := r.client.Do(req)
	if err != nil {
		return promptcache.Usage{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return promptcache.Usage{}, fmt.Errorf("%s: %s", resp.Status, text)
	}
	reader := promptcache.NewUsageReader(0)
	if _, err := io.Copy(reader, resp.Body); err != nil {
		return promptcache.Usage{}, err
	}
	u, outcome := reader.Usage()
	if outcome != promptcache.UsageRead {
		return u, fmt.Errorf("the answer's usage is %s", outcome)
	}
	return u, nil
}
