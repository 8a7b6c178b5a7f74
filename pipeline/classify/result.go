package classify

import (
	"strconv"
	"strings"
)

// Class is what a tool result is: its call, and what the text says.
type Class struct {
	Call Call
	// Exit is the exit code that the text states, meaningful if HasExit.
	Exit    int
	HasExit bool
	// Numbered says that lines of the text may carry a gutter of line numbers.
	Numbered bool
	// Failed says that the result is an error: the client marks it so, or it is a
	// shell's and states an exit code that is not 0.
	Failed bool
}

// OfResult classifies a result from its call and its decoded text. It never
// fails, and its cost is linear in the length of the text.
func OfResult(c Call, text string, isError bool) Class {
	r := Class{Call: c, Numbered: c.Numbers, Failed: Failed(c, text, isError)}
	if c.Kind != Shell && c.Kind != Other && c.Kind != Edit {
		return r
	}
	r.Exit, r.HasExit = exitCode(text)
	if c.Kind == Shell && !c.Command.Known && c.Command.Program == "" {
		if cmd := echoed(text); cmd != "" {
			r.Call.Command = Resolve(cmd)
			r.Call.Sub = r.Call.Command.sub()
		}
	}
	return r
}

// FidelityOf says whether what made the text passed, failed to build, failed or
// crashed. Its cost is linear in the length of the text and some ten times that
// of OfResult: ask only where it matters.
func FidelityOf(c Class, text string) Fidelity {
	if k := c.Call.Kind; k != Shell && k != Other && k != Edit {
		if c.Failed {
			return Fail
		}
		return NoVerdict
	}
	return fidelity(c.Call, text, c.Failed)
}

// Failed is what OfResult says in Class.Failed, without looking at the rest.
func Failed(c Call, text string, isError bool) bool {
	if isError || c.Kind != Shell {
		return isError
	}
	code, ok := exitCode(text)
	return ok && code != 0
}

// echoed finds a "$ command" line among the first three lines of a result.
func echoed(text string) string {
	for range 3 {
		line, rest, more := strings.Cut(text, "\n")
		if cmd, ok := strings.CutPrefix(line, "$ "); ok {
			return cmd
		}
		if cmd, ok := strings.CutPrefix(line, "% "); ok {
			return cmd
		}
		if !more {
			break
		}
		text = rest
	}
	return ""
}

// Lines looked at for a stated exit code, from either end, and the length in
// bytes up to which a line may be one.
const (
	exitHead = 6
	exitTail = 4
	exitLine = 120
)

// exitCode finds the exit code that a client states in the first or the last
// lines of a result.
func exitCode(text string) (code int, ok bool) {
	head := text
	for range exitHead {
		line, rest, more := strings.Cut(head, "\n")
		if strings.HasPrefix(line, "Output:") {
			break
		}
		if code, ok = exitIn(line, true); ok {
			return code, true
		}
		if !more {
			break
		}
		head = rest
	}
	tail := strings.TrimRight(text, "\n\r ")
	for range exitTail {
		i := strings.LastIndexByte(tail, '\n')
		if code, ok = exitIn(tail[i+1:], false); ok {
			return code, true
		}
		if i < 0 {
			break
		}
		tail = tail[:i]
	}
	return 0, false
}

// exitIn reads a line that states an exit code in one of the known forms.
func exitIn(line string, head bool) (code int, ok bool) {
	if len(line) > exitLine {
		return 0, false
	}
	line = strings.TrimRight(line, "\r ")
	if head {
		for _, p := range []string{"Exit code ", "Exit code: ", "Exit Code: ", "Process exited with code ", "exit code: "} {
			if rest, ok := strings.CutPrefix(line, p); ok {
				return number(rest)
			}
		}
	}
	for _, p := range []string{"Command exited with code ", "Exit Code: ", "Exit code: ", "Exit status ", "Command failed with exit code "} {
		if rest, ok := strings.CutPrefix(line, p); ok {
			return number(rest)
		}
	}
	if line == "" || line[0] != '[' && line[0] != '<' {
		return 0, false
	}
	for _, p := range []string{"completed with exit code ", "finished with exit code ", "exited with exit code "} {
		if i := strings.Index(line, p); i >= 0 {
			return number(strings.TrimRight(line[i+len(p):], ".]>"))
		}
	}
	return 0, false
}

// number reads a whole string as a small decimal number.
func number(s string) (int, bool) {
	if len(s) > 6 {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}
