package extproc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	extprocpb "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// GRPC is a gRPC server with the processor and the health service that Envoy
// asks.
type GRPC struct {
	server *grpc.Server
	health *health.Server
}

// How many bytes Envoy may send before it hears that they were taken: as much as most
// bodies have, so that Envoy need not wait in the middle of one. gRPC's default begins
// with 64 KiB and measures what fits, with messages of its own (a twentieth of the
// time that a request takes).
const (
	streamWindow = 1 << 20
	connWindow   = 16 << 20
)

// NewGRPC returns a server for bodies of up to maxBodyBytes. Envoy may overshoot
// its buffer by as much again when it hands over a body of unknown length.
func NewGRPC(s *Server, maxBodyBytes int64, more ...grpc.ServerOption) *GRPC {
	g := &GRPC{
		server: grpc.NewServer(append(more,
			grpc.StaticStreamWindowSize(streamWindow),
			grpc.StaticConnWindowSize(connWindow),
			grpc.MaxRecvMsgSize(int(2*maxBodyBytes+1<<20)),
			grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(protocodec.Name)}),
		)...),
		health: health.NewServer(),
	}
	extprocpb.RegisterExternalProcessorServer(g.server, s)
	healthpb.RegisterHealthServer(g.server, g.health)
	return g
}

// Serve answers on l until Drain or Stop. It closes l.
func (g *GRPC) Serve(l net.Listener) error {
	if err := g.server.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC: %w", err)
	}
	return nil
}

// Drain reports that the server stops, goes on serving for delay so that Envoy's
// health check sees it, lets open exchanges finish, and ends at the latest when
// ctx does. The error says that some had to be cut off; their requests go on.
func (g *GRPC) Drain(ctx context.Context, delay time.Duration) error {
	g.health.Shutdown()
	select {
	case <-ctx.Done():
	case <-time.After(delay):
	}
	done := make(chan struct{})
	go func() {
		g.server.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		g.server.Stop()
		<-done
		return fmt.Errorf("drain: exchanges were still open: %w", ctx.Err())
	}
}

// Stop ends the server at once.
func (g *GRPC) Stop() { g.server.Stop() }

// Listen opens unix:PATH or HOST:PORT. A socket that nobody listens on any more
// is replaced.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	path, ok := strings.CutPrefix(addr, "unix:")
	if !ok {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err != nil {
			return nil, fmt.Errorf("listen for Envoy: %w", err)
		}
		return l, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("listen for Envoy: %w", err)
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for Envoy: %w", err)
	}
	// Envoy may run as another user of the same group.
	if err := os.Chmod(path, 0o660); err != nil {
		l.Close()
		return nil, fmt.Errorf("listen for Envoy: %w", err)
	}
	return l, nil
}

func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen for Envoy: %w", err)
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("listen for Envoy: %s is there and is no socket", path)
	}
	if c, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
		c.Close()
		return fmt.Errorf("listen for Envoy: another process listens on %s", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("listen for Envoy: %w", err)
	}
	return nil
}
