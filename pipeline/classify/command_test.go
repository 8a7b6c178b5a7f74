package classify_test

import (
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

func TestRealCommandLines(t *testing.T) {
	for _, tc := range []struct {
		line    string
		program string // of the one command that prints; "" if several or unknown
		sub     string
		file    string // the one file it names
		numbers bool
	}{
		{`sed -n '1,220p' packages/core/src/types.ts`, "sed", "viewer", "packages/core/src/types.ts", false},
		{`sed -n 1,80p "a b.ts"`, "sed", "viewer", "a b.ts", false},
		{`sed -n '1,5p;7p' x | head -3`, "sed", "viewer", "x", false},
		{`sed -i 's/a/b/' f.go`, "sed", "viewer", "", false},
		{`sed -e s/a/b/ -n f.go`, "sed", "viewer", "f.go", false},
		{`nl -ba src/a.ts | sed -n '35,95p'`, "nl", "viewer", "src/a.ts", true},
		{`nl -ba a.md | sed -n 1,2p && nl -ba b.md`, "", "", "", true},
		{`cat -n a.go`, "cat", "viewer", "a.go", true},
		{`cat -An a.go`, "cat", "viewer", "a.go", true},
		{`cat --number a.go`, "cat", "viewer", "a.go", true},
		{`cat a.go b.go`, "cat", "viewer", "", false},
		{`cat *.go`, "cat", "viewer", "", false},
		{`cat $F`, "cat", "viewer", "", false},
		{`cat < a.go`, "cat", "viewer", "a.go", false},
		{`cat a.go | wc -l`, "cat", "info", "a.go", false},
		{`head -50 CHANGELOG.md`, "head", "viewer", "CHANGELOG.md", false},
		{`head -n 50 CHANGELOG.md`, "head", "viewer", "CHANGELOG.md", false},
		{`tail -n +20 a.txt`, "tail", "viewer", "a.txt", false},
		{`wc -l a.txt`, "wc", "info", "a.txt", false},
		{`cd /repo && cat a.go`, "cat", "viewer", "/repo/a.go", false},
		{`cd /repo/x && cd ../y && cat ./a.go 2>&1`, "cat", "viewer", "/repo/y/a.go", false},
		{`cd "$DIR" && cat a.go`, "cat", "viewer", "", false},
		{`cat a.go | grep foo`, "cat", "seeker", "", false},
		{`grep -rn "foo" src | head -20`, "grep", "seeker", "", false},
		{`rg -n "a|b" -g '!**/*.map'`, "rg", "seeker", "", false},
		{`grep -n "chalk\\." packages/a.ts | head -30`, "grep", "seeker", "", false},
		{`find . -name "*.go" -type f`, "find", "lister", "", false},
		{`find . -name '*.md' -exec cat -n {} \;`, "find", "lister", "", true},
		{`ls *.md | xargs nl -ba`, "ls", "seeker", "", true},
		{`rg --files -g '*bead*'`, "rg", "seeker", "", false},
		{`ls -1 docs/plans | tail -40`, "ls", "lister", "", false},
		{`git status --short --branch`, "git", "vcs", "", false},
		{`git -C /home/a diff --stat`, "git", "differ", "", false},
		{`git diff main...HEAD -- a.md | wc -l`, "git", "info", "", false},
		{`git show origin/main:.agents/workflow.md`, "git", "viewer", "", false},
		{`git show origin/main:a.yaml | nl -ba | sed -n '78,118p'`, "git", "viewer", "", true},
		{`git show 07fa992`, "git", "differ", "", false},
		{`git grep -n foo`, "git", "seeker", "", false},
		{`git ls-files`, "git", "lister", "", false},
		{`git log --oneline -5`, "git", "vcs", "", false},
		{`git add a && git commit -m "$(cat <<'EOF'` + "\nfix: it's \"done\" (really)\n\nEOF\n)\"", "", "", "", false},
		{`go test ./... 2>&1 | tail -30`, "go", "tester", "", false},
		{`go build ./...`, "go", "builder", "", false},
		{`go vet ./...`, "go", "linter", "", false},
		{`CGO_ENABLED=0 go test -run 'TestX$' ./a`, "go", "tester", "", false},
		{`mise run test 2>&1 | head -100`, "mise", "tester", "", false},
		{`mise run fmt && mise run lint 2>&1 | tail -30`, "", "", "", false},
		{`mise exec -- go test ./...`, "go", "tester", "", false},
		{`cd packages/a && npm run build 2>&1 | tail -3`, "npm", "builder", "", false},
		{`npm run check 2>&1 | grep -E "(error|warning)" | head -10`, "npm", "seeker", "", false},
		{`npm test -- --watch=false`, "npm", "tester", "", false},
		{`npx tsc --noEmit`, "tsc", "builder", "", false},
		{`npx --yes prettier --check a.ts`, "prettier", "linter", "", false},
		{`bunx prettier --check a.mdx`, "prettier", "linter", "", false},
		{`bun run test`, "bun", "tester", "", false},
		{`pnpm --filter web test`, "pnpm", "builder", "", false},
		{`yarn dlx vitest run`, "vitest", "tester", "", false},
		{`mix test test/a_test.exs 2>&1`, "mix", "tester", "", false},
		{`mix credo --strict 2>&1 | tail -15`, "mix", "linter", "", false},
		{`mix compile 2>&1 | tail -10`, "mix", "builder", "", false},
		{`python3 -m pytest -q --tb=line 2>&1`, "pytest", "tester", "", false},
		{`poetry run pytest tests`, "pytest", "tester", "", false},
		{`uv run --with requests pytest`, "pytest", "tester", "", false},
		{`uv pip install x`, "uv", "builder", "", false},
		{`python reproduce.py`, "python", "data", "", false},
		{`cargo test`, "cargo", "tester", "", false},
		{`cargo clippy 2>&1`, "cargo", "linter", "", false},
		{`cargo metadata --format-version 1`, "cargo", "packer", "", false},
		{`mvn -B dependency:tree 2>&1`, "mvn", "packer", "", false},
		{`./gradlew test`, "gradlew", "tester", "", false},
		{`make -k 2>&1`, "make", "builder", "", false},
		{`make test`, "make", "tester", "", false},
		{`bash -lc 'cat -n a.go'`, "cat", "viewer", "a.go", true},
		{`bash -lc "cd /x && sed -n '1,5p' b.go"`, "sed", "viewer", "/x/b.go", false},
		{`sh -c 'rg foo' | head`, "rg", "seeker", "", false},
		{`sudo -E -u root cat /etc/hosts`, "cat", "viewer", "/etc/hosts", false},
		{`timeout -k 5 30 go test ./...`, "go", "tester", "", false},
		{`env -u A B=1 nice -n 5 cat f`, "cat", "viewer", "f", false},
		{`time -p stdbuf -oL nohup cat f`, "cat", "viewer", "f", false},
		{`docker compose exec -T web pytest`, "pytest", "tester", "", false},
		{`docker exec -it c1 cat /a`, "cat", "viewer", "/a", false},
		{`kubectl exec pod -- ls /`, "ls", "lister", "", false},
		{`kubectl get pods -o json | jq .items`, "kubectl", "data", "", false},
		{`gh pr view 1361 --json title`, "gh", "data", "", false},
		{`gh api repos/a/b --jq '.[].name'`, "gh", "data", "", false},
		{`bd show x --json`, "bd", "data", "", false},
		{`curl -s https://x.y/z | jq .`, "curl", "data", "", false},
		{"cat > out.md <<'EOF'\ncat -n is a command\nEOF\n", "", "", "", false},
		{"cat <<'EOF' | go run -\npackage main\nfunc main() { a(\"x\") }\nEOF", "cat", "data", "", false},
		{`for f in a b; do cat -n $f; done`, "", "", "", true},
		{`if true; then cat a; fi`, "", "", "", false},
		{`cat a; echo ---; cat b`, "", "", "", false},
		{`echo "a | b && c; cat -n d"`, "echo", "printer", "", false},
		{`echo $(cat a.go)`, "echo", "printer", "", false},
		{`diff <(cat a) <(cat b)`, "diff", "differ", "", false},
		{`ls # cat -n x`, "ls", "lister", "", false},
		{`case $x in a) ls;; esac`, "", "", "", false},
		{`cat 'unclosed`, "", "", "", false},
		{`cat -n 'unclosed`, "", "", "", true},
		{`rtk git add a.go`, "git", "vcs", "", false},
		{`export A=1; set -e; source env.sh; cat f`, "cat", "viewer", "f", false},
		{"cat a.go \\\n  | head -5", "cat", "viewer", "a.go", false},
		{"", "", "", "", false},
	} {
		t.Run(tc.line, func(t *testing.T) {
			c := classify.OfCall("Bash", []transcript.Arg{{Name: "command", Path: "command", Text: tc.line}}, "")
			got := []any{c.Command.Program, c.Sub.String(), c.File, c.Numbers}
			want := []any{tc.program, tc.sub, tc.file, tc.numbers}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func TestCommandVectorsAndWorkingDirectories(t *testing.T) {
	vector := []transcript.Arg{
		{Name: "command", Path: "command[0]", Text: "bash"},
		{Name: "command", Path: "command[1]", Text: "-lc"},
		{Name: "command", Path: "command[2]", Text: "sed -n '1,20p' src/it's.go"},
		{Name: "workdir", Path: "workdir", Text: "/repo/"},
	}
	// The quote in the script does not close, so nothing is named.
	if c := classify.OfCall("shell", vector, ""); c.File != "" || c.Kind != classify.Shell {
		t.Errorf("got %q", c.File)
	}
	vector[2].Text = `sed -n '1,20p' "src/it's.go"`
	if c := classify.OfCall("shell", vector, ""); c.File != "/repo/src/it's.go" {
		t.Errorf("got %q", c.File)
	}
	nested := []transcript.Arg{
		{Name: "type", Path: "action.type", Text: "exec"},
		{Name: "command", Path: "action.command[0]", Text: "cat"},
		{Name: "command", Path: "action.command[1]", Text: "a.go"},
	}
	if c := classify.OfCall("local_shell_call", nested, ""); c.File != "a.go" {
		t.Errorf("got %q", c.File)
	}
}

func TestSameFile(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"/r/src/a.go", "src/a.go", true},
		{"src/a.go", "/r/src/a.go", true},
		{"/r/src/a.go", "/r/src/a.go", true},
		{"/r/src/ba.go", "a.go", false},
		{"/r/src/a.go", "/q/src/a.go", false},
		{"", "a.go", false},
	} {
		if got := classify.SameFile(tc.a, tc.b); got != tc.want {
			t.Errorf("SameFile(%q, %q) = %v", tc.a, tc.b, got)
		}
	}
	read := func(p string) string {
		return classify.OfCall("Read", []transcript.Arg{{Name: "file_path", Path: "file_path", Text: p}}, "").File
	}
	for _, p := range []string{"./src//a.go", "src/x/../a.go", `src\a.go`} {
		if read(p) != "src/a.go" {
			t.Errorf("%q is %q", p, read(p))
		}
	}
}

func TestEditsAndNewText(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a/b.go\n@@\n-x\n+y\n*** Add File: c.go\n+z\n*** End Patch\n"
	c := classify.OfCall("apply_patch", nil, patch)
	if got := strings.Join(c.Edits, ","); got != "a/b.go,c.go" || !c.Writes || c.File != "" {
		t.Errorf("edits %q, file %q", got, c.File)
	}
	c = classify.OfCall("Edit", []transcript.Arg{
		{Name: "file_path", Path: "file_path", Text: "/r/a.go"},
		{Name: "old_string", Path: "old_string", Text: "x"},
		{Name: "new_string", Path: "new_string", Text: "y"},
	}, "")
	if c.File != "/r/a.go" || !c.Numbers {
		t.Errorf("file %q", c.File)
	}
	for name, want := range map[string]bool{
		"content": true, "file_text": true, "new_string": true, "new_str": true, "newText": true, "replace": true,
		"replacement_text": true, "newString": true, "old_string": false, "oldText": false, "search": false,
		"old_str": false, "file_path": false, "patchText": false,
	} {
		if got := c.HoldsNewText(transcript.Arg{Name: name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	read := classify.OfCall("Read", nil, "")
	if read.HoldsNewText(transcript.Arg{Name: "content"}) {
		t.Error("a read holds new text")
	}
}

func TestIdentity(t *testing.T) {
	call := func(tool string, kv ...string) [16]byte {
		var args []transcript.Arg
		for i := 0; i < len(kv); i += 2 {
			args = append(args, transcript.Arg{Name: kv[i], Path: kv[i], Text: kv[i+1], Literal: isNumber(kv[i+1])})
		}
		return classify.OfCall(tool, args, "").Identity
	}
	base := call("Read", "file_path", "/a/b.go", "offset", "10", "limit", "5")
	if base != call("Read", "limit", "5", "file_path", "/a/./b.go", "offset", "10") {
		t.Error("order or spelling changes the identity")
	}
	if base == call("Read", "file_path", "/a/b.go", "offset", "11", "limit", "5") {
		t.Error("the range does not change it")
	}
	if base == call("view", "file_path", "/a/b.go", "offset", "10", "limit", "5") {
		t.Error("the tool does not change it")
	}
	git := call("Bash", "command", "git diff", "description", "one")
	if git != call("Bash", "command", "git diff", "description", "two") {
		t.Error("the description changes it")
	}
	if git == call("Bash", "command", "git diff --stat", "description", "one") {
		t.Error("the command does not change it")
	}
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"cat a | b > c", "a <<E\nx\nE\nb", `echo "$(a 'b')" ${c}`, "a <(b) >(c)", "((((", "a\\", "$'x\\'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := classify.OfCall("Bash", []transcript.Arg{{Name: "command", Path: "command", Text: s}}, "")
		b := classify.OfCall("Bash", []transcript.Arg{{Name: "command", Path: "command", Text: s}}, "")
		if a.File != b.File || a.Command.Program != b.Command.Program {
			t.Error("not deterministic")
		}
	})
}

func BenchmarkOfCall(b *testing.B) {
	args := []transcript.Arg{{Name: "command", Path: "command", Text: `cd /repo && nl -ba src/a.ts | sed -n '35,95p' 2>&1`}}
	b.ReportAllocs()
	for b.Loop() {
		classify.OfCall("mcp__desktop-commander__start_process", args, "")
	}
}

func TestPartsOfSeveralCommands(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"cd web && git status", ""},
		{"git status && git push | tail -3", "git status; git|tail push"},
		{"echo '== a'; git status; echo == $x", "echo == a; git status; echo opaque == $x"},
		{"for f in *; do cat $f; done; ls", ""},
		{"(git fetch; git status)", "git fetch; git status"},
	} {
		c := classify.Resolve(tt.command)
		var got []string
		for _, p := range c.Parts {
			text := strings.Join(p.Stages, "|")
			if p.Opaque {
				text += " opaque"
			}
			got = append(got, strings.Join(append([]string{text}, p.Args...), " "))
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.command, s, tt.want)
		}
	}
}
