package cmdfilter

import "strings"

// signalWords are what a line that reports a failure holds, in lower case. No
// stage cuts a line that holds one, unless its expression covers the whole line
// and is marked as trusted.
func signalWords() []string {
	return []string{
		"error", "err!", "fatal", "panic", "exception", "traceback", "fail", "critical", "assert", "denied", "unauthorized",
		"forbidden", "not found", "no such", "cannot", "can't", "could not", "unable to", "undefined", "unresolved", "segfault",
		"segmentation fault", "sigsegv", "sigkill", "sigabrt", "sigterm", "killed", "out of memory", "stack overflow", "timeout",
		"timed out", "refused", "certificate", "expired", "corrupt", "cve-", "vulnerab", "unhealthy", "crashloop", "evicted",
		"deprecated!", "warn", "detached", "conflict", "reject", "test result", "tests run", "test suites", "=== summary",
		"exit code", "exit status", "aborted", "core dumped", "oom",
	}
}

// countedWords are signals if a number stands before them.
func countedWords() []string { return []string{"passed", "skipped"} }

// signals finds signal words by their first two letters. It is immutable.
type signals struct {
	at [1 << 10][]string // by pair
}

func newSignals() *signals {
	s := &signals{}
	for _, w := range append(signalWords(), countedWords()...) {
		i := pair(w[0], w[1])
		s.at[i] = append(s.at[i], w)
	}
	return s
}

// pair folds two bytes into an index; letters fold with their capitals.
func pair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// in says that a line holds a signal. Its cost is linear in the line.
func (s *signals) in(line string) bool {
	for i := 0; i+1 < len(line); i++ {
		for _, w := range s.at[pair(line[i], line[i+1])] {
			if i+len(w) <= len(line) && strings.EqualFold(line[i:i+len(w)], w) && counts(line, i, w) {
				return true
			}
		}
	}
	return false
}

// counts says that a word at place i means what it says: not "0 errors", and
// "passed" only behind a number.
func counts(line string, i int, w string) bool {
	before := line[:i]
	switch w {
	case "passed", "skipped":
		return i > 1 && line[i-1] == ' ' && line[i-2] >= '0' && line[i-2] <= '9'
	case "oom":
		end := i + len(w)
		return (i == 0 || !letter(line[i-1])) && (end == len(line) || !letter(line[end]))
	case "error", "fail", "warn", "vulnerab":
		if strings.HasSuffix(before, "no ") || strings.HasSuffix(before, "No ") {
			return false
		}
		return !strings.HasSuffix(before, "0 ") || len(before) > 2 && before[len(before)-3] >= '0' && before[len(before)-3] <= '9'
	}
	return true
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
