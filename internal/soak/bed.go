package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/trimtab-io/trimtab/envoy"
	"github.com/trimtab-io/trimtab/internal/envoytest"
)

// bed is what a part runs on: a provider, an Envoy and a trimtab process.
type bed struct {
	o        options
	dir      string
	upstream *envoytest.Upstream
	http     *http.Server
	envoy    *envoy.Process
	version  string

	mu     sync.Mutex
	server *server
}

// server is one trimtab process.
type server struct {
	cmd   *exec.Cmd
	admin string
	ended chan struct{}
	said  string // valid once ended is closed
}

func newBed(ctx context.Context, o options) (_ *bed, err error) {
	b := &bed{o: o, upstream: envoytest.NewUpstream()}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.dir, err = os.MkdirTemp("", "trimtab-soak-"); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b.upstream.URL = "http://" + l.Addr().String()
	b.http = &http.Server{Handler: b.upstream, ReadHeaderTimeout: time.Minute}
	go b.http.Serve(l) // ends with close
	if err := b.configure(good); err != nil {
		return nil, err
	}
	if err := b.start(); err != nil {
		return nil, err
	}
	options := envoy.Options{
		Listen: "127.0.0.1:0", ExtProc: "unix:" + b.path("s"), AccessLog: b.path("access.json"), MaxBodyBytes: 32 << 20,
	}
	for name, to := range map[string]*envoy.Upstream{"anthropic": &options.Anthropic, "openai": &options.OpenAI} {
		if *to, err = envoy.ParseUpstream(name, b.upstream.URL, ""); err != nil {
			return nil, err
		}
	}
	binary, version, err := envoy.Find(ctx, "", o.Root)
	if err != nil {
		return nil, err
	}
	b.version = version
	if b.envoy, err = envoy.Start(ctx, envoy.StartOptions{Binary: binary, Options: options, Concurrency: 2}); err != nil {
		return nil, err
	}
	return b, b.awaitHealthy(ctx)
}

func (b *bed) path(name string) string { return filepath.Join(b.dir, name) }

// close ends everything and leaves nothing behind.
func (b *bed) close() error {
	if b.envoy != nil {
		b.envoy.Kill()
	}
	if s := b.current(); s != nil {
		s.signal(syscall.SIGKILL)
		<-s.ended
	}
	if b.http != nil {
		b.http.Close()
	}
	return os.RemoveAll(b.dir)
}

func (b *bed) url() string { return "http://" + b.envoy.Addr() }

func (b *bed) current() *server {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.server
}

// Configurations. Whatever is in force, a request goes as it came or as the preset
// conservative makes it.
const (
	good     = "profiles: {default: {preset: conservative}}\n"
	larger   = "profiles: {default: {preset: conservative, limits: {max_body_bytes: 16MiB}}, other: {preset: balanced}}\n"
	off      = "profiles: {default: {preset: \"off\"}}\n"
	nonsense = "profiles: {default: {prest: safe\n"
)

// configure puts a configuration in place whole.
func (b *bed) configure(text string) error {
	if err := os.WriteFile(b.path("new.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(b.path("new.yaml"), b.path("trimtab.yaml"))
}

// start runs a process until it serves.
func (b *bed) start() error {
	s := &server{ended: make(chan struct{})}
	s.cmd = exec.Command(b.o.Trimtab, "serve", "--config", b.path("trimtab.yaml"), "--grpc", "unix:"+b.path("s"), "--admin", "127.0.0.1:0")
	s.cmd.Env = append(os.Environ(), "TRIMTAB_LOG_FORMAT=json", "TRIMTAB_DRAIN_DELAY=1200ms", "TRIMTAB_DRAIN_TIMEOUT=5s")
	// It ends with this process, however that ends.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	serving := make(chan string, 1)
	started := make(chan error, 1)
	go s.run(stderr, started, serving)
	if err := <-started; err != nil {
		return fmt.Errorf("start trimtab: %w", err)
	}
	select {
	case s.admin = <-serving:
	case <-s.ended:
		return fmt.Errorf("trimtab does not serve: %s", s.said)
	case <-time.After(20 * time.Second):
		s.signal(syscall.SIGKILL)
		return errors.New("trimtab does not serve")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.server = s
	return nil
}

// run holds the thread that started the process, reads what it says, and waits.
func (s *server) run(stderr io.Reader, started chan<- error, serving chan<- string) {
	lockThread()
	if err := s.cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		var record struct{ Msg, Admin string }
		if json.Unmarshal(lines.Bytes(), &record) == nil && record.Msg == "serving" {
			serving <- record.Admin
		} else if said.Len() < 1<<16 {
			said.WriteString(lines.Text() + "\n")
		}
	}
	err := s.cmd.Wait()
	s.said = fmt.Sprint(said.String(), err)
	close(s.ended)
}

// signal reaches the process unless it is gone.
func (s *server) signal(sig syscall.Signal) {
	select {
	case <-s.ended:
	default:
		s.cmd.Process.Signal(sig)
	}
}

// stats are the numbers of /stats.
func (s *server) stats() (map[string]any, error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(s.admin + "/stats")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all := map[string]any{}
	return all, json.NewDecoder(resp.Body).Decode(&all)
}

func (b *bed) awaitHealthy(ctx context.Context) error {
	for range 1000 {
		if b.envoy.ServerHealthy(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return errors.New("the server is not reached by Envoy")
}

// resident is how much memory a process has, in bytes.
func resident(pid int) (int64, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("no VmRSS")
}
