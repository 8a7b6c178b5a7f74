package agents

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// codex is run with a key and with the login of an account: with that it
// compresses its requests with zstd, and talks to the account's own API as well.
func codex(name string, login func(t *testing.T, b *bench)) agent {
	shell := func(command string) provider.Call { return call("exec_command", "cmd", command) }
	tl := tools{
		shell:    shell,
		read:     func(string) provider.Call { return shell("sed -n '1,400p' shiftplan/roster.py") },
		grep:     func(string) provider.Call { return shell("grep -rn 'def ' shiftplan") },
		editFile: func(string) provider.Call { return shell(edit) },
	}
	return agent{
		name:     "Codex with a " + name,
		programs: []string{"node_modules/@openai/codex-linux-" + arch() + "/vendor/" + triple() + "/bin/codex"},
		wire:     promptcache.WireResponses, path: "/v1/responses", script: tl.script,
		run: func(t *testing.T, b *bench) {
			config := fmt.Sprintf("openai_base_url = %q\nchatgpt_base_url = %q\nmodel = \"gpt-5.1\"\nmodel_reasoning_effort = \"low\"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n", b.tap.url+"/v1", b.tap.url+"/backend-api/")
			write(t, filepath.Join(b.home, ".codex/config.toml"), config)
			login(t, b)
			out := b.start(t, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task)
			if !strings.Contains(out, done) {
				t.Errorf("ended with %q", out)
			}
			corrected(t, b.work)
		},
		check: func(t *testing.T, b *bench) {
			checkCodex(t, b)
			if name == "login" {
				checkCodexLogin(t, b)
			}
		},
	}
}

func triple() string {
	return map[string]string{"x64": "x86_64", "arm64": "aarch64"}[arch()] + "-unknown-linux-musl"
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func codexKey(t *testing.T, b *bench) {
	write(t, filepath.Join(b.home, ".codex/auth.json"), `{"OPENAI_API_KEY":"sk-none"}`)
}

// codexLogin leaves what a login leaves, with tokens that nobody has signed.
func codexLogin(t *testing.T, b *bench) {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	token := part(`{"alg":"none","typ":"JWT"}`) + "." +
		part(`{"email":"nobody@example.com","exp":4102444800,"https://api.openai.com/auth":{"chatgpt_plan_type":"pro","chatgpt_user_id":"none","chatgpt_account_id":"none"}}`) + "." + part("none")
	write(t, filepath.Join(b.home, ".codex/auth.json"), fmt.Sprintf(
		`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":%q,"access_token":%q,"refresh_token":"none","account_id":"none"},"last_refresh":%q}`,
		token, token, time.Now().UTC().Format(time.RFC3339),
	))
}

// checkCodex: it asks for a WebSocket once, is refused, and goes on without.
func checkCodex(t *testing.T, b *bench) {
	upgrades := 0
	for _, s := range b.tap.requests(t) {
		if !s.upgrade() {
			continue
		}
		upgrades++
		if !strings.HasPrefix(s.answer, "HTTP/1.1 426 ") {
			t.Errorf("the request for a WebSocket was answered with %q", s.answer)
		}
	}
	if upgrades != 1 {
		t.Errorf("it asked for a WebSocket %d times", upgrades)
	}
	reasoning := 0
	for _, r := range b.Provider.Received() {
		if r.Method == http.MethodPost && strings.Contains(string(decoded(t, r.Header, r.Body)), `"encrypted_content":"`) {
			reasoning++
		}
	}
	if reasoning < 8 {
		t.Errorf("%d requests carried encrypted reasoning", reasoning)
	}
}

// checkCodexLogin: every request of the conversation was compressed, and those to
// the account's API reached the provider.
func checkCodexLogin(t *testing.T, b *bench) {
	compressed := 0
	for _, s := range b.tap.requests(t) {
		if s.Method == http.MethodPost && s.URL.Path == "/v1/responses" && s.Header.Get("Content-Encoding") == "zstd" {
			compressed++
		}
	}
	if compressed < 9 {
		t.Errorf("%d requests were compressed with zstd", compressed)
	}
	models, backend := 0, 0
	for _, r := range b.Provider.Received() {
		if r.Path == "/v1/models" && r.Status == http.StatusOK && strings.HasPrefix(r.Query, "client_version=") {
			models++
		}
		if strings.HasPrefix(r.Path, "/backend-api/") {
			backend++
		}
	}
	if models == 0 || backend == 0 {
		t.Errorf("%d requests for the models and %d to the account's API arrived", models, backend)
	}
}
