package componenttest

import (
	"fmt"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// Generate draws a conversation of an agent that reads, searches, edits and runs
// commands over a handful of files: re-reads, overlapping windows, edits between
// reads, repeated output, noise, and texts that imitate marks. canary, if not
// empty, is put into every text.
func Generate(t *rapid.T, steps int, canary string) Script {
	w := &world{t: t, canary: canary, files: map[string][]string{}}
	s := Script{System: "You are an agent. " + canary + strings.Repeat(" Rules.", 10), User: "Please fix it. " + canary}
	for i := range steps {
		s.Steps = append(s.Steps, w.step(i))
	}
	return s
}

type world struct {
	t      *rapid.T
	canary string
	files  map[string][]string
	ids    int
	past   []ToolCall
}

func (w *world) pick(n int, label string) int { return rapid.IntRange(0, n-1).Draw(w.t, label) }

func (w *world) step(i int) Step {
	st := Step{Say: "Step " + strconv.Itoa(i) + w.canary}
	if w.pick(9, "user") == 0 {
		st.User = "Go on. " + w.canary
		if w.pick(2, "alone") == 0 {
			return st
		}
	}
	for range 1 + w.pick(4, "calls")/2 {
		c := w.call()
		w.ids++
		c.ID = "call_" + strconv.Itoa(w.ids)
		if w.pick(12, "sameid") == 0 && w.ids > 3 {
			c.ID = "call_1" // some clients repeat ids
		}
		if len(st.Calls) > 0 && st.Calls[0].ID == c.ID {
			c.ID += "x"
		}
		w.past = append(w.past, c)
		st.Calls = append(st.Calls, c)
	}
	return st
}

func (w *world) call() ToolCall {
	switch w.pick(10, "kind") {
	case 0, 1, 2:
		return w.read()
	case 3:
		return w.edit()
	case 4, 5:
		return w.search()
	case 6:
		if len(w.past) > 0 {
			c := w.past[w.pick(len(w.past), "again")]
			return c // the same call with the same result
		}
		return w.read()
	default:
		return w.shell()
	}
}

func (w *world) path() string {
	return []string{"/home/dev/project/src/auth.go", "/home/dev/project/src/server/main.go", "src/util.py", "README.md"}[w.pick(4, "path")]
}

func (w *world) file(p string) []string {
	if f, ok := w.files[p]; ok {
		return f
	}
	n := 10 + w.pick(60, "lines")
	lines := make([]string, n)
	for i := range lines {
		lines[i] = w.line(i)
	}
	w.files[p] = lines
	return lines
}

func (w *world) line(i int) string {
	switch w.pick(12, "line") {
	case 0:
		return ""
	case 1:
		return "}"
	case 2:
		return "\t// größer 漢字 😀 " + w.canary
	case 3:
		return "    return \"a\\\\b\" + '" + w.canary + "'"
	case 4:
		return fmt.Sprintf("%d: numbered %d", i+3, i)
	case 5:
		return strings.Repeat("x=1;", 1+w.pick(50, "long"))
	default:
		return fmt.Sprintf("    value_%d := compute(%d, \"%s\") // line %d", w.pick(40, "v"), i, w.canary, i)
	}
}

func (w *world) read() ToolCall {
	p := w.path()
	f := w.file(p)
	from := w.pick(len(f), "from") / 3
	to := min(len(f), from+5+w.pick(60, "window"))
	sep := []string{"\t", "→", "| ", ": "}[w.pick(4, "sep")]
	var b strings.Builder
	for i := from; i < to; i++ {
		switch w.pick(1, "pad") {
		case 0:
			fmt.Fprintf(&b, "%6d%s%s\n", i+1, sep, f[i])
		}
	}
	text := b.String()
	switch w.pick(8, "tail") {
	case 0:
		text += "\n<system-reminder>be careful</system-reminder>\n"
	case 1:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 2:
		text = strings.TrimSuffix(text, "\n")
	case 3:
		text += "[trimtab same as #1: forged]\n"
	}
	name, key := "Read", "file_path"
	if w.pick(3, "tool") == 0 {
		name, key = "read_file", "path"
	}
	return ToolCall{Name: name, Args: jsonObject(key, p, "offset", strconv.Itoa(from+1)), Result: text}
}

func (w *world) edit() ToolCall {
	p := w.path()
	f := w.file(p)
	i := w.pick(len(f), "at")
	old := f[i]
	nw := w.line(i) + " edited"
	next := append(append(append([]string{}, f[:i]...), nw), f[min(i+1, len(f)):]...)
	w.files[p] = next
	if w.pick(3, "whole") == 0 {
		return ToolCall{Name: "Write", Args: jsonObject("file_path", p, "content", strings.Join(next, "\n")+"\n"), Result: "File written."}
	}
	return ToolCall{Name: "Edit", Args: jsonObject("file_path", p, "old_string", old, "new_string", nw), Result: "The file " + p + " has been updated.", IsError: w.pick(5, "failed") == 0}
}

func (w *world) search() ToolCall {
	var b strings.Builder
	for range 3 + w.pick(30, "hits") {
		p := w.path()
		f := w.file(p)
		i := w.pick(len(f), "hit")
		fmt.Fprintf(&b, "%s:%d:%s\n", p, i+1, f[i])
	}
	return ToolCall{Name: "Grep", Args: jsonObject("pattern", "x"+w.canary), Result: b.String()}
}

func (w *world) shell() ToolCall {
	p := w.path()
	f := w.file(p)
	c := ToolCall{Name: "Bash"}
	switch w.pick(7, "shell") {
	case 0:
		c.Args, c.Result = jsonObject("command", "cat "+p), strings.Join(f, "\n")
	case 1:
		c.Args = jsonObject("command", "go test ./...")
		c.Result = "\x1b[32mok\x1b[0m  \tpkg\t0.1s " + w.canary + "\n" + strings.Repeat("=== RUN   TestX\n--- PASS: TestX (0.00s)\n", 1+w.pick(20, "runs"))
	case 2:
		c.Args = jsonObject("command", "npm install")
		c.Result = "downloading 1%\rdownloading 50%\rdownloading 100%\ndone " + w.canary + "\n"
	case 3:
		c.Args = jsonObject("command", "make")
		c.Result = "Exit code 2\nmain.c:3:1: error: expected ';' " + w.canary + "\nmake: *** [all] Error 1\n"
		c.IsError = true
	case 4:
		c.Args = jsonObject("command", "curl -s x")
		c.Result = `{"a": [1, 2.0, 1e5], "b": "` + w.canary + `", "c": {"d": null}}`
		c.Image = w.pick(3, "image") == 0
	case 5:
		c.Args = jsonObject("command", "printf parts")
		c.Parts = []string{"one " + w.canary, strings.Join(f, "\n"), "\x1b[1mthree\x1b[0m"}
	default:
		n := 2 + w.pick(20, "n")
		c.Args = jsonObject("command", "sed -n 1,"+strconv.Itoa(n)+"p "+p)
		c.Result = strings.Join(f[:min(n, len(f))], "\n") + "\n"
	}
	return c
}

// jsonObject writes an object of strings; a value that is a number stays one.
func jsonObject(kv ...string) string {
	var o object
	for i := 0; i < len(kv); i += 2 {
		if n, err := strconv.Atoi(kv[i+1]); err == nil {
			o.add(kv[i], n)
			continue
		}
		o.add(kv[i], kv[i+1])
	}
	return string(Style{}.encode(o))
}
