package promptcache

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Over any run of requests that share beginnings, the tiers add up to the whole
// input, and a request sent twice reads all that it wrote.
func TestSimulatorProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counter := NewBlockCounter(countWords)
		sim := NewSimulator(counter)
		w := rapid.SampledFrom([]Wire{WireAnthropic, WireChat}).Draw(t, "wire")
		now := 0.0
		for range rapid.IntRange(1, 12).Draw(t, "requests") {
			body := drawBody(t, w)
			now += rapid.Float64Range(0, 4000).Draw(t, "pause")
			total, err := counter.Tokens(w, body)
			if err != nil {
				t.Fatal(err)
			}
			u, err := sim.Bill(w, body, now)
			if err != nil {
				t.Fatal(err)
			}
			if u.Input() != total || min(u.Fresh, u.Read, u.Write5m, u.Write1h) < 0 {
				t.Fatalf("%+v is not %d tokens", u, total)
			}
			again, _ := sim.Bill(w, body, now+1)
			if again.Write5m+again.Write1h != 0 || again.Read < u.Read+u.Write5m+u.Write1h {
				t.Fatalf("sent %+v, sent again %+v", u, again)
			}
		}
	})
}

// drawBody draws a conversation from few blocks, so that beginnings repeat.
func drawBody(t *rapid.T, w Wire) []byte {
	var messages []string
	for i := range rapid.IntRange(1, 8).Draw(t, "messages") {
		text := words(fmt.Sprintf("%d-%d", i, rapid.IntRange(0, 1).Draw(t, "variant")), 400)
		m := ""
		if w == WireAnthropic {
			m = rapid.SampledFrom([]string{"", "", mark}).Draw(t, "mark")
		}
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q%s}]}`, text, m))
	}
	head := rapid.SampledFrom([]string{"", markHr}).Draw(t, "head")
	if w == WireChat {
		head = ""
	}
	model := rapid.SampledFrom([]string{"m", "n"}).Draw(t, "model")
	return []byte(anthropicBody(model, textBlock("sys", 1100, head), messages...))
}
