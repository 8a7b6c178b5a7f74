package sdktest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the agent and what it needs
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

//go:embed requirements.txt
var requirements []byte

//go:embed agent.py
var agent []byte

// runTimeout bounds a run; a conversation takes a second or two.
const runTimeout = 5 * time.Minute

// SDK is the Python environment with the SDKs in it.
type SDK struct{ python string }

// Setup makes the environment, or finds it made. It takes about a minute the
// first time, and needs python3 with venv and a package index. Processes that
// call it at once wait for each other.
func Setup(ctx context.Context) (*SDK, error) {
	root, err := checkout()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, ".venv", "sdk")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	unlock, err := lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	sum := sha256.Sum256(requirements)
	stamp, want := filepath.Join(dir, ".done"), hex.EncodeToString(sum[:])
	s := &SDK{python: filepath.Join(dir, "bin", "python")}
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		return s, nil
	}
	if err := s.install(ctx, dir); err != nil {
		return nil, err
	}
	return s, os.WriteFile(stamp, []byte(want), 0o644)
}

func (s *SDK) install(ctx context.Context, dir string) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return fmt.Errorf("the SDK tests need python3: install Debian's package python3: %w", err)
	}
	if out, err := exec.CommandContext(ctx, python, "-m", "venv", "--clear", "--without-pip", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("the SDK tests need Python's venv: install Debian's package python3-venv: %w: %s", err, out)
	}
	if out, err := exec.CommandContext(ctx, s.python, "-m", "ensurepip").CombinedOutput(); err != nil {
		return fmt.Errorf("the SDK tests need Python's ensurepip: install Debian's package python3-venv: %w: %s", err, out)
	}
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, requirements, 0o644); err != nil {
		return err
	}
	pip := exec.CommandContext(ctx, s.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r", list)
	if out, err := pip.CombinedOutput(); err != nil {
		return fmt.Errorf("installing the SDKs: %w: %s", err, out)
	}
	return nil
}

// checkout is the root of the repository this file was compiled from.
func checkout() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", fmt.Errorf("the checkout can't be found")
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file))), nil
}

// lock takes a lock between processes.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// Conversation is one conversation to hold.
type Conversation struct {
	// API is messages, chat or responses.
	API string `json:"api"`
	// BaseURL is what the SDK is given: with OpenAI's it ends in /v1.
	BaseURL string `json:"base_url"`
	// Session is the conversation's id, as the client tells it.
	Session string `json:"session"`
	Stream  bool   `json:"stream"`
	// Stateful continues Responses by previous_response_id.
	Stateful bool `json:"stateful"`
}

// Name is the conversation's kind, for the name of a test.
func (c Conversation) Name() string {
	name := c.API
	if c.Stateful {
		name += " stateful"
	}
	if c.Stream {
		name += " stream"
	}
	return name
}

// Conversations lists one conversation of every kind, against a server that
// takes both providers' paths.
func Conversations(url string) []Conversation {
	var all []Conversation
	for _, stream := range []bool{false, true} {
		all = append(
			all,
			Conversation{API: "messages", BaseURL: url, Stream: stream},
			Conversation{API: "chat", BaseURL: url + "/v1", Stream: stream},
			Conversation{API: "responses", BaseURL: url + "/v1", Stream: stream},
			Conversation{API: "responses", BaseURL: url + "/v1", Stream: stream, Stateful: true},
		)
	}
	for i := range all {
		all[i].Session = "sdk-" + strings.ReplaceAll(all[i].Name(), " ", "-")
	}
	return all
}

// Outcome is how a conversation went.
type Outcome struct {
	Turns int    `json:"turns"` // how often the model spoke
	Calls int    `json:"calls"` // of tools
	Final string `json:"final"` // the model's last text
	// Usage is what each turn was billed, as the SDK read it.
	Usage []Usage `json:"usage"`
}

// Usage is one turn's bill.
type Usage struct {
	Fresh  int `json:"fresh"`
	Read   int `json:"read"`
	Write  int `json:"write"`
	Output int `json:"output"`
}

// Run holds the conversations to their end, one after the other, in one process.
// The outcomes are those of the conversations up to the first that failed.
func (s *SDK) Run(ctx context.Context, all []Conversation) ([]Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	list, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, s.python, "-", string(list))
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(agent), &out, &errs
	cmd.Env = append(os.Environ(), "NO_PROXY=*", "no_proxy=*", "PYTHONDONTWRITEBYTECODE=1")
	failed := cmd.Run()
	var outcomes []Outcome
	for dec := json.NewDecoder(&out); ; {
		var o Outcome
		if err := dec.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return outcomes, err
		}
		outcomes = append(outcomes, o)
	}
	if failed != nil {
		return outcomes, fmt.Errorf("the agent: %w\n%s", failed, errs.Bytes())
	}
	return outcomes, nil
}
