package classify

import "strings"

// Fidelity is the outcome that a result's text states.
type Fidelity uint8

// The outcomes. NoVerdict is the zero value.
const (
	NoVerdict Fidelity = iota
	Pass
	Fail
	BuildFail
	Crash
)

// String returns the outcome in lower case.
func (f Fidelity) String() string {
	switch f {
	case Pass:
		return "pass"
	case Fail:
		return "fail"
	case BuildFail:
		return "build failure"
	case Crash:
		return "crash"
	default:
		return "none"
	}
}

// fidelity judges a result. A test's own summary outranks a stack trace, which a
// failing test prints too; a stated failure without any signal is a Fail.
func fidelity(c Call, text string, failed bool) Fidelity {
	s := look(text)
	if !failed {
		switch c.Sub {
		case Viewer, Seeker, Lister, Differ, VCS, Info, Printer, HTTP, Packer:
			return NoVerdict
		case NoSub, Tester, Builder, Linter, Data, Cluster, Unknown:
		}
		if c.Kind != Shell {
			return NoVerdict
		}
	}
	for line := range strings.Lines(text) {
		line = plainLine(strings.TrimRight(line, "\r\n"))
		if line != "" {
			s.see(line)
		}
	}
	switch {
	case s.fail:
		return Fail
	case (s.crash || s.named && failed) && !s.pass:
		return Crash
	case s.build && (!s.pass || failed):
		return BuildFail
	case failed:
		return Fail
	case s.pass:
		return Pass
	}
	return NoVerdict
}

// plainLine removes colour escapes from a line that has any.
func plainLine(line string) string {
	if strings.IndexByte(line, 0x1b) < 0 {
		return line
	}
	b := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] == 0x1b && i+1 < len(line) && line[i+1] == '[' {
			for i += 2; i < len(line) && (line[i] < '@' || line[i] > '~'); i++ {
			}
			continue
		}
		b = append(b, line[i])
	}
	return string(b)
}

// signals are what was seen so far, by strong, line-anchored signs. A named
// error is a weak sign: manuals are full of them.
type signals struct {
	pass, fail, build, crash, named bool

	// What occurs anywhere in the text: most lines need not be searched.
	errors, goFiles, linker, dumps, asserts bool
}

// look searches the whole text for the words without which a line can't be a
// signal.
func look(text string) signals {
	return signals{
		errors:  strings.Contains(text, "error"),
		goFiles: strings.Contains(text, ".go:"),
		linker: strings.Contains(text, "undefined reference to") || strings.Contains(text, "unresolved external") ||
			strings.Contains(text, "ld returned ") || strings.Contains(text, "linker command failed"),
		dumps:   strings.Contains(text, "(core dumped)") || strings.Contains(text, "Sanitizer: "),
		asserts: strings.Contains(text, "Assertion "),
	}
}

// maxSignal bounds how much of a line is looked at: signals stand early in a
// line, and a line can be a megabyte.
const maxSignal = 400

// see looks at one line that is not empty.
func (s *signals) see(line string) {
	if len(line) > maxSignal {
		line = line[:maxSignal]
	}
	trimmed := strings.TrimLeft(line, " \t")
	if trimmed == "" {
		return
	}
	s.testLine(line, trimmed)
	s.build = s.build || buildLine(line, trimmed) || s.compilerLine(line)
	s.crash = s.crash || crashLine(line) ||
		s.dumps && (strings.Contains(line, "(core dumped)") || line[0] == '=' && strings.Contains(line, "Sanitizer: ")) ||
		s.asserts && strings.HasPrefix(trimmed, "Assertion ") && strings.Contains(trimmed, "failed")
	s.named = s.named || namedError(line)
}

// testLine knows the summaries of test runners.
func (s *signals) testLine(line, trimmed string) {
	switch line[0] {
	case 't':
		if rest, ok := strings.CutPrefix(line, "test result: "); ok {
			s.fail = s.fail || strings.HasPrefix(rest, "FAILED")
			s.pass = s.pass || strings.HasPrefix(rest, "ok")
		}
	case '=', '-':
		s.fail = s.fail || strings.HasPrefix(line, "--- FAIL:")
		s.pass = s.pass || strings.HasPrefix(line, "--- PASS:")
		if line[0] == '=' {
			s.counts(line)
		}
	case 'F':
		switch {
		case strings.HasPrefix(line, "FAIL\t"), strings.HasPrefix(line, "FAILURES!"), line == "FAIL",
			strings.HasPrefix(line, "FAIL ") && strings.Contains(line, "."),
			strings.HasPrefix(line, "FAILED (") && (strings.Contains(line, "failures=") || strings.Contains(line, "errors=")),
			strings.HasPrefix(line, "FAILED ") && strings.Contains(line, "::"),
			strings.HasPrefix(line, "Failed!  - Failed:") && nonZeroAfter(line, "Failed:"):
			s.fail = true
		}
	case 'o':
		s.pass = s.pass || strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "ok ") && len(line) > 3 && isDigit(line[3])
	case 'n':
		s.fail = s.fail || strings.HasPrefix(line, "not ok ") && len(line) > 7 && isDigit(line[7])
	case '{':
		s.fail = s.fail || strings.HasPrefix(line, `{"Time":`) && strings.Contains(line, `"Action":"fail"`)
	case '#':
		if strings.HasPrefix(line, "# fail ") {
			s.fail = s.fail || nonZeroAfter(line, "# fail")
			s.pass = s.pass || strings.TrimSpace(line[7:]) == "0"
		}
	case 'O', 'P':
		s.pass = s.pass || line == "OK" || strings.HasPrefix(line, "OK (") || line == "PASS" || strings.HasPrefix(line, "Passed!")
	}
	s.indented(trimmed)
}

// indented knows the signs that may stand behind white space.
func (s *signals) indented(t string) {
	switch {
	case strings.HasPrefix(t, "✕ "), strings.HasPrefix(t, "✗ "), strings.HasPrefix(t, "✖ "), strings.HasPrefix(t, "(fail) "):
		s.fail = true
	case strings.HasPrefix(t, "The following tests FAILED"):
		s.fail = true
	case strings.HasPrefix(t, "Tests"):
		if strings.HasPrefix(t, "Tests run:") || strings.Contains(t, "failed") || strings.Contains(t, "passed") {
			s.counts(t)
		}
	case isDigit(t[0]):
		s.counts(t)
	}
}

// counts reads a summary that counts: "3 passed, 1 failed", "4 examples, 0
// failures", "Tests run: 5, Failures: 0, Errors: 0".
func (s *signals) counts(line string) {
	bad := nonZeroBefore(line, " failed") || nonZeroBefore(line, " failures") || nonZeroBefore(line, " failure") ||
		nonZeroBefore(line, " failing") || nonZeroAfter(line, "Failures:") || nonZeroAfter(line, "Errors:") ||
		nonZeroBefore(line, " errors in") || nonZeroBefore(line, " error in") || nonZeroBefore(line, " fail")
	good := nonZeroBefore(line, " passed") || nonZeroBefore(line, " passing") || strings.Contains(line, "0 failures") ||
		nonZeroBefore(line, " pass") || strings.Contains(line, "Failures: 0, Errors: 0")
	s.fail = s.fail || bad
	s.pass = s.pass || good && !bad
}

// nonZeroBefore says that a number other than 0 stands directly before word,
// and that the word ends there.
func nonZeroBefore(line, word string) bool {
	i := strings.Index(line, word)
	if i <= 0 {
		return false
	}
	if end := i + len(word); end < len(line) && isAlnum(line[end]) {
		return false
	}
	j := i
	for j > 0 && isDigit(line[j-1]) {
		j--
	}
	return strings.Trim(line[j:i], "0") != ""
}

// nonZeroAfter says that a number other than 0 follows word and white space.
func nonZeroAfter(line, word string) bool {
	_, rest, ok := strings.Cut(line, word)
	if !ok {
		return false
	}
	rest = strings.TrimLeft(rest, " \t")
	n := 0
	for n < len(rest) && isDigit(rest[n]) {
		n++
	}
	return strings.Trim(rest[:n], "0") != ""
}

// buildLine knows the errors of compilers, linkers and build tools.
func buildLine(line, trimmed string) bool {
	switch line[0] {
	case 'e':
		if strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "error[") || strings.HasPrefix(line, "e: file:") {
			return true
		}
	case 'E':
		if strings.HasPrefix(line, "ERROR: failed to ") || strings.HasPrefix(line, "ERR_PNPM") {
			return true
		}
	case '[':
		if strings.HasPrefix(line, "[ERROR] ") {
			return true
		}
	case 'n':
		if strings.HasPrefix(line, "npm ERR!") || strings.HasPrefix(line, "npm error ") || strings.HasPrefix(line, "ninja: build stopped") {
			return true
		}
	case 'm', 'g':
		if strings.HasPrefix(line, "make") && strings.Contains(line, ": *** ") {
			return true
		}
	case 'B', 'F':
		if strings.HasPrefix(line, "BUILD FAILED") || strings.HasPrefix(line, "FAILURE: Build failed") || strings.HasPrefix(line, "Build FAILED") {
			return true
		}
	case 'C':
		if strings.HasPrefix(line, "CMake Error") {
			return true
		}
	}
	return strings.HasPrefix(trimmed, "│ Error:") || strings.HasPrefix(trimmed, "ELIFECYCLE")
}

// compilerLine knows what may stand in the middle of a line.
func (s *signals) compilerLine(line string) bool {
	if s.goFiles && goError(line) {
		return true
	}
	if s.errors {
		if strings.Contains(line, ": error: ") || strings.Contains(line, ": fatal error: ") || strings.Contains(line, "error: could not compile") {
			return true
		}
		if i := strings.Index(line, "error "); i >= 0 && codedError(line[i+6:]) {
			return true
		}
	}
	return s.linker && (strings.Contains(line, "undefined reference to") || strings.Contains(line, "unresolved external") ||
		strings.Contains(line, "ld returned ") || strings.Contains(line, "linker command failed"))
}

// codedError says that a text begins with a compiler's error code and a colon.
func codedError(s string) bool {
	for _, p := range []string{"TS", "CS", "MSB", "NU", "LNK", "C"} {
		rest, ok := strings.CutPrefix(s, p)
		if !ok {
			continue
		}
		n := 0
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		if n >= 3 && n < len(rest) && rest[n] == ':' {
			return true
		}
	}
	return false
}

// goError says that a line is file.go:line:column: message.
func goError(line string) bool {
	i := strings.Index(line, ".go:")
	if i <= 0 || strings.IndexByte(line[:i], ' ') >= 0 {
		return false
	}
	rest := line[i+4:]
	for range 2 {
		n := 0
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		if n == 0 || n >= len(rest) || rest[n] != ':' {
			return false
		}
		rest = rest[n+1:]
	}
	return strings.HasPrefix(rest, " ")
}

// crashLine knows stack traces, panics and signals.
func crashLine(line string) bool {
	switch line[0] {
	case 'T', 'U':
		if strings.HasPrefix(line, "Traceback (most recent call last)") || strings.HasPrefix(line, "Unhandled") && strings.Contains(line, "ception") ||
			strings.HasPrefix(line, "UnhandledPromiseRejection") || strings.HasPrefix(line, "Uncaught ") {
			return true
		}
	case 'p':
		if strings.HasPrefix(line, "panic: ") {
			return true
		}
	case 'g':
		if rest, ok := strings.CutPrefix(line, "goroutine "); ok && rest != "" && isDigit(rest[0]) && strings.Contains(rest, " [") {
			return true
		}
	case 'E':
		if strings.HasPrefix(line, "Exception in thread") {
			return true
		}
	case 'C':
		if strings.HasPrefix(line, "Caused by: ") {
			return true
		}
	case 't':
		if strings.HasPrefix(line, "thread '") && strings.Contains(line, "panicked at") {
			return true
		}
	case '*':
		if strings.HasPrefix(line, "** (") && strings.Contains(line, "Error)") {
			return true
		}
	case 'S':
		if strings.HasPrefix(line, "Segmentation fault") {
			return true
		}
	}
	return false
}

// namedError says that a line begins like json.decoder.JSONDecodeError: text.
func namedError(line string) bool {
	n := 0
	for n < len(line) && (isAlnum(line[n]) || line[n] == '.' || line[n] == '_') {
		n++
	}
	if n >= len(line) || line[n] != ':' {
		return false
	}
	return n > 5 && (strings.HasSuffix(line[:n], "Error") || strings.HasSuffix(line[:n], "Exception"))
}
