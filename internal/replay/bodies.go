package replay

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// bodyWriter writes forwarded bodies, one line a turn, compressed. A nil one
// writes nothing.
type bodyWriter struct {
	file *os.File
	gzip *gzip.Writer
}

func newBodyWriter(dir, id string) (*bodyWriter, error) {
	if dir == "" {
		return nil, nil
	}
	if strings.ContainsAny(id, `/\`) || strings.HasPrefix(id, ".") {
		return nil, fmt.Errorf("conversation %q: not a name for a file", id)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, id+".jsonl.gz"))
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	return &bodyWriter{file: f, gzip: z}, nil
}

func (w *bodyWriter) write(body []byte) error {
	if w == nil {
		return nil
	}
	if _, err := w.gzip.Write(body); err != nil {
		return err
	}
	_, err := w.gzip.Write([]byte{'\n'})
	return err
}

func (w *bodyWriter) close() error {
	if w == nil {
		return nil
	}
	if err := w.gzip.Close(); err != nil {
		return w.abort(err)
	}
	return w.file.Close()
}

// abort closes what is open and returns err.
func (w *bodyWriter) abort(err error) error {
	if w != nil {
		_ = w.file.Close()
	}
	return err
}
