package agents

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/envoytest"
	"github.com/trimtab-io/trimtab/internal/provider"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

const (
	root      = "../.."
	installed = root + "/.tools/agents/"
	// task is what the agents are told; the script does not depend on it.
	task = "Find out why shifts that end after midnight are reported with a negative length, and correct it."
	// done is the model's last word.
	done = "All eight steps are done."
	// patience is how long one run of an agent may take on a busy machine.
	patience = 2 * time.Minute
)

// agent is one way to run one agent.
type agent struct {
	name string
	// programs are where its program may be, below the folder of the agents.
	programs []string
	wire     promptcache.Wire
	// path is where it sends its conversation.
	path   string
	script func(work string) []provider.Answer
	// run runs it to its end.
	run func(t *testing.T, b *bench)
	// check looks at what only this agent does.
	check func(t *testing.T, b *bench)
	// plain says that it puts what its tools say into plain text of the user.
	plain bool
}

func agents() []agent {
	return []agent{claudeCode(), codex("key", codexKey), codex("login", codexLogin), opencodeMessages(), opencodeChat(), opencodeResponses(), aider()}
}

// bench is what one agent runs on.
type bench struct {
	*envoytest.Rig
	tap        *tap
	program    string
	home, work string
	env        []string
	said       string // all that the agent printed
}

// Nothing but this machine is in reach of the agents.
func TestNobodyIsReached(t *testing.T) {
	if os.Getenv("TRIMTAB_AGENTS") == "" {
		t.Skip("real agents are run by `make test-tools`")
	}
	all, err := net.Interfaces()
	if err != nil || len(all) != 1 || all[0].Flags&net.FlagLoopback == 0 {
		t.Fatalf("the interfaces are %v, %v", all, err)
	}
}

func TestAgents(t *testing.T) {
	if os.Getenv("TRIMTAB_AGENTS") == "" {
		t.Skip("real agents are run by `make test-tools`")
	}
	for _, a := range agents() {
		t.Run(a.name, func(t *testing.T) {
			b := newBench(t, a)
			a.run(t, b)
			if t.Failed() {
				t.Fatalf("it said:\n%s", b.said)
			}
			judge(t, b, a)
			if a.check != nil {
				a.check(t, b)
			}
			if t.Failed() {
				t.Logf("it said:\n%s", b.said)
			}
		})
	}
}

func newBench(t *testing.T, a agent) *bench {
	t.Helper()
	b := &bench{home: t.TempDir(), work: t.TempDir()}
	for _, name := range a.programs {
		if path, err := filepath.Abs(installed + name); err != nil {
			t.Fatal(err)
		} else if _, err := os.Stat(path); err == nil {
			b.program = path
			break
		}
	}
	if b.program == "" {
		t.Skipf("%s is not installed for this machine: none of %q is in .tools/agents", a.name, a.programs)
	}
	writeWorkspace(t, b.work)
	b.Rig = envoytest.Start(t, envoytest.Options{
		Root: root, Secure: true,
		// The deadline is for a busy machine; the preset is the default one.
		Environ:  []string{"TRIMTAB_DEADLINE=30s"},
		Provider: provider.Config{Script: a.script(b.work), Keep: 1000},
	})
	b.tap = newTap(t, strings.TrimPrefix(b.URL(), "http://"))
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "TMPDIR=" + t.TempDir(), "LANG=C.UTF-8", "TERM=dumb",
		// There is no network; this makes what asks for it fail at once.
		"HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
		"DO_NOT_TRACK=1",
	}
	return b
}

// start runs the program to its end and returns what it printed on stdout.
func (b *bench) start(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Dir, cmd.Env = b.work, b.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// What the agent has started ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly nothing is left
	}
	b.said += stdout.String() + stderr.String()
	if err != nil {
		t.Errorf("%s: %v", filepath.Base(b.program), err)
	}
	return stdout.String()
}

// arch is how npm's packages call the machine.
func arch() string {
	var u syscall.Utsname
	if err := syscall.Uname(&u); err != nil {
		return "unknown"
	}
	var name []byte
	for _, c := range u.Machine {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	switch string(name) {
	case "x86_64":
		return "x64"
	case "aarch64":
		return "arm64"
	}
	return string(name)
}
