package layout

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const module = "github.com/trimtab-io/trimtab/"

// root is the checkout.
const root = "../.."

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// packages are the module's packages, by path inside the module.
func packages(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	all := map[string]pkg{}
	for dec := json.NewDecoder(out); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutPrefix(p.ImportPath, module); ok {
			all[name] = p
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return all
}

// within says that a package is the folder or below it.
func within(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}

// arrows are what the packages of a folder may import of ours, the first that
// fits. Arrows point one way: cmd, then extproc, components, stores and envoy,
// then pipeline, then the store's interfaces.
var arrows = []struct {
	folder string
	may    []string
}{
	{"cmd", []string{"extproc", "components", "pipeline", "store", "envoy", "proto", "internal"}},
	{"extproc", []string{"pipeline", "store", "proto"}},
	{"envoy", []string{"proto"}},
	{"components", []string{"pipeline", "store", "proto"}},
	{"pipeline/transcript", nil},
	{"pipeline/tokens", nil},
	{"pipeline/classify", []string{"pipeline/transcript"}},
	{"pipeline/promptcache", []string{"pipeline/transcript", "pipeline/tokens", "store"}},
	{"pipeline/componenttest", []string{"pipeline", "store", "proto"}},
	{"pipeline", []string{"pipeline", "store", "proto"}},
	{"store/storetest", []string{"store"}},
	{"store/", []string{"store"}},
	{"store", nil},
	{"proto", nil},
	{"internal", []string{"extproc", "components", "pipeline", "store", "envoy", "proto", "internal"}},
	{"deploy", []string{"envoy", "proto", "internal"}},
}

func TestArrowsPointOneWay(t *testing.T) {
	all := packages(t)
	if len(all) < 15 {
		t.Fatalf("saw only %d packages", len(all))
	}
	for name, p := range all {
		var may []string
		known := false
		for _, a := range arrows {
			if within(name, a.folder) || strings.HasSuffix(a.folder, "/") && strings.HasPrefix(name, a.folder) {
				may, known = a.may, true
				break
			}
		}
		if !known {
			t.Errorf("%s is in no folder of the layout", name)
		}
		for _, imported := range p.Imports {
			other, ours := strings.CutPrefix(imported, module)
			if !ours || allowed(name, other, may) {
				continue
			}
			t.Errorf("%s may not import %s", name, other)
		}
	}
}

func allowed(name, other string, may []string) bool {
	// A component knows no other one; only the list of them knows all.
	if within(name, "components") && within(other, "components") {
		return name == "components" || within(other, name)
	}
	// Stores are chosen by whoever puts the process together.
	if strings.HasPrefix(other, "store/") && !within(name, "internal") && !within(name, "cmd") && !within(name, "pipeline/componenttest") {
		return within(other, name)
	}
	for _, folder := range may {
		if within(other, folder) {
			return true
		}
	}
	return within(other, name)
}

// The engine is a library of its own: it works without Envoy, gRPC and metrics.
func TestTheEngineStandsAlone(t *testing.T) {
	for name, p := range packages(t) {
		if !within(name, "pipeline") && !within(name, "components") && !within(name, "store") {
			continue
		}
		for _, dep := range p.Deps {
			for _, foreign := range []string{"google.golang.org/grpc", "github.com/envoyproxy/", "github.com/prometheus/"} {
				if strings.HasPrefix(dep, foreign) {
					t.Errorf("%s depends on %s", name, dep)
				}
			}
		}
	}
}

func TestEveryFolderAndFileIsThere(t *testing.T) {
	for _, name := range []string{
		"cmd", "extproc", "pipeline", "components", "store", "envoy", "proto", "internal", "docs", "docs/decisions",
		"deploy/helm", "deploy/kustomize", "deploy/examples", "deploy/prometheus", "deploy/grafana", "deploy/image",
		"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE", "Makefile", ".ci/run",
	} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	for _, pattern := range []string{"deploy/*", "deploy/examples/*.yaml", "docs/decisions/0001-*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Errorf("nothing is %s: %v", pattern, err)
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for name := range packages(t) {
		if name == "proto/trimtab/v1" || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "internal/lab") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name, "doc.go"))
		if err != nil || !strings.HasPrefix(string(text), "// Package "+filepath.Base(name)+" ") && !strings.HasPrefix(string(text), "// Command "+filepath.Base(name)+" ") {
			t.Errorf("%s has no doc.go that begins with its package comment", name)
		}
	}
}

func TestMakefileIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n >= 80 {
		t.Errorf("%d lines", n)
	}
}

// Every make target that a page names is there.
func TestDocumentedTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"README.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?m)(?:^    |`)make ([a-z-]+)").FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s: there is no target %s", page, m[1])
			}
		}
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	run, test := strings.Index(string(readme), "make run"), strings.Index(string(readme), "make test")
	if run < 0 || test < run || strings.Contains(string(readme[:run]), "make ") {
		t.Error("README names make run and make test first")
	}
}
