package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/components"
	"github.com/trimtab-io/trimtab/envoy"
	"github.com/trimtab-io/trimtab/internal/figures"
)

// TestMain lets the test's own binary be the server that does nothing, as the
// command's is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-nothing" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A short run: all parts work, and the page has their tables.
func TestShortRun(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, _, err := envoy.Find(t.Context(), "", root); errors.Is(err, envoy.ErrNotFound) {
		t.Skip("needs an Envoy: run `make setup`")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "trimtab")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/trimtab")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(dir, "performance.md")
	if err := os.WriteFile(file, []byte("before\n"+figures.Begin(target)+"\nold\n"+figures.End(target)+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options{
		Trimtab: binary, Root: root, Page: file, Largest: 100_000, PerSize: time.Millisecond, Streams: time.Millisecond,
		Engine: time.Millisecond, Conversations: 8, Memory: time.Minute,
	}
	if err := run(t.Context(), o, io.Discard); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"before\n" + figures.Begin(target), figures.End(target) + "\nafter\n", "| 10 KB, first sight |", "| 100 KB, warm turn |",
		"| first byte |", "8 conversations of 300 KB", "| the most at any time |", "| first sight, 1 MB |", "at most 1.3: ",
	}
	for _, c := range components.Catalogue() {
		want = append(want, "| `"+c.Name+"` |")
	}
	for _, text := range want {
		if !strings.Contains(string(got), text) {
			t.Errorf("no %q", text)
		}
	}
	if t.Failed() || strings.Contains(string(got), "\nold\n") || strings.Contains(string(got), "NaN") {
		t.Errorf("the page is:\n%s", got)
	}
}

// A figure that misses its target says so, and one that meets it too.
func TestVerdicts(t *testing.T) {
	r := &report{
		memory: &memoryFigures{Wanted: 10, Seen: 10, Most: maxMemory},
		engine: []*engineCase{{name: "quick", target: time.Millisecond, cost: []cost{{CPU: time.Millisecond}}}, {name: "slow", target: time.Millisecond, cost: []cost{{CPU: time.Second}}}},
		streams: &streamFigures{
			head:  map[string][]time.Duration{noop: {100, 100, 100}, trimtab: {105, 105, 300}},
			event: map[string][]time.Duration{noop: {100, 100, 100}, trimtab: {90, 106, 107}},
		},
	}
	text := r.text()
	for _, want := range []string{
		"| the most at any time | 400 MB | at most 400 MB: met |", "| quick | 1.00 | 0 | 0 % | at most 1.00 ms: met |",
		"| slow | 1000 | 0 | 0 % | at most 1.00 ms: **missed** |", "| 1.05 | at most 1.05: met |", "| 1.06 | at most 1.05: **missed** |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	r.memory.Seen = 9
	if text := r.text(); !strings.Contains(text, "at most 400 MB: **missed** (the machine was too slow for all 10)") {
		t.Errorf("too few conversations are no miss:\n%s", text)
	}
}

// Nothing of one conversation is in another, and a turn adds what it should.
func TestTalks(t *testing.T) {
	a, b := newTalk("one", 300_000), newTalk("two", 300_000)
	lines := map[string]bool{}
	for line := range strings.SplitSeq(string(a.body()), `\n`) {
		lines[line] = true
	}
	for line := range strings.SplitSeq(string(b.body()), `\n`) {
		if lines[line] && len(line) > 20 {
			t.Fatalf("both have the line %q", line)
		}
	}
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		talk := newTalk("talk", size)
		before := len(talk.body())
		talk.turn(turnBytes(size))
		if grown, want := len(talk.body())-before, turnBytes(size); before > size+200 || before < size*8/10 || grown < want*8/10 || grown > want*12/10 {
			t.Errorf("%d bytes for %d; a turn of %d for %d", before, size, grown, want)
		}
	}
}

func TestMedian(t *testing.T) {
	if median[int](nil) != 0 || median([]int{5}) != 5 || median([]int{9, 1, 5}) != 5 || median([]int{4, 1, 2, 3}) != 2 {
		t.Error("median")
	}
	if got := ratios([]int{10, 30, 5}, []int{5, 10}); len(got) != 2 || got[0] != 2 || got[1] != 3 {
		t.Error(got)
	}
}
