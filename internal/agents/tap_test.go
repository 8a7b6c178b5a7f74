package agents

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// tap stands between an agent and Envoy, passes every byte on, and remembers what
// the agent sent.
type tap struct {
	url string

	mu          sync.Mutex
	connections []*connection
}

type connection struct {
	mu   sync.Mutex
	sent bytes.Buffer
	back bytes.Buffer
}

// sent is one request as the agent sent it.
type sent struct {
	*http.Request
	body   []byte
	answer string // the first line that came back on its connection
}

// upgrade says that the request asks for a WebSocket.
func (s *sent) upgrade() bool { return strings.EqualFold(s.Header.Get("Upgrade"), "websocket") }

// newTap listens in front of to, HOST:PORT.
func newTap(t *testing.T, to string) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tp := &tap{url: "http://" + l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { tp.pass(client, to) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return tp
}

func (tp *tap) pass(client net.Conn, to string) {
	defer client.Close()
	server, err := net.DialTimeout("tcp", to, 5*time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	c := &connection{}
	tp.mu.Lock()
	tp.connections = append(tp.connections, c)
	tp.mu.Unlock()
	done := make(chan struct{})
	go func() {
		io.Copy(io.MultiWriter(client, c.writer(&c.back)), server)
		client.Close() // Envoy has ended it
		close(done)
	}()
	io.Copy(io.MultiWriter(server, c.writer(&c.sent)), client)
	server.(*net.TCPConn).CloseWrite()
	<-done
}

func (c *connection) writer(b *bytes.Buffer) io.Writer { return locked{c, b} }

type locked struct {
	c *connection
	b *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	return l.b.Write(p)
}

// requests are what the agent sent, connection by connection.
func (tp *tap) requests(t *testing.T) []sent {
	t.Helper()
	tp.mu.Lock()
	defer tp.mu.Unlock()
	var all []sent
	for _, c := range tp.connections {
		c.mu.Lock()
		r := bufio.NewReader(bytes.NewReader(bytes.Clone(c.sent.Bytes())))
		first, _, _ := strings.Cut(c.back.String(), "\r\n")
		c.mu.Unlock()
		for {
			req, err := http.ReadRequest(r)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("what the agent sent: %v", err)
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				t.Fatalf("%s %s: %v", req.Method, req.RequestURI, err)
			}
			all = append(all, sent{req, body, first})
			if all[len(all)-1].upgrade() {
				break // what follows need not be HTTP
			}
		}
	}
	return all
}
