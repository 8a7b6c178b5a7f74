package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// serving is `trimtab serve` in a process of its own.
type serving struct {
	*exec.Cmd
	admin  string // its URL
	stderr io.Closer
	ended  chan error
}

// startServe runs `trimtab serve` until it serves. It is killed with the test.
func startServe(t *testing.T, socket string, env ...string) *serving {
	t.Helper()
	s := &serving{ended: make(chan error, 1)}
	s.Cmd = exec.Command(os.Args[0], "serve", "--grpc", "unix:"+socket, "--admin", "127.0.0.1:0")
	s.Env = append(os.Environ(), asTrimtab+"=1", "TRIMTAB_LOG_FORMAT=json", "TRIMTAB_DEADLINE=30s")
	s.Env = append(s.Env, env...)
	stderr, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stderr = stderr
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(stderr)
	for s.admin == "" && scanner.Scan() {
		var record struct{ Msg, Admin string }
		if err := json.Unmarshal(scanner.Bytes(), &record); err != nil {
			t.Errorf("%v: %s", err, scanner.Bytes())
		}
		if record.Msg == "serving" {
			s.admin = record.Admin
		}
	}
	go func() {
		io.Copy(io.Discard, stderr)
		s.ended <- s.Wait()
	}()
	t.Cleanup(func() { s.die(t) })
	if s.admin == "" {
		t.Fatal("it does not serve")
	}
	return s
}

// die kills the process, and waits until it is gone. It may be called again.
func (s *serving) die(t *testing.T) {
	s.Process.Kill()
	s.wait(t)
}

// wait waits until the process is gone.
func (s *serving) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.ended:
		s.ended <- err
		return err
	case <-time.After(20 * time.Second):
		t.Error("it does not end")
		return nil
	}
}

// stat is one number of /stats; -1 while there is no answer.
func (s *serving) stat(key string) float64 {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(s.admin + "/stats")
	if err != nil {
		return -1
	}
	defer resp.Body.Close()
	var all map[string]any
	if json.NewDecoder(resp.Body).Decode(&all) != nil {
		return -1
	}
	n, _ := all[key].(float64)
	return n
}

// twice is a request in which a file is read twice.
func twice(session string, size int, stream bool) []byte {
	var file strings.Builder
	for i := 1; file.Len() < size/2; i++ {
		fmt.Fprintf(&file, "%6d\tfunc handle%d(ctx context.Context) error { return serve(ctx, %d) }\n", i, i, i*i)
	}
	text, err := json.Marshal(file.String())
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"claude-sonnet-4-5","max_tokens":9,"stream":%v,"metadata":{"user_id":"{\"session_id\":\"%s\"}"},"messages":[{"role":"user","content":"Read it."}`, stream, session)
	for i := range 2 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"file_path":"/src/a.go"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%s}]}`, i, i, text)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// halves is a body of which the second half comes only after wait.
type halves struct {
	io.Reader
	wait func()
}

func newHalves(b []byte, wait func()) io.Reader {
	return io.MultiReader(bytes.NewReader(b[:len(b)/2]), &halves{bytes.NewReader(b[len(b)/2:]), wait})
}

func (h *halves) Read(b []byte) (int, error) {
	if h.wait != nil {
		h.wait()
		h.wait = nil
	}
	return h.Reader.Read(b)
}

// The process is killed, or stops moving, at each point of an exchange. What
// arrives at the provider is what was sent or what it became, and the answer is
// whole.
func TestKilledAtEachPoint(t *testing.T) {
	if os.Getenv("TRIMTAB_FAULTS") == "" {
		t.Skip("make test runs it by itself at the end, since it counts what it injects: make test-faults")
	}
	const path = "/v1/messages"
	up := envoytest.StartUpstream(t)
	up.Pause = 3 * time.Millisecond
	socket := filepath.Join(t.TempDir(), "s")
	front := envoytest.StartFront(t, envoytest.FrontOptions{
		Root: filepath.Join("..", ".."), ExtProc: "unix:" + socket, Upstream: up.URL, MessageTimeout: 2 * time.Second,
	})
	server := startServe(t, socket)
	front.AwaitServer(t, true)
	sent := twice("kill", 100<<10, true)

	rewritten := 0
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		for i, point := range []string{"before headers", "mid body", envoytest.BeforeHeaders + " of the answer", envoytest.BeforeBody, envoytest.MidStream} {
			for _, length := range []bool{true, false} {
				name := fmt.Sprintf("%v %s, length %v", signal, point, length)
				id := fmt.Sprintf("%d-%d-%v", signal, i, length)
				hit := func() {
					for range 1000 {
						if i == 0 || server.stat("exchanges_open") == 1 {
							break
						}
						time.Sleep(5 * time.Millisecond)
					}
					if err := server.Process.Signal(signal); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					time.Sleep(20 * time.Millisecond)
				}
				var mid func()
				switch point {
				case "before headers":
					hit()
				case "mid body":
					mid = hit
				default:
					up.Hold(id, func(p string) {
						if strings.HasPrefix(point, p) {
							hit()
						}
					})
				}
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL()+path, newHalves(sent, mid))
				if err != nil {
					t.Fatal(err)
				}
				if length {
					req.ContentLength = int64(len(sent))
				}
				req.Header.Set("anthropic-version", "2023-06-01")
				req.Header.Set(envoytest.IDHeader, id)
				resp, err := envoytest.Client(t, i%2 == 1).Do(req)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				answer, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK || string(answer) != envoytest.Answer(id, true) {
					t.Errorf("%s: %d, %v, %d bytes of an answer", name, resp.StatusCode, err, len(answer))
				}
				got := up.Take(id)
				early := point == "before headers" || point == "mid body"
				switch raw := bytes.Equal(got.Body, sent); {
				case got.Times != 1:
					t.Errorf("%s: arrived %d times", name, got.Times)
				case !raw && early:
					t.Errorf("%s: %d bytes arrived of %d", name, len(got.Body), len(sent))
				case !raw && (len(got.Body) > len(sent)*2/3 || !json.Valid(got.Body)):
					t.Errorf("%s: %d bytes arrived of %d", name, len(got.Body), len(sent))
				case !raw:
					rewritten++
				}
				if signal == syscall.SIGSTOP {
					server.Process.Signal(syscall.SIGCONT)
				} else {
					server.die(t)
					server = startServe(t, socket)
				}
				front.AwaitServer(t, true)
			}
		}
	}
	// On a busy machine one may go on as it came, since the server had not come to
	// itself in time; that is right as well, but not for most of the twelve.
	if rewritten < 8 {
		t.Errorf("%d were rewritten before, want 12 or nearly so", rewritten)
	}
}
