package config

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched runs a Watcher on file and returns what its attempts came to.
func watched(t *testing.T, file string) (*Watcher, chan os.Signal, <-chan error) {
	t.Helper()
	w, err := NewWatcher(Options{File: file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hangup := make(chan os.Signal)
	results, done := make(chan error, 16), make(chan error)
	go func() {
		done <- w.Run(ctx, hangup, nil, func(_ *Effective, err error) { results <- err })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	// A hang-up is answered only once Run watches.
	hangup <- os.Interrupt
	<-results
	return w, hangup, results
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, results <-chan error) error {
	t.Helper()
	select {
	case err := <-results:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the change was not seen")
		return nil
	}
}

const safe, balanced = "profiles: {default: {preset: safe}}", "profiles: {default: {preset: balanced}}"

func TestWatcherSeesWritesAndRenames(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "trimtab.yaml")
	write(t, file, safe)
	w, _, results := watched(t, file)

	write(t, file, balanced)
	if err := await(t, results); err != nil || w.Current().Profile("").Preset != "balanced" {
		t.Fatalf("%v %+v", err, w.Current())
	}
	write(t, file+".new", safe)
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	if err := await(t, results); err != nil || w.Current().Profile("").Preset != "safe" {
		t.Fatalf("%v %+v", err, w.Current())
	}
}

func TestWatcherKeepsTheLastGoodOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trimtab.yaml")
	write(t, file, safe)
	w, hangup, results := watched(t, file)

	write(t, file, "profiles: {default: {preset: nonsense}}")
	if err := await(t, results); err == nil || w.Current().Profile("").Preset != "safe" || w.Status().Failed != 1 || w.Status().Err == nil {
		t.Fatalf("%v %+v", err, w.Status())
	}
	write(t, file, balanced)
	if err := await(t, results); err != nil || w.Status().Err != nil {
		t.Fatalf("%v %+v", err, w.Status())
	}
	hangup <- os.Interrupt
	if err := await(t, results); err != nil || w.Status().Loads != 4 {
		t.Fatalf("%v %+v", err, w.Status())
	}
}

// Kubernetes mounts a file as a link through a link to a folder, and swaps the
// link to the folder.
func TestWatcherSeesASwapOfLinks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1": safe, "2": balanced} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name, "trimtab.yaml"), text)
	}
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("1", "..data")
	link(filepath.Join("..data", "trimtab.yaml"), "trimtab.yaml")
	w, _, results := watched(t, filepath.Join(dir, "trimtab.yaml"))

	link("2", "..data_tmp")
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	if err := await(t, results); err != nil || w.Current().Profile("").Preset != "balanced" {
		t.Fatalf("%v %+v", err, w.Current())
	}
}
