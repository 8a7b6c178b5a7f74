package agents

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// aider has no tools: it runs commands itself and puts what they print into the
// user's text, where trimtab leaves it alone.
func aider() agent {
	answer := "shiftplan/roster.py\n```python\n<<<<<<< SEARCH\n" + wrong + "\n=======\n" + right + "\n>>>>>>> REPLACE\n```\n" + done
	return agent{
		name: "aider", programs: []string{"aider/bin/aider"}, wire: promptcache.WireChat, path: "/v1/chat/completions",
		// It begins with an example, in which an assistant speaks as well.
		script: func(string) []provider.Answer { return slices.Repeat([]provider.Answer{{Text: answer}}, 100) },
		run:    runAider, check: checkAider, plain: true,
	}
}

func runAider(t *testing.T, b *bench) {
	b.env = append(
		b.env, "OPENAI_API_BASE="+b.tap.url+"/v1", "OPENAI_API_KEY=sk-none",
		"AIDER_ANALYTICS=false", "AIDER_CHECK_UPDATE=false", "LITELLM_LOCAL_MODEL_COST_MAP=True",
	)
	// It would fetch a list of prices, if it had none that is new.
	write(t, filepath.Join(b.home, ".aider/caches/model_prices_and_context_window.json"),
		`{"gpt-4.1":{"max_input_tokens":1000000,"max_output_tokens":32768,"input_cost_per_token":2e-06,"output_cost_per_token":8e-06,"litellm_provider":"openai","mode":"chat"}}`)
	commands := strings.Repeat("/run "+show+"\n/ask "+task+"\n", 8)
	write(t, filepath.Join(b.home, "commands"), commands)
	out := b.start(
		t, "--no-git", "--yes-always", "--no-show-release-notes", "--no-check-update", "--no-analytics", "--no-show-model-warnings",
		"--no-pretty", "--no-fancy-input", "--no-detect-urls", "--no-suggest-shell-commands", "--model", "openai/gpt-4.1",
		"--load", filepath.Join(b.home, "commands"), "--message", task, "shiftplan/roster.py", "README.md",
	)
	if strings.Count(out, done) < 9 {
		t.Errorf("ended with %s", out)
	}
	corrected(t, b.work)
}

func checkAider(t *testing.T, b *bench) {
	if n := b.metric(t, `trimtab_passthrough_total{profile="default",reason="no_tool_output"}`); n < 9 {
		t.Errorf("%v requests were passed on because no tool's output was in them", n)
	}
}
