package backref_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// world is a few files that an agent reads and edits.
type world struct {
	files map[string][]string
	lines int
}

func (w *world) line(t *rapid.T) string {
	w.lines++
	return rapid.SampledFrom([]string{
		"", "}", "\t\treturn nil", "  \t", "same line everywhere in the file", "12: numbered", "é → ünï",
		fmt.Sprintf("\tunique%d := f(%d)", w.lines, w.lines),
		fmt.Sprintf("\tunique%d := f(%d)", w.lines, w.lines),
		fmt.Sprintf("// line %d says \"quoted\" \\ and ] brackets", w.lines),
		fmt.Sprintf("%d", w.lines), strings.Repeat(fmt.Sprint("long ", w.lines, " "), 30), "carriage\r",
	}).Draw(t, "line")
}

func (w *world) some(t *rapid.T, most int) []string {
	out := make([]string, rapid.IntRange(1, most).Draw(t, "n"))
	for i := range out {
		out[i] = w.line(t)
	}
	return out
}

// show prints lines in one of the ways tools do.
func show(t *rapid.T, path string, first int, lines []string) step {
	text := bare(lines)
	var s step
	switch rapid.SampledFrom([]string{"read", "cat", "nl", "view", "colon", "arrow", "bars", "grep"}).Draw(t, "way") {
	case "read":
		s = read(path, form("%6d→%s\n", first, lines))
	case "arrow":
		s = read(path, form("%d→%s\n", first, lines))
	case "cat":
		s = bash("cat "+path, text)
	case "nl":
		s = bash(fmt.Sprintf("nl -ba %s | sed -n '%d,%dp'", path, first, first+len(lines)-1), cat(first, lines))
	case "view":
		s = step{tool: "view", args: map[string]any{"path": path}, text: "header\n" + form("%d. %s\n", first, lines) + "trailer\n"}
	case "colon":
		s = step{tool: "open", args: map[string]any{"path": path}, text: form("%d:%s\n", first, lines)}
	case "bars":
		s = step{tool: "read", args: map[string]any{"filePath": path}, text: form("%05d| %s\n", first, lines)}
	default:
		s = bash("rg x", form(path+":%d:%s\n", first, lines))
	}
	if rapid.IntRange(0, 3).Draw(t, "terminator") == 0 {
		s.text = strings.TrimSuffix(s.text, "\n")
	}
	return s
}

// steps draws a session: reads, windows, edits, moves and writes.
func steps(t *rapid.T) []step {
	w := &world{files: map[string][]string{}}
	var names []string
	for i := range rapid.IntRange(1, 3).Draw(t, "files") {
		name := fmt.Sprintf("/r/f%d.go", i)
		w.files[name] = w.some(t, 60)
		names = append(names, name)
	}
	var all []step
	for range rapid.IntRange(2, 9).Draw(t, "steps") {
		name := rapid.SampledFrom(names).Draw(t, "file")
		lines := w.files[name]
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
		to := rapid.IntRange(at+1, len(lines)).Draw(t, "to")
		var s step
		switch rapid.SampledFrom([]string{"whole", "whole", "window", "window", "insert", "delete", "move", "write", "two"}).Draw(t, "op") {
		case "whole":
			s = show(t, name, 1, lines)
		case "window":
			s = show(t, name, at+1, lines[at:to])
		case "two":
			s = bash("nl -ba a; nl -ba b", cat(1, lines[:to])+cat(at+1, lines[at:]))
		case "insert":
			added := w.some(t, 12)
			w.files[name] = slices.Insert(slices.Clone(lines), at, added...)
			s = edit(name, "x", bare(added))
		case "delete":
			if to-at < len(lines) {
				w.files[name] = slices.Delete(slices.Clone(lines), at, to)
			}
			s = edit(name, bare(lines[at:to]), "")
		case "move":
			w.files[name] = append(slices.Clone(lines[at:]), lines[:at]...)
			s = bash("ed", "ok")
		case "write":
			s = write(name, bare(lines))
		}
		s.joined = len(all) > 0 && rapid.IntRange(0, 4).Draw(t, "joined") == 0
		all = append(all, s)
	}
	return all
}

// TestAnySession plays any session in every dialect: each prefix comes out as a
// prefix of the whole, the checker restores every block, and a reader reads what
// it would have read.
func TestAnySession(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		settings := rapid.SampledFrom([]string{`{}`, `{"minChars":0,"minSavedTokens":0,"minLines":2}`, `{"minChars":0,"minSavedTokens":4,"crossPath":true}`}).Draw(t, "settings")
		play(t, settings, steps(t))
	})
}
