package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/internal/provider"
)

const (
	wrong = "    return ends_at - starts_at"
	right = "    return (ends_at - starts_at) % 1440"
)

// writeWorkspace makes what the agents work on: a module with a mistake in it, and
// others beside it.
func writeWorkspace(t *testing.T, dir string) {
	t.Helper()
	var roster strings.Builder
	roster.WriteString("\"\"\"Shifts of one ward, in minutes since midnight.\"\"\"\n\n\ndef duration(starts_at, ends_at):\n" + wrong + "\n")
	for i := range 60 {
		fmt.Fprintf(&roster, "\n\ndef shift_%02d(day, nurse):\n    # the %d-th kind of shift; see the agreement of %d\n    return {\"day\": day, \"nurse\": nurse, \"starts_at\": %d, \"ends_at\": %d}\n",
			i, i, 1990+i%30, (i*37)%1440, (i*37+480)%1440)
	}
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("shiftplan/roster.py", roster.String())
	write("shiftplan/report.py", "from shiftplan.roster import duration\n\n\ndef report(shifts):\n    return [duration(s[\"starts_at\"], s[\"ends_at\"]) for s in shifts]\n")
	write("README.md", "# shiftplan\n\nPlans shifts.\n")
}

// corrected says that the agent has carried the edit out.
func corrected(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "shiftplan/roster.py"))
	if err != nil || !strings.Contains(string(text), right+"\n") {
		t.Errorf("the file was not edited: %v", err)
	}
}

// The commands of a script.
const (
	show   = "cat -n shiftplan/roster.py"
	search = "grep -rn 'nurse' shiftplan"
	edit   = "sed -i 's/^    return ends_at - starts_at$/    return (ends_at - starts_at) % 1440/' shiftplan/roster.py"
	list   = "ls -la shiftplan"
)

// tools are how an agent's tools are called, as the calls of a script.
type tools struct {
	shell                func(command string) provider.Call
	read, grep, editFile func(work string) provider.Call
}

// script is a loop of eight turns: the same file is read in several ways, before
// and after it is edited, with two calls in one of the turns.
func (tl tools) script(work string) []provider.Answer {
	turns := [][]provider.Call{
		{tl.read(work)},
		{tl.shell(search)},
		{tl.shell(show)},
		{tl.grep(work), tl.shell(list)},
		{tl.editFile(work)},
		{tl.shell(show)},
		{tl.shell(search)},
		{tl.read(work)},
	}
	var script []provider.Answer
	for i, calls := range turns {
		script = append(script, provider.Answer{
			Thinking: fmt.Sprintf("Step %d tells more.", i+1), Text: fmt.Sprintf("Step %d.", i+1), Calls: calls,
		})
	}
	return append(script, provider.Answer{Thinking: "That was all.", Text: done})
}

// call is one call, with its arguments as name and value in turn.
func call(name string, args ...string) provider.Call {
	input := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		input[args[i]] = args[i+1]
	}
	text, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return provider.Call{Name: name, Input: string(text)}
}
