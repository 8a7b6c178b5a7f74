package agents

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// opencode speaks all three dialects, by the model that it is given.
func opencode(name, model, path string, wire promptcache.Wire, editing bool) agent {
	tl := tools{
		shell: func(command string) provider.Call {
			return call("bash", "command", command, "description", "Run a command")
		},
		read: func(work string) provider.Call {
			return call("read", "filePath", filepath.Join(work, "shiftplan/roster.py"))
		},
		grep: func(string) provider.Call { return call("grep", "pattern", "def ") },
		editFile: func(work string) provider.Call {
			return call("edit", "filePath", filepath.Join(work, "shiftplan/roster.py"), "oldString", wrong, "newString", right)
		},
	}
	if !editing { // with some models it offers patches alone
		tl.editFile = func(string) provider.Call { return tl.shell(edit) }
	}
	return agent{
		name: "opencode with " + name, programs: []string{
			"node_modules/opencode-linux-" + arch() + "-baseline/bin/opencode", "node_modules/opencode-linux-" + arch() + "/bin/opencode",
		},
		wire: wire, path: path, script: tl.script,
		run: func(t *testing.T, b *bench) { runOpencode(t, b, model) },
	}
}

func opencodeMessages() agent {
	return opencode("Messages", "anthropic/claude-sonnet-4-5", "/v1/messages", promptcache.WireAnthropic, true)
}

func opencodeChat() agent {
	return opencode("Chat", "chat/gpt-4.1", "/v1/chat/completions", promptcache.WireChat, true)
}

func opencodeResponses() agent {
	return opencode("Responses", "openai/gpt-5.1", "/v1/responses", promptcache.WireResponses, false)
}

func runOpencode(t *testing.T, b *bench, model string) {
	url := map[string]any{"baseURL": b.tap.url + "/v1"}
	config, err := json.Marshal(map[string]any{
		"autoupdate": false, "share": "disabled", "permission": map[string]any{"*": "allow"},
		"provider": map[string]any{
			"anthropic": map[string]any{"options": url},
			"openai":    map[string]any{"options": url},
			"chat": map[string]any{
				"npm": "@ai-sdk/openai-compatible", "name": "Chat", "models": map[string]any{"gpt-4.1": map[string]any{"name": "gpt-4.1"}},
				"options": map[string]any{"baseURL": b.tap.url + "/v1", "apiKey": "none"},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.env = append(
		b.env, "OPENCODE_CONFIG_CONTENT="+string(config), "ANTHROPIC_API_KEY=sk-ant-none", "OPENAI_API_KEY=sk-none",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_SHARE=1",
	)
	out := b.start(t, "run", "--format", "json", "-m", model, task)
	if !strings.Contains(out, done) || strings.Contains(out, `"type":"error"`) {
		t.Errorf("ended with %s", out)
	}
	corrected(t, b.work)
}
