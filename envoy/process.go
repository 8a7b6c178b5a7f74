package envoy

import (
	"bytes"
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
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
)

// StartOptions say how to start an Envoy.
type StartOptions struct {
	Binary  string
	Options Options // Admin is set by Start
	// Log gets what Envoy writes on its standard error; nil: nothing is kept
	// but the last lines, for messages.
	Log io.Writer
	// Concurrency is the number of worker threads; 0: one per CPU.
	Concurrency int
	// Adjust changes the configuration before it is used; nil: nothing.
	Adjust func(*bootstrapv3.Bootstrap) error
}

// Process is a running Envoy. Its methods are safe for concurrent use.
type Process struct {
	pid    int
	dir    string
	addr   string
	admin  *http.Client
	log    *tail
	exited chan struct{}
	err    error // valid once exited is closed
}

// readyWithin is how long an Envoy may take until it serves.
const readyWithin = 30 * time.Second

// Start runs an Envoy with a configuration made from o and returns once it
// serves. Everything it needs is in one folder of its own, and it ends when the
// process that started it does, however that ends.
func Start(ctx context.Context, o StartOptions) (*Process, error) {
	dir, err := os.MkdirTemp("", "trimtab-envoy-") // only for this user
	if err != nil {
		return nil, fmt.Errorf("start envoy: %w", err)
	}
	p := &Process{dir: dir, log: &tail{to: o.Log}, exited: make(chan struct{})}
	if err := p.start(ctx, o); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	if err := p.await(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

func (p *Process) start(ctx context.Context, o StartOptions) error {
	socket := filepath.Join(p.dir, "admin.sock")
	o.Options.Admin = "unix:" + socket
	p.admin = &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			},
		},
	}
	bootstrap, err := Bootstrap(o.Options)
	if err != nil {
		return err
	}
	if o.Adjust != nil {
		if err := o.Adjust(bootstrap); err != nil {
			return err
		}
	}
	data, err := JSON(bootstrap)
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, "envoy.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("start envoy: %w", err)
	}
	args := []string{
		"-c", file, "--disable-hot-restart", "--drain-time-s", "1", "--file-flush-interval-msec", "500",
		// Envoy's main part warns of limits that an Envoy on a desk does not need.
		"--log-level", "warning", "--component-log-level", "main:error",
	}
	if o.Concurrency > 0 {
		args = append(args, "--concurrency", strconv.Itoa(o.Concurrency))
	}
	cmd := exec.Command(o.Binary, args...)
	cmd.Dir, cmd.Stderr, cmd.Stdout = p.dir, p.log, p.log
	// A group of its own, so that an interrupt at the terminal reaches us first;
	// and its end with ours.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go p.run(cmd, started)
	return <-started
}

// run keeps the thread that started Envoy until Envoy has ended: the kernel ends
// a child with the thread that it came from.
func (p *Process) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- fmt.Errorf("start envoy: %w", err)
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil
	p.err = cmd.Wait()
	close(p.exited)
}

// await polls until Envoy serves, and learns where.
func (p *Process) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if body, err := p.get(ctx, http.MethodGet, "/ready"); err == nil && strings.HasPrefix(string(body), "LIVE") {
			if p.addr, err = p.listening(ctx); err == nil {
				return nil
			}
		}
		select {
		case <-p.exited:
			return fmt.Errorf("envoy ended while it started: %w\n%s", errors.Join(errors.New("it could not serve"), p.err), p.log)
		case <-ctx.Done():
			return fmt.Errorf("envoy does not serve: %w\n%s", ctx.Err(), p.log)
		case <-tick.C:
		}
	}
}

func (p *Process) listening(ctx context.Context) (string, error) {
	body, err := p.get(ctx, http.MethodGet, "/listeners?format=json")
	if err != nil {
		return "", err
	}
	var list struct {
		Statuses []struct {
			Local struct {
				Socket struct {
					Address string `json:"address"`
					Port    int    `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return "", fmt.Errorf("envoy listeners: %w", err)
	}
	if len(list.Statuses) == 0 || list.Statuses[0].Local.Socket.Port == 0 {
		return "", errors.New("envoy listeners: none yet")
	}
	s := list.Statuses[0].Local.Socket
	return net.JoinHostPort(s.Address, strconv.Itoa(s.Port)), nil
}

// get calls Envoy's admin interface.
func (p *Process) get(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://envoy"+path, nil)
	if err != nil {
		return nil, fmt.Errorf("envoy admin: %w", err)
	}
	resp, err := p.admin.Do(req)
	if err != nil {
		return nil, fmt.Errorf("envoy admin: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("envoy admin: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("envoy admin: %s: %s", path, resp.Status)
	}
	return body, nil
}

// Addr is where agents connect, HOST:PORT.
func (p *Process) Addr() string { return p.addr }

// PID is Envoy's process id.
func (p *Process) PID() int { return p.pid }

// Exited is closed when Envoy has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Err says how Envoy ended, with its last words. Valid once Exited is closed.
func (p *Process) Err() error {
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("envoy: %w\n%s", p.err, p.log)
}

// Stats returns the counters and gauges whose names hold filter, a regular
// expression of Envoy's.
func (p *Process) Stats(ctx context.Context, filter string) (map[string]int64, error) {
	body, err := p.get(ctx, http.MethodGet, "/stats?filter="+filter)
	if err != nil {
		return nil, err
	}
	stats := map[string]int64{}
	for line := range strings.Lines(string(body)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			stats[name] = n
		}
	}
	return stats, nil
}

// ServerHealthy says whether Envoy has seen the gRPC server answer its health check.
func (p *Process) ServerHealthy(ctx context.Context) bool {
	stats, err := p.Stats(ctx, "^cluster."+ExtProcCluster+".membership_healthy$")
	return err == nil && stats["cluster."+ExtProcCluster+".membership_healthy"] > 0
}

// Stop lets no new connection in, waits until open requests have ended or ctx
// has, and ends Envoy. It leaves no process and no file behind.
func (p *Process) Stop(ctx context.Context) error {
	_, err := p.get(ctx, http.MethodPost, "/drain_listeners")
	for err == nil && p.busy(ctx) {
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-p.exited:
			err = p.err
		case <-time.After(50 * time.Millisecond):
		}
	}
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(3 * time.Second):
	}
	p.Kill()
	return err
}

func (p *Process) busy(ctx context.Context) bool {
	stats, err := p.Stats(ctx, "^http.agents.downstream_rq_active$")
	return err == nil && stats["http.agents.downstream_rq_active"] > 0
}

// Kill ends Envoy at once. It leaves no process and no file behind.
func (p *Process) Kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
	os.RemoveAll(p.dir)
}

// signal reaches the whole group, unless it has ended: its number may be another
// process's by now.
func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.exited:
	default:
		syscall.Kill(-p.pid, s)
	}
}

// tail passes on what is written and keeps the end of it.
type tail struct {
	to   io.Writer
	kept []byte
	mu   sync.Mutex
}

const keptBytes = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if extra := len(t.kept) - keptBytes; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	if t.to != nil {
		return t.to.Write(b)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.kept))
}
