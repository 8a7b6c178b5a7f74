package config

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long a file must be left alone before it is read: an editor
// writes it in several steps, and Kubernetes swaps several links.
const settle = 100 * time.Millisecond

// Status is what the last attempts to load the configuration came to.
type Status struct {
	Loaded time.Time // when the configuration in force was loaded
	Loads  int       // how many times one was loaded, the first included
	Failed int       // how many times a changed one was refused
	// Err says why the newest one was refused; nil if it is in force.
	Err error
}

// Watcher keeps the configuration in force: it loads a changed file, and keeps
// the last good one if the new one is wrong. It is safe for concurrent use.
type Watcher struct {
	options Options
	now     func() time.Time
	current atomic.Pointer[Effective]
	status  atomic.Pointer[Status]
	raw     []byte
}

// NewWatcher loads the configuration for the first time. now may be nil.
func NewWatcher(o Options, now func() time.Time) (*Watcher, error) {
	if now == nil {
		now = time.Now
	}
	w := &Watcher{options: o, now: now}
	e, err := w.load()
	if err != nil {
		return nil, err
	}
	w.current.Store(e)
	w.status.Store(&Status{Loaded: now(), Loads: 1})
	return w, nil
}

// Current returns the configuration in force.
func (w *Watcher) Current() *Effective { return w.current.Load() }

// Status returns what the last attempts came to.
func (w *Watcher) Status() Status { return *w.status.Load() }

func (w *Watcher) load() (*Effective, error) {
	if w.options.File != "" {
		data, err := os.ReadFile(w.options.File)
		if err != nil {
			return nil, fmt.Errorf("configuration: %w", err)
		}
		w.raw = data
	}
	return parse(w.options, w.raw)
}

// Run watches the file until ctx ends, and loads it whenever it changed or
// hangup delivers. Each new configuration is given to apply, which may refuse
// it by an error; then the last good one stays. report hears of each attempt:
// err is nil if the new configuration is in force. Only one Run at a time.
func (w *Watcher) Run(ctx context.Context, hangup <-chan os.Signal, apply func(*Effective) error, report func(*Effective, error)) error {
	events, closeEvents, err := w.events()
	if err != nil {
		return err
	}
	defer closeEvents()
	var quiet <-chan time.Time
	if w.options.File != "" {
		quiet = time.After(settle) // it may have changed before it was watched
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hangup:
			w.reload(apply, report)
		case _, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			quiet = time.After(settle)
		case <-quiet:
			quiet = nil
			if w.changed() {
				w.reload(apply, report)
			}
		}
	}
}

// events watches the folder, not the file: a file that is replaced by a rename,
// or reached through links that are swapped, is another file afterwards.
func (w *Watcher) events() (<-chan fsnotify.Event, func(), error) {
	if w.options.File == "" {
		return nil, func() {}, nil
	}
	fw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, nil, fmt.Errorf("watch the configuration: %w", err)
	}
	dir := filepath.Dir(w.options.File)
	if err := fw.Add(dir); err != nil {
		fw.Close()
		return nil, nil, fmt.Errorf("watch the configuration: %w", err)
	}
	// The file may itself be a link into another folder.
	if real, err := filepath.EvalSymlinks(w.options.File); err == nil && filepath.Dir(real) != dir {
		if err := fw.Add(filepath.Dir(real)); err != nil {
			fw.Close()
			return nil, nil, fmt.Errorf("watch the configuration: %w", err)
		}
	}
	return fw.Events, func() { fw.Close() }, nil
}

func (w *Watcher) changed() bool {
	data, err := os.ReadFile(w.options.File)
	return err == nil && string(data) != string(w.raw)
}

func (w *Watcher) reload(apply func(*Effective) error, report func(*Effective, error)) {
	e, err := w.load()
	if err == nil && apply != nil {
		err = apply(e)
	}
	s := w.Status()
	if err != nil {
		s.Failed, s.Err = s.Failed+1, err
	} else {
		w.current.Store(e)
		s.Loads, s.Loaded, s.Err = s.Loads+1, w.now(), nil
	}
	w.status.Store(&s)
	if report != nil {
		report(e, err)
	}
}
