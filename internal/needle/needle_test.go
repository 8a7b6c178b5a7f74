package needle

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/components/cmdfilter"
	"github.com/trimtab-io/trimtab/internal/config"
	"github.com/trimtab-io/trimtab/internal/corpus"
	"github.com/trimtab-io/trimtab/internal/replay"
	"github.com/trimtab-io/trimtab/internal/service"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	"github.com/trimtab-io/trimtab/store"
)

// conversations are the recorded ones, in order.
func conversations(t *testing.T) []*replay.Conversation {
	t.Helper()
	files, err := replay.Files([]string{corpus.Path(t, "dev/conversations")})
	if err != nil {
		t.Fatal(err)
	}
	var all []*replay.Conversation
	for _, f := range files {
		c, err := replay.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// result is a recorded tool result that stands last in a request.
type result struct {
	name      string
	dialect   transcript.Dialect
	path      string
	anthropic bool
	body      []byte
	span      transcript.Span // of its text in the body
	text      string
	failed    bool
}

// lastResult is the last result of one text in the body, if there is one.
func lastResult(c *replay.Conversation, k int) (r result, ok bool) {
	body := c.Body(k)
	d := transcript.Dialect(c.Wire)
	t, err := transcript.Parse(d, body)
	if err != nil || len(t.Results) == 0 {
		return r, false
	}
	last := t.Results[len(t.Results)-1]
	if last.Mixed || len(last.Texts) != 1 || last.Call < 0 {
		return r, false
	}
	span := last.Texts[0].Span
	text, lossy := transcript.Decode(body[span.Start:span.End])
	return result{
		name: fmt.Sprintf("%s/%d", c.ID, k), dialect: d, path: c.Endpoint, anthropic: d == transcript.Anthropic,
		body: body, span: span, text: text, failed: last.IsError,
	}, !lossy
}

// with is the body with another text in the result's place.
func (r result) with(text string) []byte {
	raw := append(transcript.Escape([]byte{'"'}, text), '"')
	return slices.Concat(r.body[:r.span.Start], raw, r.body[r.span.End:])
}

// forwarded is the text of the last result as a preset forwards it, and the whole
// body.
func (r result) forwarded(t *testing.T, e *pipeline.Engine, body []byte) (text string, whole []byte) {
	t.Helper()
	x := e.Rewrite(context.Background(), pipeline.Request{Path: r.path, AnthropicVersion: r.anthropic, Body: body, Now: time.Unix(1e9, 0)})
	defer x.Close()
	whole = bytes.Clone(x.Body())
	tr, err := transcript.Parse(r.dialect, whole)
	if err != nil {
		t.Fatal(err)
	}
	span := tr.Results[len(tr.Results)-1].Texts[0].Span
	text, _ = transcript.Decode(whole[span.Start:span.End])
	return text, whole
}

// engine makes an engine of a preset; lossy leaves the components out whose text
// the verifier can undo.
func engine(t *testing.T, preset string, lossy bool) *pipeline.Engine {
	t.Helper()
	effective, err := config.Load(config.Options{Environ: []string{"TRIMTAB_PRESET=" + preset, "TRIMTAB_LEVEL=off"}})
	if err != nil {
		t.Fatal(err)
	}
	profiles, _, err := service.Profiles(effective)
	if err != nil {
		t.Fatal(err)
	}
	p := profiles[0]
	if lossy {
		p.Components = slices.DeleteFunc(slices.Clone(p.Components), func(c pipeline.Component) bool { return c.Describe().Reversible })
	}
	p.Limits.Deadline = 0
	e := pipeline.New(pipeline.Options{Secret: []byte("needle"), Store: store.Store{Level: store.Off}, Verifier: verify.New()})
	e.Apply([]pipeline.Profile{p}, p.Name)
	return e
}

var word = regexp.MustCompile(`[a-z]{6,12}`)

// plant puts a word that stands nowhere else in the place of one of the text's
// words, so that the text keeps its shape.
func plant(r result, i int) (text, fact string, ok bool) {
	all := word.FindAllStringIndex(r.text, -1)
	if len(all) == 0 {
		return "", "", false
	}
	h := fnv.New32()
	fmt.Fprint(h, r.name)
	at := all[int(h.Sum32())%len(all)]
	fact = fmt.Sprintf("qxneedle%04d", i)
	return r.text[:at[0]] + fact + r.text[at[1]:], fact, !bytes.Contains(r.body, []byte(fact))
}

// A fact planted in a recorded result is still in what is forwarded, or the marks
// of the result count every line that is not.
func TestNeedle(t *testing.T) {
	var planted []result
	for _, c := range conversations(t) {
		for k := 3; k < len(c.Turns); k += 7 {
			if r, ok := lastResult(c, k); ok && len(r.text) >= 200 {
				planted = append(planted, r)
			}
		}
	}
	n := min(needles, len(planted))
	if n < needles && needles == 200 {
		t.Errorf("only %d results", n)
	}
	for _, preset := range config.Presets() {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			whole, lossy := engine(t, preset, false), engine(t, preset, true)
			cut := 0
			for i := range n {
				r := planted[i*len(planted)/n]
				text, fact, ok := plant(r, i)
				if !ok {
					continue
				}
				body := r.with(text)
				if _, out := r.forwarded(t, whole, body); bytes.Contains(out, []byte(fact)) {
					continue
				}
				cut++
				left, _ := r.forwarded(t, lossy, body)
				lines, items := verify.Cuts(text, left), verify.Items(text, left)
				if lines != nil && items != nil || !strings.Contains(left, "[trimtab ") {
					t.Errorf("%s: the fact %s is gone and no mark counts it: %v; %v", r.name, fact, lines, items)
				}
			}
			t.Logf("%d of %d facts stand behind a mark that counts them", cut, n)
		})
	}
}

// failure is what tells of a failure, whatever made the text. It shares nothing
// with the product's own judgement.
var failure = regexp.MustCompile(`(?i)\b(error|errors|failed|fatal|panic|exception|traceback|denied|not found|undefined|cannot)\b|exit(ed)? (with )?(code|status)`)

// harmless are lines that have such a word and tell of no failure: what passed, with
// its zeros, and what Maven says behind every failure.
var harmless = regexp.MustCompile(`(?i)(failures|errors|failed)[:=] ?0\b.*(failures|errors|skipped)|^\[ERROR\] (To see the full stack trace|Re-run Maven|For more information about the errors|\[Help \d\] http)`)

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// located is what a compiler writes before its message. searchfold may say a path
// once for several lines.
var located = regexp.MustCompile(`^\S+?(:\d+(:\d+)?|\(\d+,\d+\)):\s*`)

// The lines of failures survive every preset: of recorded ones first, then of the
// failing fixtures of the filters. Components whose text the verifier can undo may
// write the place of a message otherwise, never the message.
func TestFailuresSurvive(t *testing.T) {
	var failing []result
	for _, c := range conversations(t) {
		for k := range c.Turns {
			if r, ok := lastResult(c, k); ok && (r.failed || exitCode.MatchString(r.text)) && failure.MatchString(r.text) {
				failing = append(failing, r)
			}
		}
	}
	t.Logf("%d recorded failures", len(failing))
	if len(failing) < 60 {
		t.Errorf("only %d recorded failures", len(failing))
	}
	failing = append(failing, fixtures(t)...)
	if len(failing) < 120 {
		t.Errorf("only %d failures", len(failing))
	}
	stride := max(1, len(failing)/failures)
	for _, preset := range config.Presets() {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			whole, lossy := engine(t, preset, false), engine(t, preset, true)
			for i := 0; i < len(failing); i += stride {
				r := failing[i]
				got, _ := r.forwarded(t, lossy, r.body)
				short, _ := r.forwarded(t, whole, r.body)
				for line := range strings.Lines(r.text) {
					line = strings.TrimSpace(escapes.ReplaceAllString(line, ""))
					if !failure.MatchString(line) || harmless.MatchString(line) || strings.Contains(line, "\r") {
						continue
					}
					place := located.FindString(line)
					message := line[len(place):]
					place = strings.TrimRight(place, ": ")
					// A message that stands at several places may be said once, with a mark
					// that lists the others.
					grouped := strings.Contains(got, message) && place != "" && strings.Contains(got, place)
					if !strings.Contains(got, line) && !grouped || !strings.Contains(short, message) {
						t.Errorf("%s: %q is gone", r.name, line)
					}
				}
			}
		})
	}
}

var exitCode = regexp.MustCompile(`(?m)^(Exit code|Process exited with code|Command exited with code) [1-9]`)

// fixtures are the failing outputs that the filters are tested with, as results of
// a shell tool that says that they failed.
func fixtures(t *testing.T) (all []result) {
	t.Helper()
	names, files, err := cmdfilter.FixtureFiles()
	if err != nil {
		t.Fatal(err)
	}
	for i, data := range files {
		found, err := cmdfilter.ReadFixtures(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Kind != cmdfilter.FixtureFail {
				continue
			}
			r := result{name: names[i] + " " + f.Name(), dialect: transcript.Anthropic, path: "/v1/messages", anthropic: true, failed: true, text: f.Input}
			command := transcript.Escape(nil, f.Command)
			head := fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"%s"}}]},`+
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":`, command)
			r.body = []byte(head + `""}]}]}`)
			r.span = transcript.Span{Start: len(head), End: len(head) + 2}
			r.body = r.with(f.Input)
			all = append(all, r)
		}
	}
	return all
}
