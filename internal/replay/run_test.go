package replay

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/promptcache"
	"github.com/trimtab-io/trimtab/store"
)

// conversation writes a small conversation and returns its file.
func conversation(t *testing.T, dir, id, wire, model string, turns int) string {
	t.Helper()
	var items, marks []string
	for k := range turns {
		items = append(items, fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat(fmt.Sprintf("question %d more ", k), 400)), `{"role":"assistant","content":"yes"}`)
		marks = append(marks, fmt.Sprintf(`{"n":%d,"ts":%d}`, 2*k+1, 1000+10*k))
	}
	file := fmt.Sprintf(`{"id":%q,"provider":%q,"agent":"tester 1.0","cache_style":"claude-code-1msg","head":{"model":%q,"max_tokens":5},"items":[%s],"turns":[%s]}`,
		id, wire, model, strings.Join(items, ","), strings.Join(marks, ","))
	path := filepath.Join(dir, id+".json.gz")
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write([]byte(file))
	_ = z.Close()
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func words(s string) int { return len(strings.Fields(s)) }

func options(t *testing.T) Options {
	t.Helper()
	return Options{
		Prices: promptcache.BuiltInPrices(), Count: words, Workers: 2, Bodies: filepath.Join(t.TempDir(), "bodies"),
		Engine: func() (*pipeline.Engine, error) {
			e := pipeline.New(pipeline.Options{Secret: []byte("x"), Store: store.Store{Level: store.Off}})
			e.Apply([]pipeline.Profile{{Name: "p"}}, "p")
			return e, nil
		},
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	conversation(t, dir, "b", "anthropic", "claude-opus-4-6", 4)
	conversation(t, filepath.Join(dir, "sub"), "a", "openai-chat", "nobody-knows", 3)
	files, err := Files([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	opt := options(t)
	var got []string
	total, err := Run(context.Background(), opt, files, func(r *Result) error {
		got = append(got, r.Conversation)
		if r.BytesBefore != r.BytesAfter || r.TokensBefore != r.TokensAfter || r.CostBefore != r.CostAfter || r.CostBefore == 0 || r.InvalidBodies+r.WarmRewrites != 0 {
			t.Errorf("nothing was rewritten: %+v", r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"b", "a"}, got); d != "" {
		t.Error(d)
	}
	// b: 1200 tokens, then each turn adds 1201 and what was sent is read.
	want := Tiers{}
	for k := range 4 {
		n := 1200 + k*1201
		if k > 0 {
			want.Read += n - 1201
			want.Write5m += 1201
		} else {
			want.Write5m += n
		}
	}
	if !total.Total || total.Conversations != 2 || total.Turns != 7 || total.TiersBefore.Write5m != want.Write5m || total.TiersBefore.Fresh == 0 {
		t.Errorf("total %+v, want writes %d", total, want.Write5m)
	}
	if a := total.Agents["tester"]; a == nil || a.Turns != 7 {
		t.Errorf("agents %+v", total.Agents)
	}
	checkBodies(t, filepath.Join(opt.Bodies, "b.jsonl.gz"), 4)
}

func checkBodies(t *testing.T, path string, want int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(all, []byte{'\n'}); n != want || !bytes.HasPrefix(all, []byte(`{"model":"claude-opus-4-6","messages":[`)) {
		t.Errorf("%d lines: %.60s", n, all)
	}
}

func TestRunPrices(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct{ wire, model, price string }{
		{"anthropic", "claude-opus-4-6-20260205", "claude-opus-4-6"},
		{"anthropic", "mystery", "relative:anthropic"},
		{"openai-responses", "mystery", "relative:openai"},
	} {
		path := conversation(t, dir, "c", tc.wire, tc.model, 2)
		_, err := Run(context.Background(), options(t), []string{path}, func(r *Result) error {
			if r.Price != tc.price {
				t.Errorf("%s: price %q", tc.model, r.Price)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunErrors(t *testing.T) {
	dir := t.TempDir()
	good := conversation(t, dir, "good", "anthropic", "m", 2)
	bad := filepath.Join(dir, "bad.json.gz")
	if err := os.WriteFile(bad, []byte("no"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), options(t), []string{good, bad, good}, func(*Result) error { return nil }); err == nil || !strings.Contains(err.Error(), "bad.json.gz") {
		t.Errorf("error %v does not name the file", err)
	}
	stop := errors.New("stop")
	if _, err := Run(context.Background(), options(t), []string{good, good, good, good}, func(*Result) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, options(t), []string{good}, func(*Result) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := Files([]string{t.TempDir()}); err == nil {
		t.Error("an empty folder gave no error")
	}
}

func TestPercentiles(t *testing.T) {
	var all []time.Duration
	for i := 200; i > 0; i-- {
		all = append(all, time.Duration(i)*time.Millisecond)
	}
	if p50, p99 := percentiles(all); p50 != 100 || p99 != 198 {
		t.Errorf("p50 %v, p99 %v", p50, p99)
	}
	if p50, p99 := percentiles(all[:1]); p50 != 200 || p99 != 200 {
		t.Errorf("of one: p50 %v, p99 %v", p50, p99)
	}
}
