package extproc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/extproc"
)

func TestListenReplacesOnlyADeadSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "x.sock")
	l, err := extproc.Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := extproc.Listen(t.Context(), "unix:"+path); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a live socket is replaced: %v", err)
	}
	// A process that was killed leaves its socket.
	l.(interface{ SetUnlinkOnClose(bool) }).SetUnlinkOnClose(false)
	l.Close()
	l, err = extproc.Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := extproc.Listen(t.Context(), "unix:"+path); err == nil {
		t.Error("a file is replaced")
	}
	tcp, err := extproc.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp.Close()
}
