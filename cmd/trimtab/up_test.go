package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/envoy"
	"github.com/trimtab-io/trimtab/internal/provider"
)

// running is `trimtab up` in a process of its own.
type running struct {
	*exec.Cmd
	tmp, pids  string
	url, admin string
	printed    []string
	envoy      int
}

// startUp runs `trimtab up` until it is ready.
func startUp(t *testing.T, args ...string) *running {
	t.Helper()
	return startUpIn(t, t.TempDir(), args...)
}

// startUpIn is startUp with a folder for temporary files.
func startUpIn(t *testing.T, tmp string, args ...string) *running {
	t.Helper()
	binary, _, err := envoy.Find(t.Context(), "", filepath.Join("..", ".."))
	if errors.Is(err, envoy.ErrNotFound) {
		t.Skip("needs an Envoy: run `make setup`")
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &running{tmp: tmp}
	r.pids = filepath.Join(t.TempDir(), "pids")
	args = append([]string{"up", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--envoy", binary, "--pids", r.pids}, args...)
	r.Cmd = exec.Command(os.Args[0], args...)
	r.Env = append(os.Environ(), asTrimtab+"=1", "TMPDIR="+r.tmp)
	r.Stderr = os.Stderr
	stdout, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Process.Kill()
		r.Wait()
	})
	scanner := bufio.NewScanner(stdout)
	for r.url == "" && scanner.Scan() {
		line := scanner.Text()
		r.printed = append(r.printed, line)
		if rest, ok := strings.CutPrefix(line, "ready "); ok {
			r.url = rest
		}
		if rest, ok := strings.CutPrefix(line, "admin "); ok {
			r.admin, _, _ = strings.Cut(rest, " ")
		}
	}
	go io.Copy(io.Discard, stdout)
	data, err := os.ReadFile(r.pids)
	if err != nil {
		t.Fatalf("%v after %q", err, r.printed)
	}
	numbers := strings.Fields(string(data))
	if len(numbers) != 2 || numbers[0] != strconv.Itoa(r.Process.Pid) {
		t.Fatalf("process ids: %q", data)
	}
	if r.envoy, err = strconv.Atoi(numbers[1]); err != nil {
		t.Fatal(err)
	}
	return r
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// small is a request with nothing to shorten.
const small = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`

func fetch(t *testing.T, method, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("anthropic-version", "2023-06-01")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestUpServesAndEndsCleanly(t *testing.T) {
	p, err := provider.New(provider.Config{}).Start("", true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, p.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		r := startUp(t, "--upstream", "anthropic="+p.URL, "--upstream", "openai="+p.URL, "--upstream-ca", ca, "--preset", "balanced")
		text := strings.Join(r.printed, "\n")
		for _, want := range []string{"ANTHROPIC_BASE_URL=" + r.url, "OPENAI_BASE_URL=" + r.url + "/v1", "ready http://127.0.0.1:"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %s", want, text)
			}
		}
		code, _, stderr := trimtab(t, nil, "up", "--listen", strings.TrimPrefix(r.url, "http://"), "--admin", "127.0.0.1:0")
		if code != exitError || !strings.Contains(stderr, "choose another address with --listen") {
			t.Errorf("a second one on the same address: %d %s", code, stderr)
		}
		if code, body := fetch(t, http.MethodPost, r.url+"/v1/messages"); code != 200 {
			t.Errorf("%d %s", code, body)
		}
		if _, body := fetch(t, http.MethodGet, r.admin+"/config"); !strings.Contains(body, `"value": "balanced"`) {
			t.Errorf("%s", body)
		}
		if err := r.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := r.Wait(); err != nil {
			t.Errorf("%v: %v", signal, err)
		}
		gone(t, r.envoy)
		left, err := filepath.Glob(filepath.Join(r.tmp, "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%v left %v behind, %v", signal, left, err)
		}
		if _, err := os.Stat(r.pids); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file of process ids is left: %v", err)
		}
	}
}

func TestEnvoyEndsWithAKilledTrimtab(t *testing.T) {
	r := startUp(t, "--upstream", "anthropic=http://127.0.0.1:1", "--upstream", "openai=http://127.0.0.1:1")
	if err := r.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.Wait()
	gone(t, r.envoy)
}

// A server that hangs holds a request up for as long as Envoy's patience lasts,
// and no longer; the request arrives as it was sent.
func TestRequestsGoOnWhileTrimtabHangs(t *testing.T) {
	p, err := provider.New(provider.Config{}).Start("", false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := startUp(t, "--upstream", "anthropic="+p.URL, "--upstream", "openai="+p.URL)
	if err := r.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	code, body := fetch(t, http.MethodPost, r.url+"/v1/messages")
	if all := p.Received(); code != 200 || len(all) != 1 || string(all[0].Body) != small {
		t.Errorf("%d %s", code, body)
	}
	if err := r.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
}

func TestUpFailsWhenEnvoyDies(t *testing.T) {
	r := startUp(t, "--upstream", "anthropic=http://127.0.0.1:1", "--upstream", "openai=http://127.0.0.1:1")
	if err := syscall.Kill(r.envoy, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := r.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitError {
		t.Errorf("ended with %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(r.tmp, "*")); len(left) > 0 {
		t.Errorf("left %v behind", left)
	}
}

func TestUpFollowsItsConfiguration(t *testing.T) {
	file := write(t, "profiles: {default: {preset: safe}}\n")
	r := startUp(t, "--config", file, "--upstream", "anthropic=http://127.0.0.1:1", "--upstream", "openai=http://127.0.0.1:1")
	shows := func(want string) {
		t.Helper()
		for range 500 {
			if _, body := fetch(t, http.MethodGet, r.admin+"/config"); strings.Contains(body, want) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("/config does not show %q", want)
	}
	shows(`"value": "safe"`)
	if err := os.WriteFile(file, []byte("profiles: {default: {preset: balanced}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shows(`"value": "balanced"`)
	if err := os.WriteFile(file, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shows(`"refused": `)
	shows(`"value": "balanced"`)
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
}

func TestServeEndsCleanly(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "extproc.sock")
	cmd := exec.Command(os.Args[0], "serve", "--grpc", "unix:"+socket, "--admin", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asTrimtab+"=1", "TRIMTAB_DRAIN_DELAY=1ms", "TRIMTAB_LOG_FORMAT=json")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(stderr)
	scanner.Scan()
	var record struct{ Msg, GRPC, Admin string }
	if err := json.Unmarshal(scanner.Bytes(), &record); err != nil || record.Msg != "serving" || record.GRPC != "unix:"+socket {
		t.Errorf("%v %s", err, scanner.Bytes())
	}
	if code, body := fetch(t, http.MethodGet, record.Admin+"/readyz"); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}
