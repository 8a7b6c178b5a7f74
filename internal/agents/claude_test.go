package agents

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

func claudeCode() agent {
	tl := tools{
		shell: func(command string) provider.Call {
			return call("Bash", "command", command, "description", "Run a command")
		},
		read: func(work string) provider.Call {
			return call("Read", "file_path", filepath.Join(work, "shiftplan/roster.py"))
		},
		grep: func(string) provider.Call {
			return call("Grep", "pattern", "def ", "output_mode", "content")
		},
		editFile: func(work string) provider.Call {
			return call("Edit", "file_path", filepath.Join(work, "shiftplan/roster.py"), "old_string", wrong, "new_string", right)
		},
	}
	return agent{
		name:     "Claude Code",
		programs: []string{"node_modules/@anthropic-ai/claude-code-linux-" + arch() + "/claude"},
		wire:     promptcache.WireAnthropic, path: "/v1/messages", script: tl.script,
		run: runClaudeCode, check: checkClaudeCode,
	}
}

func runClaudeCode(t *testing.T, b *bench) {
	b.env = append(
		b.env, "ANTHROPIC_BASE_URL="+b.tap.url, "ANTHROPIC_API_KEY=sk-ant-none",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	)
	args := []string{"--output-format", "json", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash,Read,Grep,Edit"}
	out := b.start(t, append([]string{"-p", task}, args...)...)
	var result struct {
		IsError bool   `json:"is_error"`
		Turns   int    `json:"num_turns"`
		Result  string `json:"result"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.IsError || result.Result != done || result.Turns < 9 {
		t.Errorf("ended with %+v, %v", result, err)
	}
	corrected(t, b.work)
	// It counts the tokens of what it holds, piece by piece and as a whole.
	if out := b.start(t, append([]string{"--continue", "-p", "/context"}, args...)...); !strings.Contains(out, "claude-sonnet-4-5") {
		t.Errorf("counted %s", out)
	}
}

func checkClaudeCode(t *testing.T, b *bench) {
	counts, betas, thinking := 0, 0, 0
	for _, r := range b.Provider.Received() {
		if r.Path == "/v1/messages/count_tokens" && r.Status == http.StatusOK {
			counts++
		}
		if r.Query == "beta=true" {
			betas++
		}
		if strings.Contains(string(r.Body), `"type":"thinking"`) && strings.Contains(string(r.Body), `"signature":`) {
			thinking++
		}
	}
	if counts == 0 || betas < counts+9 {
		t.Errorf("%d counts of tokens and %d requests with the query arrived", counts, betas)
	}
	if thinking < 8 {
		t.Errorf("%d requests carried signed thinking", thinking)
	}
}
