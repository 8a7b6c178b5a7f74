package backref_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/textclean"
	"github.com/trimtab-io/trimtab/pipeline"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// world is a few files that an agent reads and edits.
type world struct {
	files map[string][]string
	lines int
}

func (w *world) line(t *rapid.T) string {
	w.lines++
	return rapid.SampledFrom([]string{
		"", "}", "\t\treturn nil", "  \t", "same line everywhere in the file", "12: numbered", "7.  of a list", "     9\tnine", "é → ünï",
		fmt.Sprintf("\tunique%d := f(%d)", w.lines, w.lines),
		fmt.Sprintf("\tunique%d := f(%d)", w.lines, w.lines),
		fmt.Sprintf("// line %d says \"quoted\" \\ and ] brackets", w.lines),
		fmt.Sprintf("    indented by spaces %d", w.lines), fmt.Sprintf("    indented by more spaces %d", w.lines),
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
	switch rapid.SampledFrom([]string{"read", "cat", "nl", "view", "colon", "arrow", "bars", "narrow", "grep"}).Draw(t, "way") {
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
	case "narrow":
		s = read(path, form("%2d|"+" %s\n", first, lines))
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
		switch rapid.SampledFrom([]string{"whole", "whole", "window", "window", "insert", "delete", "move", "write", "two", "short", "list"}).Draw(t, "op") {
		case "whole":
			s = show(t, name, 1, lines)
		case "window":
			s = show(t, name, at+1, lines[at:to])
		case "two":
			s = bash("nl -ba a; nl -ba b", cat(1, lines[:to])+cat(at+1, lines[at:]))
		case "short": // a gutter of a few lines beside another with the same numbers
			from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
			s = bash("nl -ba a | sed -n 1p; nl -ba b | sed -n 1p", cat(at+1, lines[at:to])+cat(from+1, lines[from:min(from+rapid.IntRange(1, 5).Draw(t, "few"), len(lines))]))
		case "list":
			s = bash("nl -ba a; cat list", cat(at+1, lines[at:to])+form("%d. %s\n", rapid.IntRange(1, 40).Draw(t, "first"), lines[:min(3, len(lines))]))
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

// coloured draws a text of lines that are alike: of a few words, of which escape
// sequences are a part, with paths that may be shortened, and numbers.
func coloured(t *rapid.T) []string {
	word := rapid.SampledFrom([]string{
		"re\x1b[31mtry", "retry", "\x1b[1mret\x1b[0mry", "the job", "now", "./mod1.ts", "./mod2.ts", "/home/dev/project/very/long/mod1.ts",
		"\x1b[32m    12\x1b[0m\tx", "    12\ty", "13: z", "1", "2", "3",
	})
	lines := make([]string, rapid.IntRange(4, 14).Draw(t, "lines"))
	for i := range lines {
		lines[i] = strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "words"), rapid.SampledFrom([]string{" ", " ", ""}).Draw(t, "between"))
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "paths") {
		lines = append(lines, fmt.Sprintf("/home/dev/project/very/long/mod%d.ts", i))
	}
	return lines
}

// TestCleanedAnchors: what a reference says of an earlier text holds of that text
// as it is forwarded, which need not be as it was received: escape sequences and
// paths are gone from it.
func TestCleanedAnchors(t *testing.T) {
	clean, err := textclean.New(trimtabv1.Fill(&trimtabv1.Textclean{}))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var all []step
		var seen []string
		for i := range rapid.IntRange(2, 5).Draw(t, "steps") {
			lines := coloured(t)
			if len(seen) > 0 && rapid.IntRange(0, 5).Draw(t, "again") > 0 {
				at := rapid.IntRange(0, len(seen)-1).Draw(t, "at")
				lines = slices.Concat(lines[:2], seen[at:rapid.IntRange(at+1, len(seen)).Draw(t, "to")], lines[2:])
			}
			seen = append(seen, lines...)
			command := fmt.Sprint("make ", i)
			if rapid.Bool().Draw(t, "numbers") {
				command = fmt.Sprint("cat -n f; cat ", i)
				lines = append(strings.Split(strings.TrimSuffix(cat(rapid.IntRange(1, 14).Draw(t, "first"), lines[:len(lines)/2]), "\n"), "\n"), lines[len(lines)/2:]...)
			}
			all = append(all, bash(command, bare(lines)))
		}
		settings := `{"minChars":0,"minSavedTokens":0,"minLines":2}`
		in := body("/v1/messages", all, nil)
		cleaned := send(t, engineOf([]pipeline.Component{clean}), "/v1/messages", in)
		readsAs(t, cleaned, send(t, engineOf(append([]pipeline.Component{clean}, after(t, settings)...)), "/v1/messages", in))
	})
}
