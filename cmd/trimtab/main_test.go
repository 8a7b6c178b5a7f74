package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asTrimtab makes the test binary be trimtab itself, for tests that need a
// process of its own.
const asTrimtab = "TRIMTAB_TEST_AS_TRIMTAB"

func TestMain(m *testing.M) {
	if os.Getenv(asTrimtab) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// trimtab carries out a command line in this process.
func trimtab(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	code = run(&app{ctx: ctx, stdout: &out, stderr: &errs, env: env}, args)
	return code, out.String(), errs.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trimtab.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestExitCodesAndMessages(t *testing.T) {
	good := write(t, "profiles: {default: {preset: balanced, storage: {level: off}, components: [{name: dedup}]}}\n")
	bad := write(t, "profiles:\n  default:\n    prest: safe\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string // in what is printed
	}{
		{"version", []string{"version"}, exitOK, "for Envoy 1.40 and newer"},
		{"help", []string{"--help"}, exitOK, "Run trimtab and an Envoy of its own"},
		{"help of a command", []string{"up", "--help"}, exitOK, "ANTHROPIC_BASE_URL"},
		{"no command", nil, exitUsage, "expected one of"},
		{"unknown command", []string{"fly"}, exitUsage, "unexpected argument fly"},
		{"unknown flag", []string{"up", "--fast"}, exitUsage, "unknown flag --fast"},
		{"upstream without a name", []string{"up", "--upstream", "https://x"}, exitUsage, "want NAME=URL"},
		{"upstream of another name", []string{"up", "--upstream", "google=https://x"}, exitUsage, "the name must be anthropic or openai"},
		{"preset that is none", []string{"up", "--preset", "max"}, exitUsage, `--preset: "max" is not one of off, cache, safe, conservative, balanced, coding, mcp or house`},
		{"level that is none", []string{"config", "show", "--level", "max"}, exitUsage, `--level: "max" is not one of off, metadata or everything`},
		{"strategy that is none", []string{"config", "show", "--cache-strategy", "ping"}, exitUsage, `--cache-strategy: "ping" is not one of none`},
		{"missing file", []string{"config", "check", "/nowhere.yaml"}, exitUsage, "/nowhere.yaml"},
		{"good file", []string{"config", "check", good}, exitOK, ": good"},
		{"good file with a note", []string{"config", "check", good}, exitOK, "dedup is done by backref"},
		{"good file with a warning", []string{"config", "check", good}, exitOK, "component mask does nothing at storage level off"},
		{"bad file", []string{"config", "check", bad}, exitError, `trimtab.yaml:3:5: unknown key "prest"`},
		{"bad file to serve", []string{"serve", "--config", bad}, exitError, `trimtab.yaml:3:5: unknown key "prest"`},
		{"shown", []string{"config", "show", "--config", good, "--preset", "safe"}, exitOK, "preset: safe # --preset"},
		{"shown from the environment", []string{"config", "show"}, exitOK, "level: off # env TRIMTAB_LEVEL"},
		{"filter", []string{"envoy", "filter"}, exitOK, "failure_mode_allow: true"},
		{"configuration", []string{"envoy", "config", "--profile", "coding"}, exitOK, "value: coding"},
		{"configuration of nonsense", []string{"envoy", "config", "--anthropic", "x"}, exitUsage, "neither an http nor an https URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := trimtab(t, []string{"TRIMTAB_LEVEL=off"}, c.args...)
			if code != c.code || !strings.Contains(stdout+stderr, c.want) {
				t.Errorf("code %d, want %d\n%s%s", code, c.code, stdout, stderr)
			}
			if c.code == exitOK && stderr != "" || c.code != exitOK && stdout != "" && !strings.Contains(stdout, "Usage:") {
				t.Errorf("on the wrong stream:\nstdout %s\nstderr %s", stdout, stderr)
			}
		})
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, command := range []string{"up", "serve", "replay", "config check", "config show", "envoy config", "envoy filter", "envoy validate", "version"} {
		code, stdout, _ := trimtab(t, nil, append(strings.Fields(command), "--help")...)
		if code != exitOK || !strings.Contains(stdout, "Usage: trimtab "+command) || len(strings.Split(stdout, "\n")) < 6 {
			t.Errorf("%s: %d %s", command, code, stdout)
		}
	}
}

func TestExamplesAreWhatThePrintersPrint(t *testing.T) {
	examples := filepath.Join("..", "..", "deploy", "examples")
	code, stdout, stderr := trimtab(t, nil, "envoy", "config")
	if code != exitOK {
		t.Fatal(stderr)
	}
	text, err := os.ReadFile(filepath.Join(examples, "envoy.yaml"))
	if err != nil || string(text) != stdout {
		t.Errorf("deploy/examples/envoy.yaml is stale: run make generate (%v)", err)
	}
	code, stdout, stderr = trimtab(t, nil, "config", "check", filepath.Join(examples, "config", "trimtab.yaml"))
	if code != exitOK || strings.Contains(stdout, "warning") {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
}

// Every command line in the documentation is one that is understood.
func TestDocumentedCommandLinesAreUnderstood(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, filepath.Join("..", "..", "README.md"), filepath.Join("..", "..", "deploy", "examples", "README.md"))
	t.Chdir(filepath.Join("..", "..")) // as a reader would be
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(strings.TrimPrefix(page, filepath.Join("..", "..")+string(filepath.Separator)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), "bin/trimtab ")
			if !ok {
				continue
			}
			seen++
			if strings.Contains(rest, "../shared/") {
				continue // recorded conversations that not everyone has
			}
			parser, err := newParser(&app{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(strings.Fields(rest)); err != nil {
				t.Errorf("%s: trimtab %s: %v", page, rest, err)
			}
		}
	}
	if seen < 4 {
		t.Errorf("saw only %d command lines", seen)
	}
}
