package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// child is a process of ours that serves on a socket.
type child struct {
	cmd   *exec.Cmd
	said  bytes.Buffer
	ended chan struct{}
}

// startChild returns once the process takes connections on socket. It ends with this
// process, however that ends.
func startChild(ctx context.Context, socket, binary string, args ...string) (*child, error) {
	c := &child{cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	c.cmd.Stderr = &c.said
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// The kernel ends a child with the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // how it ends does not matter
			close(c.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	for range 1000 {
		if conn, err := new(net.Dialer).DialContext(ctx, "unix", socket); err == nil {
			return c, conn.Close()
		}
		select {
		case <-c.ended:
			return nil, fmt.Errorf("%s has ended: %s", binary, c.said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	c.kill()
	return nil, fmt.Errorf("%s does not serve: %s", binary, c.said.String())
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// kill ends the process.
func (c *child) kill() {
	select {
	case <-c.ended:
	default:
		c.cmd.Process.Signal(os.Kill)
		<-c.ended
	}
}
