package classify_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/internal/corpus"
	"github.com/trimtab-io/trimtab/pipeline/classify"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

func shell(line string) classify.Call {
	return classify.OfCall("Bash", []transcript.Arg{{Name: "command", Path: "command", Text: line}}, "")
}

func TestStatedExitCodes(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		code       int
		ok         bool
	}{
		{"claude code", "Exit code 128\nfatal: not a repository", 128, true},
		{"codex", "Chunk ID: 24449d\nWall time: 0.0 seconds\nProcess exited with code 1\nOutput:\nx", 1, true},
		{"codex, ok", "Chunk ID: 24449d\nWall time: 0.0 seconds\nProcess exited with code 0\nOutput:\nx", 0, true},
		{"codex, running", "Chunk ID: 2\nWall time: 30.0 seconds\nProcess running with session ID 5\nOutput:\nx", 0, false},
		{"codex, quoted output", "Chunk ID: 2\nOutput:\nProcess exited with code 7\nx", 0, false},
		{"codex, patch", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", 0, true},
		{"copilot", "x\ny\n<shellId: 2 completed with exit code 3>", 3, true},
		{"openhands", "x\n[The command completed with exit code 2.]\n[Current working directory: /w]", 2, true},
		{"openhands, newer", "x\n[Command finished with exit code 0]", 0, true},
		{"pi", "npm ERR!\n\nCommand exited with code 1", 1, true},
		{"gemini", "Output: x\nError: (none)\nExit Code: 1\nSignal: 0", 1, true},
		{"opencode", "x\nExit status 1", 1, true},
		{"none", "x\nexit codes are documented in exit.md", 0, false},
		{"empty", "", 0, false},
		{"a line too long", "Exit code " + strings.Repeat("1", 200), 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := classify.OfResult(shell("make"), tc.text, false)
			if r.Exit != tc.code || r.HasExit != tc.ok {
				t.Errorf("got %d, %v", r.Exit, r.HasExit)
			}
			if r.Failed != (tc.ok && tc.code != 0) {
				t.Errorf("failed: %v", r.Failed)
			}
		})
	}
}

func TestFidelity(t *testing.T) {
	for _, tc := range []struct {
		name, line, text string
		isError          bool
		want             classify.Fidelity
	}{
		{"go pass", "go test ./...", "ok  \ta/b\t0.1s\n", false, classify.Pass},
		{"go fail", "go test ./...", "--- FAIL: TestX (0.00s)\nFAIL\ta/b\t0.1s\n", false, classify.Fail},
		{"go build error", "go build ./...", "# a/b\na/b/x.go:3:5: undefined: y\n", false, classify.BuildFail},
		{"go panic", "go run .", "panic: boom\n\ngoroutine 1 [running]:\n", false, classify.Crash},
		{"cargo pass", "cargo test", "test result: ok. 3 passed; 0 failed; 0 ignored\n", false, classify.Pass},
		{"cargo fail", "cargo test", "thread 'x' panicked at src/a.rs:1\ntest result: FAILED. 2 passed; 1 failed\n", false, classify.Fail},
		{"rustc", "cargo build", "error[E0425]: cannot find value\n", false, classify.BuildFail},
		{"pytest pass", "pytest", "===== 12 passed in 0.1s =====\n", false, classify.Pass},
		{"pytest fail", "pytest", "===== 1 failed, 12 passed in 0.1s =====\n", false, classify.Fail},
		{"pytest in colour", "pytest", "\x1b[31m===== \x1b[1m1 failed\x1b[0m, 2 passed in 0.1s =====\x1b[0m\n", false, classify.Fail},
		{"pytest short", "pytest -q", "FAILED tests/a.py::test_x - assert 1\n", false, classify.Fail},
		{"unittest", "python -m unittest", "Traceback (most recent call last):\nFAILED (failures=1)\n", false, classify.Fail},
		{"python", "python a.py", "Traceback (most recent call last):\n  File\nValueError: x\n", false, classify.Crash},
		{"jest fail", "npx jest", "Tests:       1 failed, 4 passed, 5 total\n", false, classify.Fail},
		{"jest pass", "npx jest", "Tests:       5 passed, 5 total\n", false, classify.Pass},
		{"mocha", "npx mocha", "  3 passing (4ms)\n  1 failing\n", false, classify.Fail},
		{"tap", "node --test", "not ok 3 - x\n# fail 1\n", false, classify.Fail},
		{"node test, ok", "npm test", "# pass 4\n# fail 0\n", false, classify.Pass},
		{"rspec", "bundle exec rspec", "4 examples, 1 failure\n", false, classify.Fail},
		{"exunit", "mix test", "3 tests, 0 failures\n", false, classify.Pass},
		{"exunit fail", "mix test", "3 tests, 2 failures\n", false, classify.Fail},
		{"bun", "bun test", "(fail) a > b\n 1 fail\n", false, classify.Fail},
		{"junit", "mvn test", "Tests run: 5, Failures: 1, Errors: 0\n", false, classify.Fail},
		{"maven", "mvn package", "[ERROR] COMPILATION ERROR :\n", false, classify.BuildFail},
		{"tsc", "npx tsc", "src/a.ts(3,4): error TS2304: Cannot find name 'x'.\n", false, classify.BuildFail},
		{"dotnet", "dotnet build", "a.cs(1,2): error CS1002: ; expected\n", false, classify.BuildFail},
		{"gcc", "gcc a.c", "a.c:1:2: error: expected ';'\n", false, classify.BuildFail},
		{"ld", "make", "a.c:(.text+0x5): undefined reference to `f'\n", false, classify.BuildFail},
		{"make", "make", "make[1]: *** [Makefile:3: all] Error 1\n", false, classify.BuildFail},
		{"npm", "npm run build", "npm ERR! code ELIFECYCLE\n", false, classify.BuildFail},
		{"gradle", "./gradlew build", "FAILURE: Build failed with an exception.\n", false, classify.BuildFail},
		{"cmake", "cmake .", "CMake Error at CMakeLists.txt:1\n", false, classify.BuildFail},
		{"segfault", "./a.out", "Segmentation fault (core dumped)\n", false, classify.Crash},
		{"java", "java A", "Exception in thread \"main\" java.lang.X\n", false, classify.Crash},
		{"elixir", "mix run", "** (RuntimeError) x\n", false, classify.Crash},
		{"decoys in a passing log", "npm test", "FAILED: 0\nno errors, 0 failed\nTests:  5 passed, 5 total\nerror handling works\n", false, classify.Pass},
		{"decoys in a file", "cat a.log", "panic: boom\nerror: x\n", false, classify.NoVerdict},
		{"nothing said", "./deploy", "done\n", false, classify.NoVerdict},
		{"error without a sign", "./deploy", "no\n", true, classify.Fail},
		{"error in a file viewer", "cat nope", "cat: nope: No such file or directory\n", true, classify.Fail},
		{"several commands", "make; go test ./...", "ok  \ta\t0.1s\nFAIL\tb\t0.1s\n", false, classify.Fail},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := classify.FidelityOf(classify.OfResult(shell(tc.line), tc.text, tc.isError), tc.text); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestFidelityOfRecordedOutputs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "outputs"), "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no outputs")
	}
	for _, f := range files {
		var meta struct {
			Command string `json:"command"`
			Exit    int    `json:"exit_code"`
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &meta); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(strings.TrimSuffix(f, "json") + "txt")
		if err != nil {
			t.Fatal(err)
		}
		call := shell(meta.Command)
		told := classify.FidelityOf(classify.OfResult(call, string(text), meta.Exit != 0), string(text))
		silent := classify.FidelityOf(classify.OfResult(call, string(text), false), string(text))
		name := strings.Join(strings.Split(filepath.ToSlash(f), "/")[len(strings.Split(filepath.ToSlash(f), "/"))-2:], "/")
		t.Logf("%-28s exit %d %-8s told %-14s silent %s", name, meta.Exit, call.Sub, told, silent)
		if meta.Exit != 0 && told < classify.Fail {
			t.Errorf("%s: a failure is %s", name, told)
		}
		if meta.Exit == 0 && silent > classify.Pass {
			t.Errorf("%s: a success is %s", name, silent)
		}
	}
}

func BenchmarkOfResult(b *testing.B) {
	line := "    at Object.<anonymous> (/repo/src/thing.test.ts:10:20) with some more text behind it\n"
	text := strings.Repeat(line, (1<<20)/len(line))
	call := shell("npm test")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		classify.OfResult(call, text, false)
	}
}

func BenchmarkFidelityOf(b *testing.B) {
	line := "    at Object.<anonymous> (/repo/src/thing.test.ts:10:20) with some more text behind it\n"
	text := strings.Repeat(line, (1<<20)/len(line))
	c := classify.OfResult(shell("npm test"), text, false)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		classify.FidelityOf(c, text)
	}
}
