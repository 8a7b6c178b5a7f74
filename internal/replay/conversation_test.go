package replay

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/internal/corpus"
)

const expandScript = `
import sys, glob, hashlib
sys.path.insert(0, sys.argv[1] + '/tools')
import corpuslib
for path, conv in corpuslib.conversations(sys.argv[1] + '/dev'):
    n = len(conv['turns'])
    for k in sorted({0, 1 % n, n // 2, n - 1}):
        print(path, k, hashlib.sha256(corpuslib.body(conv, k)).hexdigest())
`

// The bodies are, byte for byte, those of the corpus's own tool.
func TestBodyEqualsReference(t *testing.T) {
	dir := filepath.Join(corpus.Path(t, "dev/conversations"), "..", "..")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed; the reference expansion is written in it")
	}
	out, err := exec.Command(python, "-c", expandScript, dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	conversations := map[string]*Conversation{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	n := 0
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		path, want := f[0], f[2]
		var k int
		fmt.Sscan(f[1], &k)
		if conversations[path] == nil {
			c, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			conversations[path] = c
		}
		sum := sha256.Sum256(conversations[path].Body(k))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: the body of turn %d differs", filepath.Base(path), k)
		}
		n++
	}
	if n < 100 {
		t.Errorf("only %d bodies were compared", n)
	}
}

func TestBody(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{
			"one breakpoint, on the last block that may carry it",
			`{"id":"c","provider":"anthropic","cache_style":"claude-code-1msg","head":{"model":"m","max_tokens":5},
			 "items":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"tool_use","id":"t"},{"type":"thinking","thinking":"x"},{"type":"text","text":""},{"type":"text"}]}],
			 "turns":[{"n":2,"ts":null}]}`,
			`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"tool_use","id":"t","cache_control":{"type":"ephemeral"}},{"type":"thinking","thinking":"x"},{"type":"text","text":""},{"type":"text"}]}],"max_tokens":5}`,
		},
		{
			"two breakpoints, a string becomes a block",
			`{"id":"c","provider":"anthropic","cache_style":"claude-code-2msg","head":{"model":"m"},
			 "items":[{"role":"user","content":"z"},{"content":"a \u00e9\u002f","role":"user"},{"role":"user","content":[{"type":"tool_result","content":[],"cache_control":{"ttl":"1h"},"n":1.0}]}],
			 "turns":[{"n":3}]}`,
			`{"model":"m","messages":[{"role":"user","content":"z"},{"content":[{"type":"text","text":"a \u00e9\u002f","cache_control":{"type":"ephemeral"}}],"role":"user"},{"role":"user","content":[{"type":"tool_result","content":[],"cache_control":{"type":"ephemeral"},"n":1.0}]}]}`,
		},
		{
			"nothing to mark",
			`{"id":"c","provider":"anthropic","cache_style":"pi","head":{"model":"m"},"items":[{"role":"assistant","content":[{"type":"thinking"}]}],"turns":[{"n":1}]}`,
			`{"model":"m","messages":[{"role":"assistant","content":[{"type":"thinking"}]}]}`,
		},
		{
			"chat",
			`{"id":"c","provider":"openai-chat","head":{"model":"m","tools":[]},"items":[{"role":"user","content":"a"}],"turns":[{"n":1}]}`,
			`{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[]}`,
		},
		{
			"responses, input after instructions",
			`{"id":"c","provider":"openai-responses","head":{"model":"m","instructions":"i","store":false},"items":[1, 2],"turns":[{"n":1}]}`,
			`{"model":"m","instructions":"i","input":[1],"store":false}`,
		},
		{
			"responses without instructions",
			`{"id":"c","provider":"openai-responses","head":{"model":"m"},"items":[1],"turns":[{"n":1}]}`,
			`{"model":"m","input":[1]}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Read(strings.NewReader(tc.file))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(c.Body(0)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"not json", `{"id":`, "conversation"},
		{"provider", `{"id":"c","provider":"gemini","head":{"model":"m"}}`, `provider "gemini"`},
		{"no id", `{"provider":"anthropic","head":{"model":"m"}}`, "id or head"},
		{"no model", `{"id":"c","provider":"anthropic","head":{"model":5}}`, "model"},
		{"too many items", `{"id":"c","provider":"anthropic","head":{"model":"m"},"items":[],"turns":[{"n":1}]}`, "turn 0 carries 1 of 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(tc.file)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v does not say %q", err, tc.want)
			}
		})
	}
}

func TestTurnTimes(t *testing.T) {
	c, err := Read(strings.NewReader(`{"id":"c","provider":"openai-chat","head":{"model":"m"},"items":[1],
		"turns":[{"n":1,"ts":null},{"n":1,"ts":null},{"n":1,"ts":1000.5},{"n":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{0, 20, 1000.5, 1020.5} {
		if got := c.Turns[k].At; got != want {
			t.Errorf("turn %d at %v, want %v", k, got, want)
		}
	}
}
