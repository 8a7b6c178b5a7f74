package main

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/envoy"
	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// fails runs trimtab, which must end with an error that holds each text.
func fails(t *testing.T, env []string, args []string, texts ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), asTrimtab+"=1"), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitError {
		t.Errorf("%v: %v\n%s", args, err, out)
	}
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			t.Errorf("%v: no %q in %s", args, text, out)
		}
	}
}

func envoyBinary(t *testing.T) string {
	t.Helper()
	binary, _, err := envoy.Find(t.Context(), "", filepath.Join("..", ".."))
	if errors.Is(err, envoy.ErrNotFound) {
		t.Skip("needs an Envoy: run `make setup`")
	}
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// Where nothing can be written trimtab does not start, says why, and leaves nothing
// behind.
func TestNoWriteAccess(t *testing.T) {
	binary := envoyBinary(t)
	tmp := t.TempDir()
	nowhere := filepath.Join(tmp, "file", "x")
	if err := os.WriteFile(filepath.Join(tmp, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	up := []string{"up", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--envoy", binary, "--upstream", "anthropic=http://127.0.0.1:1", "--upstream", "openai=http://127.0.0.1:1"}
	serve := []string{"serve", "--admin", "127.0.0.1:0"}
	with := func(list []string, more ...string) []string { return append(append([]string(nil), list...), more...) }

	fails(t, nil, with(serve, "--grpc", "unix:"+nowhere), "listen for Envoy", nowhere[:len(nowhere)-2])
	fails(t, nil, with(serve, "--grpc", "unix:"+filepath.Join(tmp, "file")), "is there and is no socket")
	fails(t, nil, []string{"serve", "--grpc", "127.0.0.1:0", "--admin", taken.Addr().String()}, "listen for the admin server", "address already in use")
	fails(t, []string{"TRIMTAB_SECRET_FILE=" + nowhere}, with(serve, "--grpc", "127.0.0.1:0"), "secret_file", nowhere)
	fails(t, nil, with(serve, "--grpc", "127.0.0.1:0", "--config", nowhere), nowhere)

	clean := t.TempDir()
	fails(t, []string{"TMPDIR=" + nowhere}, up, nowhere)
	fails(t, []string{"TMPDIR=" + clean}, with(up, "--pids", nowhere), "process ids", nowhere)
	fails(t, []string{"TMPDIR=" + clean}, with(up, "--access-log", nowhere), nowhere)
	if left, err := os.ReadDir(clean); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A log that can't be written costs the line and not the process.
func TestNobodyReadsTheLog(t *testing.T) {
	file := write(t, "profiles: {default: {preset: safe}}\n")
	server := startServe(t, filepath.Join(t.TempDir(), "s"), "TRIMTAB_CONFIG="+file)
	if err := server.stderr.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"nonsense", ""} {
		loaded := server.stat("config_refused")
		if text == "" {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := server.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for i := 0; server.stat("config_refused") <= loaded; i++ {
			if i == 1000 {
				t.Fatal("the changed configuration is not refused")
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if n := server.stat("config_stale"); n != 1 {
		t.Errorf("config_stale is %v", n)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.wait(t); err != nil {
		t.Error(err)
	}
}

// post sends one body to a provider's path.
func post(t *testing.T, url, id string, body []byte) (int, string) {
	t.Helper()
	r, err := envoytest.Post(t.Context(), envoytest.Client(t, false), url+"/v1/messages", body, true, envoytest.IDHeader, id)
	if err != nil {
		t.Error(err)
	}
	return r.Status, string(r.Body)
}

// A disk that fills up while trimtab runs costs the log, and no request.
func TestFullDisk(t *testing.T) {
	binary := envoyBinary(t)
	up := envoytest.StartUpstream(t)
	args := []string{"--upstream", "anthropic=" + up.URL, "--upstream", "openai=" + up.URL}
	sent := twice("disk", 60<<10, true)
	served := func(t *testing.T, url, id string) {
		t.Helper()
		status, answer := post(t, url, id, sent)
		if got := up.Take(id); status != http.StatusOK || answer != envoytest.Answer(id, true) || len(got.Body) > len(sent)*2/3 {
			t.Errorf("%s: %d, %d bytes of an answer, %d bytes arrived of %d", id, status, len(answer), len(got.Body), len(sent))
		}
	}
	t.Run("device", func(t *testing.T) {
		t.Setenv("TRIMTAB_DEADLINE", "30s")
		r := startUp(t, append(args, "--access-log", "/dev/full")...)
		for _, id := range []string{"a", "b", "c"} {
			served(t, r.url, id)
		}
		end(t, r)
	})
	t.Run("file system", func(t *testing.T) {
		disk := t.TempDir()
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=512k"); err != nil {
			t.Skipf("needs leave to mount a small file system: %v", err)
		}
		defer syscall.Unmount(disk, syscall.MNT_DETACH)
		fill := func() {
			f, err := os.OpenFile(filepath.Join(disk, "filler"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for { // the last page too
				if _, err := f.Write(bytes.Repeat([]byte{1}, 4096)); err != nil {
					return
				}
			}
		}
		fill()
		fails(t, []string{"TMPDIR=" + disk}, append([]string{"up", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--envoy", binary}, args...), "no space left on device")
		if left, err := filepath.Glob(filepath.Join(disk, "trimtab*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
			t.Fatal(err)
		}

		t.Setenv("TRIMTAB_DEADLINE", "30s")
		config := filepath.Join(disk, "trimtab.yaml")
		if err := os.WriteFile(config, []byte("profiles: {default: {preset: conservative}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := startUpIn(t, disk, append(args, "--config", config, "--access-log", filepath.Join(disk, "access.json"))...)
		served(t, r.url, "before")
		fill()
		for _, id := range []string{"after-1", "after-2", "after-3"} {
			served(t, r.url, id)
		}
		// An editor without room leaves an empty file or half of one.
		if err := os.WriteFile(config, []byte("profiles: {default: {pre"), 0o600); err != nil {
			t.Log(err)
		}
		time.Sleep(300 * time.Millisecond)
		served(t, r.url, "after-4")
		end(t, r)
		if left, err := filepath.Glob(filepath.Join(disk, "trimtab-*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// end tells it to stop, and waits until it and its Envoy are gone.
func end(t *testing.T, r *running) {
	t.Helper()
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
	gone(t, r.envoy)
}

// A log over the limit of a file's size costs the line and not the process.
func TestLogOverTheFileLimit(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 0; exec "$0" serve --grpc "unix:$1" --admin 127.0.0.1:0 2>>"$2"`, os.Args[0], socket, log)
	cmd.Env = append(os.Environ(), asTrimtab+"=1", "TRIMTAB_DRAIN_DELAY=1ms", "GOCOVERDIR=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			break
		}
		if i == 1000 {
			t.Error("it does not serve")
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // it has something to log by now
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
