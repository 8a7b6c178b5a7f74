package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

// Path is a file or folder of the recorded traffic, by its path in there. The
// folder is TRIMTAB_CORPUS, or ../shared/corpus beside the repository. The test is
// skipped where it is not there.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("TRIMTAB_CORPUS")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "corpus")
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no recorded traffic: %v; set TRIMTAB_CORPUS to its folder", err)
	}
	return path
}

// root is the repository's folder, above the package that is tested.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = above
	}
}
