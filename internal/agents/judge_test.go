package agents

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// passed is one request as it was sent and as it arrived.
type passed struct {
	sent     sent
	received provider.Received
	// before and after are its bodies without their encoding.
	before, after []byte
}

// conversation says that it is one of the requests that the script answers.
func (p *passed) conversation(a agent) bool {
	return p.received.Method == http.MethodPost && p.received.Path == a.path && (a.plain || bytes.Contains(p.before, []byte(`"tools":[{`)))
}

// judge asserts what holds for every agent.
func judge(t *testing.T, b *bench, a agent) {
	t.Helper()
	all := pairUp(t, b, a.wire)
	var turns []*passed
	sentBytes, arrivedBytes, smaller := 0, 0, 0
	for i := range all {
		p := &all[i]
		if p.received.Path == a.path && p.received.Status != http.StatusOK || len(p.received.Violations) > 0 {
			t.Errorf("%s was answered with %d: %v", p.received.Path, p.received.Status, p.received.Violations)
		}
		sameHeaders(t, p)
		if !p.conversation(a) {
			continue
		}
		turns = append(turns, p)
		sentBytes, arrivedBytes = sentBytes+len(p.before), arrivedBytes+len(p.after)
		if len(p.after) < len(p.before) {
			smaller++
		}
	}
	if len(turns) < 9 {
		t.Errorf("%d turns", len(turns))
	}
	if rewritten := b.sum(t, "trimtab_requests_total", `outcome="rewritten"`); a.plain != (smaller == 0) || a.plain != (rewritten == 0) {
		t.Errorf("%d turns were made smaller, and %v requests were rewritten", smaller, rewritten)
	}
	for _, name := range []string{"trimtab_prefix_violations_total", "trimtab_prefix_rewrites_total", "trimtab_panics_total"} {
		if n := b.sum(t, name, ""); n != 0 {
			t.Errorf("%s is %v", name, n)
		}
	}
	lawHolds(t, a, turns)
	billsRead(t, b, all)
	for _, e := range b.Access(t, len(all)) {
		if filter, _ := e["filter"].(map[string]any); filter["failed_open"] == true {
			t.Errorf("went on without trimtab: %v", e)
		}
	}
	t.Logf("%d requests, %d turns; of the turns' %d bytes %d arrived (%.1f %% saved), %d were made smaller; %s",
		len(all), len(turns), sentBytes, arrivedBytes, 100*(1-float64(arrivedBytes)/float64(sentBytes)), smaller, b.components(t))
}

// pairUp finds for each request that the agent sent the one that arrived, and
// fails if one of them is without the other.
func pairUp(t *testing.T, b *bench, wire promptcache.Wire) []passed {
	t.Helper()
	var waiting []passed
	for _, s := range b.tap.requests(t) {
		if !s.upgrade() {
			waiting = append(waiting, passed{sent: s, before: decoded(t, s.Header, s.body)})
		}
	}
	received := b.Provider.Received()
	var all []passed
	// Those that were not changed first, so that none is taken for another.
	for _, fits := range []func(p passed, after []byte) bool{
		func(p passed, after []byte) bool { return bytes.Equal(p.before, after) },
		func(p passed, after []byte) bool {
			_, err := componenttest.Edits(transcript.Dialect(wire), p.before, after)
			return err == nil && len(after) < len(p.before) && len(provider.Altered(wire, p.before, after)) == 0 && len(provider.Added(wire, p.before, after)) == 0
		},
	} {
		var left []provider.Received
		for _, r := range received {
			after := decoded(t, r.Header, r.Body)
			i := slices.IndexFunc(waiting, func(p passed) bool {
				return p.sent.Method == r.Method && p.sent.URL.Path == r.Path && p.sent.URL.RawQuery == r.Query &&
					p.sent.UserAgent() == r.Header.Get("User-Agent") && fits(p, after)
			})
			if i < 0 {
				left = append(left, r)
				continue
			}
			p := waiting[i]
			p.received, p.after = r, after
			all = append(all, p)
			waiting = slices.Delete(waiting, i, i+1)
		}
		received = left
	}
	for _, p := range waiting {
		t.Errorf("%s %s of %d bytes has not arrived as it may", p.sent.Method, p.sent.RequestURI, len(p.sent.body))
	}
	for _, r := range received {
		t.Errorf("%s %s?%s of %d bytes has arrived otherwise than it was sent", r.Method, r.Path, r.Query, len(r.Body))
	}
	// In the order of the conversation: the transcript grows.
	slices.SortStableFunc(all, func(x, y passed) int { return len(x.before) - len(y.before) })
	return all
}

// sameHeaders: every header arrives as it was sent, but for those of one
// connection, and for what describes a body that was changed.
func sameHeaders(t *testing.T, p *passed) {
	t.Helper()
	for name, values := range p.sent.Header {
		switch name {
		case "Connection", "Keep-Alive", "Transfer-Encoding":
			continue
		case "Content-Length", "Content-Encoding":
			if !bytes.Equal(p.before, p.after) {
				continue
			}
		}
		if got := p.received.Header[name]; !slices.Equal(got, values) {
			t.Errorf("%s: header %s arrived as %q, not as %q", p.sent.RequestURI, name, got, values)
		}
	}
	for name := range p.received.Header {
		if _, ok := p.sent.Header[name]; !ok && name != "X-Forwarded-Proto" && name != "Content-Length" {
			t.Errorf("%s: header %s was added", p.sent.RequestURI, name)
		}
	}
}

// lawHolds: what a request has in common with a later one reaches the provider the
// same in both, by a judge of its own.
func lawHolds(t *testing.T, a agent, turns []*passed) {
	t.Helper()
	d := transcript.Dialect(a.wire)
	var before, after []componenttest.Elements
	for _, p := range turns {
		x, err := componenttest.Read(d, p.before)
		if err != nil {
			t.Fatal(err)
		}
		y, err := componenttest.Read(d, p.after)
		if err != nil {
			t.Fatal(err)
		}
		before, after = append(before, x), append(after, y)
	}
	compared := 0
	for i := range turns {
		for j := range i {
			for k := 0; k < len(before[j].Chain) && k < len(before[i].Chain) && before[j].Chain[k] == before[i].Chain[k]; k++ {
				compared++
				if after[j].Chain[k] != after[i].Chain[k] {
					t.Errorf("element %d of turn %d arrived otherwise in turn %d", k, j, i)
					break
				}
			}
		}
	}
	if compared < 100 && !a.plain {
		t.Errorf("only %d elements were compared", compared)
	}
}

// billsRead: trimtab has read every bill that the provider wrote.
func billsRead(t *testing.T, b *bench, all []passed) {
	t.Helper()
	var bills, tokens int
	for _, p := range all {
		// A stream of Chat has a bill only where the agent asks for it.
		stream := bytes.Contains(p.before, []byte(`"stream":true`)) || bytes.Contains(p.before, []byte(`"stream": true`))
		asked := !stream || p.received.Path != "/v1/chat/completions" || bytes.Contains(p.before, []byte(`"include_usage":true`))
		if u := p.received.Usage; p.received.Status == http.StatusOK && u.Output > 0 && asked {
			bills++
			tokens += u.Input() + u.Output
		}
	}
	if n := b.sum(t, "trimtab_billed_answers_total", ""); n != float64(bills) {
		t.Errorf("%v bills were read, of %d", n, bills)
	}
	if n := b.sum(t, "trimtab_billed_tokens_total", ""); n != float64(tokens) {
		t.Errorf("%v billed tokens were read, of %d", n, tokens)
	}
}

// decoded is a body without its encoding.
func decoded(t *testing.T, h http.Header, body []byte) []byte {
	t.Helper()
	switch encoding := h.Get("Content-Encoding"); encoding {
	case "":
		return body
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		plain, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return plain
	default:
		t.Fatalf("a body is encoded with %s", encoding)
		return nil
	}
}

// metrics are the lines of the admin server's page.
func (b *bench) metrics(t *testing.T) []string {
	t.Helper()
	resp, err := http.Get("http://" + b.Admin() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %v", resp.StatusCode, err)
	}
	return strings.Split(string(text), "\n")
}

// sum adds up the series of a metric that have a label. A metric without a series
// is not on the page, so the manual says whether there is one of the name.
func (b *bench) sum(t *testing.T, name, label string) float64 {
	t.Helper()
	manual, err := os.ReadFile(root + "/docs/operations.md")
	if err != nil || !bytes.Contains(manual, []byte("`"+name+"`")) {
		t.Fatalf("there is no metric %s: %v", name, err)
	}
	sum := 0.0
	for _, line := range b.metrics(t) {
		series, value, ok := strings.Cut(line, " ")
		if metric, labels, _ := strings.Cut(series, "{"); !ok || metric != name || !strings.Contains(labels, label) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		sum += n
	}
	return sum
}

// metric is one series.
func (b *bench) metric(t *testing.T, series string) float64 {
	t.Helper()
	name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
	return b.sum(t, name, labels)
}

// components says what each component has saved.
func (b *bench) components(t *testing.T) string {
	t.Helper()
	var parts []string
	for _, name := range []string{"textclean", "backref", "gutter", "searchfold", "cachesplit"} {
		label := `component="` + name + `",profile="default",turn="first"`
		if tokens := b.sum(t, "trimtab_component_saved_tokens_total", label); tokens > 0 {
			parts = append(parts, fmt.Sprintf("%s %v tokens in %v edits at first sight", name, tokens, b.sum(t, "trimtab_component_edits_total", label)))
		}
	}
	return strings.Join(parts, ", ")
}
