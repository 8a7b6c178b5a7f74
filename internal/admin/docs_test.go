package admin

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline"
)

// handbook is docs/operations.md.
func handbook(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every metric is explained, and nothing that is explained is no metric.
func TestEveryMetricIsExplained(t *testing.T) {
	r := newRig(t)
	s := summary()
	r.metrics.Exchanged(s)
	s.Report.Reason, s.Report.Arm = pipeline.ObserveOnly, "observe"
	r.metrics.Exchanged(s)
	r.metrics.Panicked("engine")
	families, err := r.metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	text, known := handbook(t), map[string]bool{}
	for _, f := range families {
		known[f.GetName()] = true
		if strings.HasPrefix(f.GetName(), "trimtab_") && !strings.Contains(text, "`"+f.GetName()+"`") {
			t.Errorf("docs/operations.md does not explain %s", f.GetName())
		}
	}
	for _, name := range regexp.MustCompile(`trimtab_[a-z0-9_]+`).FindAllString(text, -1) {
		if !known[name] && name != "trimtab_extproc" {
			t.Errorf("docs/operations.md explains %s, which is no metric", name)
		}
	}
}

// constants are the values of a package's constants of a type, or whose names begin so.
func constants(t *testing.T, folder, typ, prefix string) (values []string) {
	t.Helper()
	files, err := filepath.Glob("../../" + folder + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) == 0 {
				return true
			}
			lit, ok := spec.Values[0].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			name := ""
			switch t := spec.Type.(type) {
			case *ast.Ident:
				name = t.Name
			case *ast.SelectorExpr:
				name = t.Sel.Name
			}
			if value, err := strconv.Unquote(lit.Value); err == nil && value != "" &&
				(typ != "" && name == typ || prefix != "" && strings.HasPrefix(spec.Names[0].Name, prefix)) {
				values = append(values, value)
			}
			return true
		})
	}
	return values
}

// Every cause of a rewrite is explained, and none that is never counted.
func TestEveryCauseIsExplained(t *testing.T) {
	files, err := filepath.Glob("../../pipeline/*.go")
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(handbook(t), "| `trimtab_prefix_rewrites_total` |")
	row, _, _ = strings.Cut(row, " | ")
	counted := map[string]bool{"cause": true}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.(?:count|countRewrite)\("([a-z_]+)"`).FindAllStringSubmatch(string(code), -1) {
			counted[m[1]] = true
			if !strings.Contains(row, "`"+m[1]+"`") {
				t.Errorf("docs/operations.md does not explain the cause %s", m[1])
			}
		}
	}
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row, -1) {
		if !counted[m[1]] {
			t.Errorf("docs/operations.md explains the cause %s, which is never counted", m[1])
		}
	}
	if len(counted) < 5 {
		t.Errorf("saw only %v", counted)
	}
}

// Every reason and every outcome is explained.
func TestEveryReasonIsExplained(t *testing.T) {
	text := handbook(t)
	all := constants(t, "pipeline", "Reason", "")
	all = append(all, constants(t, "extproc", "Reason", "Usage")...)
	all = append(all, constants(t, "pipeline/promptcache", "UsageOutcome", "")...)
	if len(all) < 30 {
		t.Fatalf("saw only %q", all)
	}
	for _, value := range all {
		if !strings.Contains(text, "`"+value+"`") {
			t.Errorf("docs/operations.md does not explain %q", value)
		}
	}
}
