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

	"github.com/trimtab-io/trimtab/envoy"
	"github.com/trimtab-io/trimtab/internal/figures"
)

// A short run: all of it works, nothing is harmed, and the report says so.
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
	file := filepath.Join(dir, "reliability.md")
	if err := os.WriteFile(file, []byte("before\n"+figures.Begin(target)+"\nold\n"+figures.End(target)+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options{
		Trimtab: binary, Root: root, Report: file, Seed: 7, For: 12 * time.Second, Workers: 4,
		Streams: 30, Opening: 3 * time.Second, First: 500 * time.Millisecond, Second: 2 * time.Second, Every: 200 * time.Millisecond,
	}
	if err := run(t.Context(), o, io.Discard); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n" + figures.Begin(target), figures.End(target) + "\nafter\n", "**Nothing was lost.**", "| harmed | 0 |", "30 answers streamed at a time"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(string(text), "\nold\n") {
		t.Errorf("the last report is still there: %s", text)
	}
}

// What goes wrong is an error, and in the report.
func TestHarmIsReported(t *testing.T) {
	r := &report{}
	for range 30 {
		r.harm.add("lost %d bytes", 3)
	}
	text := r.text()
	if !strings.Contains(text, "**30 things went wrong.**") || strings.Count(text, "- lost 3 bytes") != 20 || strings.Contains(text, "Nothing was lost") {
		t.Error(text)
	}
}

func TestAccessLogIsCounted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "access.json")
	log := `{"filter":{"failed_open":false,"request_header_call_status":0},"trimtab":{"saved_tokens":10}}
{"filter":{"failed_open":true},"trimtab":null}
{"filter":{"failed_open":false,"response_header_call_status":13},"trimtab":{"saved_tokens":10}}
{"filter":{"failed_open":false},"trimtab":{"reason":"profile_off","saved_tokens":0}}
{"filter":{"failed_open":false},"trimtab":null}
{"filter":{"failed_open":false},"trimtab":{"saved_tokens":1,"prefix_violations":2}}
`
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &report{}
	if err := r.countLog(file); err != nil {
		t.Fatal(err)
	}
	if l := &r.load; l.Logged != 6 || l.FailedOpen != 2 || l.Unexplained != 1 || l.Violations != 2 {
		t.Errorf("%d logged, %d failed, %d unexplained, %d violations", l.Logged, l.FailedOpen, l.Unexplained, l.Violations)
	}
}
