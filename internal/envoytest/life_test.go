package envoytest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"

	"github.com/trimtab-io/trimtab/internal/envoytest"
)

const messages = "/v1/messages"

// whole checks one answer, and returns what arrived.
func whole(t *testing.T, up *envoytest.Upstream, id string, stream bool, r envoytest.Reply, err error) envoytest.Arrival {
	t.Helper()
	got := up.Take(id)
	if err != nil || r.Status != http.StatusOK || string(r.Body) != envoytest.Answer(id, stream) || got.Times != 1 {
		t.Errorf("%s: %d, %v, %d bytes of an answer, arrived %d times", id, r.Status, err, len(r.Body), got.Times)
	}
	return got
}

// A server that is told to stop says so first, serves until Envoy has heard it, and
// ends when all that was open has ended.
func TestDrainFinishesWhatIsOpen(t *testing.T) {
	up := envoytest.StartUpstream(t)
	socket := "unix:" + filepath.Join(t.TempDir(), "s")
	server := envoytest.StartServer(t, envoytest.ServerOptions{Addr: socket, Environ: slow})
	front := envoytest.StartFront(t, envoytest.FrontOptions{Root: root, ExtProc: socket, Upstream: up.URL, MessageTimeout: 20 * time.Second})
	front.AwaitServer(t, true)
	const streams = 4
	sent := body(t, messages, "drain", 40<<10, true)
	rewritten := want(t, messages, sent)

	proceed := make(chan struct{})
	var open, held sync.WaitGroup
	ask := func(id string, wait func()) {
		r, err := send(t.Context(), envoytest.Client(t, false), front.URL()+messages, id, sent, true, wait)
		if got := whole(t, up, id, true, r, err); !bytes.Equal(got.Body, rewritten) {
			t.Errorf("%s: %d bytes arrived, want %d", id, len(got.Body), len(rewritten))
		}
	}
	for i := range streams {
		id := fmt.Sprint("open-", i)
		held.Add(1)
		up.Hold(id, func(point string) {
			if point == envoytest.MidStream {
				held.Done()
				<-proceed
			}
		})
		open.Go(func() { ask(id, nothing) })
	}
	held.Add(1)
	open.Go(func() {
		ask("coming-in", func() { held.Done(); <-proceed })
	})
	held.Wait()

	service := server.Service()
	stopped := make(chan error, 1)
	go func() { stopped <- service.Stop(t.Context(), 3*time.Second) }()
	front.AwaitServer(t, false)
	select {
	case err := <-stopped:
		t.Fatalf("it ended before Envoy knew: %v", err)
	default:
	}
	resp, err := http.Get("http://" + service.Admin() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("/readyz while draining: %d", resp.StatusCode)
	}
	for i := range 3 {
		id := fmt.Sprint("late-", i)
		r, err := send(t.Context(), envoytest.Client(t, true), front.URL()+messages, id, sent, i%2 == 0, nothing)
		if got := whole(t, up, id, true, r, err); !bytes.Equal(got.Body, sent) {
			t.Errorf("%s: %d bytes arrived, want %d", id, len(got.Body), len(sent))
		}
	}
	close(proceed)
	open.Wait()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	failures := 0
	for _, entry := range front.Access(t, streams+1+3) {
		if failed(entry) {
			failures++
		}
	}
	if failures != 3 {
		t.Errorf("%d failures in the access log, want those of the 3 that came late", failures)
	}
}

// At the deadline what is still open is cut off, which the agent does not notice.
func TestDrainEndsAtTheDeadline(t *testing.T) {
	up := envoytest.StartUpstream(t)
	socket := "unix:" + filepath.Join(t.TempDir(), "s")
	server := envoytest.StartServer(t, envoytest.ServerOptions{Addr: socket, Environ: slow})
	front := envoytest.StartFront(t, envoytest.FrontOptions{Root: root, ExtProc: socket, Upstream: up.URL})
	front.AwaitServer(t, true)
	sent := body(t, messages, "deadline", 40<<10, true)
	held, proceed := make(chan struct{}), make(chan struct{})
	up.Hold("cut", func(point string) {
		if point == envoytest.MidStream {
			close(held)
			<-proceed
		}
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		r, err := send(t.Context(), envoytest.Client(t, false), front.URL()+messages, "cut", sent, true, nothing)
		whole(t, up, "cut", true, r, err)
	})
	<-held
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := server.Service().Stop(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopped with %v", err)
	}
	close(proceed)
	wg.Wait()
	if entries := front.Access(t, 1); !failed(entries[0]) {
		t.Errorf("%v", entries[0]["filter"])
	}
}

// The configuration changes ever again under load, now and then to nonsense. No
// request is harmed, and a conversation keeps what it began with.
func TestReloadsUnderLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trimtab.yaml")
	configure := func(text string) {
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Error(err)
		}
	}
	const limits = ", limits: {deadline: 30s"
	configure("profiles: {default: {preset: conservative" + limits + "}}}")
	up := envoytest.StartUpstream(t)
	rig := envoytest.Start(t, envoytest.Options{Root: root, File: file, Upstream: up.URL})
	ctx, cancel := context.WithCancel(t.Context())
	hangup, waited := make(chan os.Signal), make(chan error, 1)
	go func() { waited <- rig.Wait(ctx, hangup) }()

	const workers, each = 8, 40 // at least: a quick machine has to go on until all texts have been in force
	var requests atomic.Int64
	var cycled atomic.Bool
	var wg sync.WaitGroup
	var began sync.WaitGroup
	began.Add(workers)
	for w := range workers {
		kept := body(t, messages, fmt.Sprint("kept", w), 30<<10, w%2 == 0)
		keptAs := want(t, messages, kept)
		client := envoytest.Client(t, w%3 == 0)
		wg.Go(func() {
			for i := 0; i < each || !cycled.Load(); i++ {
				requests.Add(1)
				id := fmt.Sprintf("%d-%d", w, i)
				sent := kept
				if i%2 == 1 { // a conversation that is new to all configurations
					sent = bytes.Replace(kept, []byte("kept"), []byte("new"+id), 1)
				}
				r, err := envoytest.Post(t.Context(), client, rig.URL()+messages, sent, i%3 != 0, envoytest.IDHeader, id)
				got := whole(t, up, id, w%2 == 0, r, err)
				if i == 0 {
					began.Done() // and from now on it keeps what it has
				}
				switch {
				case i%2 == 0 && !bytes.Equal(got.Body, keptAs):
					t.Errorf("%s: a conversation under way is treated by another configuration", id)
				case !bytes.Equal(got.Body, sent) && len(got.Body) > len(sent)*2/3:
					t.Errorf("%s: %d bytes arrived of %d", id, len(got.Body), len(sent))
				}
			}
		})
	}
	texts := []string{
		"profiles: {default: {preset: \"off\"" + limits + "}}}",
		"nonsense",
		"profiles: {default: {preset: safe" + limits + ", max_body_bytes: 20MiB}}}",
		"profiles: {default: {preset: conservative" + limits + ", max_body_bytes: 64MiB}}, other: {preset: balanced}}",
		"profiles: {default: {preset: conservative" + limits + "}}}\ndefault_profile: nobody",
		"profiles: {default: {preset: balanced" + limits + "}}}\ntrusted_headers: {session: true}",
	}
	began.Wait()
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	for i, alive := 0, true; alive; i++ {
		cycled.Store(i >= 2*len(texts))
		configure(texts[i%len(texts)])
		if i%2 == 0 {
			hangup <- os.Interrupt
		}
		select {
		case <-over:
			alive = false
		case <-time.After(60 * time.Millisecond):
		}
	}
	awaitStat(t, rig, "all requests", func(s map[string]any) bool { return number(s["requests"]) == float64(requests.Load()) })
	stats := statistics(t, rig)
	if number(stats["config_loads"]) < 3 || number(stats["config_refused"]) < 2 || number(stats["prefix_violations"]) != 0 {
		t.Errorf("%v loaded, %v refused, %v violations", stats["config_loads"], stats["config_refused"], stats["prefix_violations"])
	}
	cancel()
	if err := <-waited; err != nil {
		t.Error(err)
	}
	for _, entry := range rig.Access(t, int(requests.Load())) {
		if failed(entry) {
			t.Errorf("%v", entry)
		}
	}
}

// Two servers behind one Envoy share its requests. They need not know of each
// other: what is forwarded does not depend on who forwards it. One of them is
// drained, comes back, and is killed.
func TestTwoServersBehindOneEnvoy(t *testing.T) {
	up := envoytest.StartUpstream(t)
	dir := t.TempDir()
	socket := func(name string) string { return "unix:" + filepath.Join(dir, name) }
	servers := map[string]*envoytest.Server{}
	for _, name := range []string{"a", "b"} {
		servers[name] = envoytest.StartServer(t, envoytest.ServerOptions{Addr: socket(name), Environ: slow})
	}
	front := envoytest.StartFront(t, envoytest.FrontOptions{
		Root: root, ExtProc: socket("a"), Upstream: up.URL, MessageTimeout: 20 * time.Second,
		Adjust: func(b *bootstrapv3.Bootstrap) error {
			group := envoytest.ServerCluster(b).LoadAssignment.Endpoints[0]
			second := proto.Clone(group.LbEndpoints[0]).(*endpointv3.LbEndpoint)
			second.GetEndpoint().GetAddress().GetPipe().Path = filepath.Join(dir, "b")
			group.LbEndpoints = append(group.LbEndpoints, second)
			return nil
		},
	})
	front.AwaitServers(t, 2)
	client := envoytest.Client(t, false)
	asked := 0
	// converse is one conversation of several turns; it returns how many failed.
	converse := func(name string, during func(turn int)) (failures int) {
		var before []byte
		for turn := 1; turn <= 8; turn++ {
			during(turn)
			var results []string
			for i := range turn {
				results = append(results, file(fmt.Sprint("part", i/2), 4<<10))
			}
			data, err := json.Marshal(anthropic(name, results)["messages"])
			if err != nil {
				t.Fatal(err)
			}
			sent := fmt.Appendf(nil, `{"model":"claude-sonnet-4-5","max_tokens":9,"metadata":{"user_id":"{\"session_id\":\"%s\"}"},"messages":%s}`, name, data)
			id := fmt.Sprint(name, turn)
			r, err := envoytest.Post(t.Context(), client, front.URL()+messages, sent, true, envoytest.IDHeader, id)
			got := whole(t, up, id, false, r, err)
			asked++
			if bytes.Equal(got.Body, sent) && turn > 1 {
				failures++
				continue // it went as it was; the next turn is compared with the one before
			}
			got.Body = bytes.TrimSuffix(got.Body, []byte("]}"))
			if !bytes.HasPrefix(got.Body, before) {
				t.Errorf("%s: what was forwarded before has changed", id)
			}
			before = got.Body
		}
		return failures
	}
	undisturbed := func(int) {}
	if n := converse("both", undisturbed); n != 0 {
		t.Errorf("%d of the requests went as they were", n)
	}
	stopped := make(chan error, 1)
	if n := converse("drained", func(turn int) {
		switch turn {
		case 3:
			go func() { stopped <- servers["a"].Service().Stop(t.Context(), 3*time.Second) }()
		case 5:
			front.AwaitServers(t, 1)
		case 7:
			if err := <-stopped; err != nil {
				t.Error(err)
			}
		}
	}); n != 0 {
		t.Errorf("while one was drained %d of the requests went as they were", n)
	}
	for _, entry := range front.Access(t, asked) {
		if failed(entry) {
			t.Errorf("%v", entry)
		}
	}
	servers["a"].Stop()
	servers["a"].Start()
	front.AwaitServers(t, 2)
	converse("killed", func(turn int) {
		switch turn {
		case 3:
			servers["b"].Stop()
		case 6:
			front.AwaitServers(t, 1)
		}
	})
	if n := converse("one", undisturbed); n != 0 {
		t.Errorf("with one of two left %d of the requests went as they were", n)
	}
	for name, s := range servers {
		if l := s.Ledger(); l.Whole < 4 {
			t.Errorf("server %s had no share: %+v", name, l)
		}
	}
}

// wallClock is a clock that is set anew ever again.
type wallClock struct{ ahead atomic.Int64 }

// Now has no monotonic part: what a process would see if it relied on the wall.
func (c *wallClock) Now() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.ahead.Load()))
}

// A clock that jumps makes a cache cold or not, and harms nothing.
func TestClockJumps(t *testing.T) {
	clock := &wallClock{}
	up := envoytest.StartUpstream(t)
	socket := "unix:" + filepath.Join(t.TempDir(), "s")
	server := envoytest.StartServer(t, envoytest.ServerOptions{Addr: socket, Environ: append(slow, "TRIMTAB_PRESET=balanced"), Now: clock.Now})
	front := envoytest.StartFront(t, envoytest.FrontOptions{Root: root, ExtProc: socket, Upstream: up.URL})
	front.AwaitServer(t, true)
	client := envoytest.Client(t, true)
	day := 24 * time.Hour
	jumps := []time.Duration{0, 0, -time.Hour, 0, 0, 10 * time.Minute, -10 * time.Minute, 400 * day, 0, -20000 * day, 0, 0, 20 * time.Minute, 0}
	var before []byte
	cold := 0
	for turn, jump := range jumps {
		clock.ahead.Add(int64(jump))
		var results []string
		for i := range turn + 1 {
			results = append(results, file(fmt.Sprint("part", i), 3<<10))
		}
		data, err := json.Marshal(anthropic("clock", results)["messages"])
		if err != nil {
			t.Fatal(err)
		}
		sent := fmt.Appendf(nil, `{"model":"claude-sonnet-4-5","max_tokens":9,"metadata":{"user_id":"{\"session_id\":\"clock\"}"},"system":[{"type":"text","text":"Help.","cache_control":{"type":"ephemeral"}}],"messages":%s}`, data)
		id := fmt.Sprint("turn-", turn)
		r, err := envoytest.Post(t.Context(), client, front.URL()+messages, sent, true, envoytest.IDHeader, id)
		got := bytes.TrimSuffix(whole(t, up, id, false, r, err).Body, []byte("]}"))
		if !bytes.HasPrefix(got, before) {
			cold++
			if jump <= 0 {
				t.Errorf("turn %d: a clock that jumps by %v makes a cache cold", turn, jump)
			}
		}
		if turn > 0 && len(got) >= len(sent) {
			t.Errorf("turn %d: %d bytes arrived of %d", turn, len(got), len(sent))
		}
		before = got
	}
	for i, entry := range front.Access(t, len(jumps)) {
		if tt, _ := entry["trimtab"].(map[string]any); failed(entry) || number(tt["prefix_violations"]) != 0 {
			t.Errorf("turn %d: %v", i, entry)
		}
	}
	if cold == 0 {
		t.Error("no turn was cold: mask did nothing")
	}
	if server.Ledger().Cut != 0 {
		t.Errorf("%+v", server.Ledger())
	}
}
