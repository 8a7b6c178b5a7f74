package classify

import (
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// arguments are the arguments that tell what a call does.
type arguments struct {
	command string // a command line, or the words of one
	action  string // the command argument of an editor tool
	path    string // the file it names
	paths   int    // how many different files it names
	dir     string // the working directory
	patch   string
	rng     Range
	pattern bool // it has a pattern, query or regex
	text    bool // it has a text to put into a file
	prompt  bool // it asks a model

	pathPlace   Place
	commandPart int // which string command is, or -1
}

// gather reads the arguments once.
func gather(args []transcript.Arg) arguments {
	a := arguments{commandPart: -1}
	var words []string
	part := -1
	for i := range args {
		arg := &args[i]
		if !arg.Literal {
			part++
		}
		top := !strings.ContainsAny(arg.Path, ".[")
		switch fold(arg.Name) {
		case "command", "cmd", "script", "commandline", "shellcommand":
			switch {
			case arg.Literal:
			case top && a.command == "":
				a.command, a.commandPart = arg.Text, part
			case strings.HasPrefix(arg.Path, arg.Name+"["), strings.HasSuffix(arg.Path, "]"):
				words = append(words, arg.Text)
			}
		case "filepath", "path", "filename", "targetfile", "notebookpath", "uri", "file", "relativepath",
			"absolutepath", "relativeworkspacepath":
			if !arg.Literal && arg.Text != "" {
				a.addPath(arg.Text, part)
			}
		case "workdir", "cwd", "workingdirectory", "dirpath", "directory":
			if !arg.Literal && a.dir == "" {
				a.dir = arg.Text
			}
		case "patchtext", "patch", "diff", "input":
			if !arg.Literal {
				a.patch += arg.Text
			}
		case "pattern", "query", "regex", "searchterm":
			a.pattern = true
		case "prompt", "subagenttype", "question", "thought":
			a.prompt = true
		case "offset", "startline", "linestart", "from", "startlineoneindexed", "linenumber", "startlinenumberbaseone":
			a.rng.From = arg.Text
		case "limit", "endline", "lineend", "to", "endlineoneindexedinclusive", "length", "endlinenumberbaseone":
			a.rng.To = arg.Text
		case "viewrange", "lines", "range":
			if a.rng.From == "" {
				a.rng.From = arg.Text
			} else {
				a.rng.To = arg.Text
			}
		case "text":
			a.text = true
		default:
			a.text = a.text || newTextName(arg.Name)
		}
	}
	if len(words) > 0 && a.command == "" {
		a.command = commandOf(words)
	}
	if isAction(a.command) {
		a.action = a.command
	}
	if a.paths > 1 {
		a.path = ""
	}
	return a
}

func (a *arguments) addPath(p string, part int) {
	switch {
	case a.paths == 0:
		a.path, a.paths, a.pathPlace = p, 1, Place{part, 0, len(p)}
	case clean(p) != clean(a.path):
		a.paths++
	}
}

// inCommand finds a file's name in the command line, as it is written there.
func (a *arguments) inCommand(file string) Place {
	if a.commandPart < 0 {
		return Place{}
	}
	i := strings.Index(a.command, file)
	if i < 0 {
		return Place{}
	}
	return Place{a.commandPart, i, i + len(file)}
}

// isAction says that a command argument is the verb of an editor tool.
func isAction(s string) bool {
	switch s {
	case "view", "create", "str_replace", "insert", "undo_edit", "write", "append", "edit":
		return true
	}
	return false
}

// fold brings the spellings of an argument's name together: filePath, file_path
// and file-path are one.
func fold(name string) string {
	plain := true
	for i := 0; i < len(name); i++ {
		if !isLower(name[i]) {
			plain = false
			break
		}
	}
	if plain {
		return name
	}
	b := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case isUpper(c):
			b = append(b, c+'a'-'A')
		case c != '_' && c != '-':
			b = append(b, c)
		}
	}
	return string(b)
}

// commandOf makes a command line of an argument vector.
func commandOf(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// quote makes one shell word of a text.
func quote(w string) string {
	if w != "" && strings.IndexFunc(w, func(r rune) bool {
		return !(r < 128 && isAlnum(byte(r)) || strings.ContainsRune("-_./=:,@%+", r))
	}) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// kindOfArgs decides where the name alone does not.
func kindOfArgs(k Kind, a arguments) Kind {
	if k == Edit {
		return pick(a.path != "" || a.text || a.patch != "", Edit)
	}
	switch {
	case a.prompt:
		return Other
	case a.command != "" && a.action == "":
		return Shell
	case a.path != "" && a.text:
		return Edit
	case a.path != "" && !a.pattern:
		return Read
	case a.pattern:
		return Search
	}
	return k
}

// HoldsNewText says that an argument of the call holds text that the call puts
// into a file: the content of a write, the new text of an edit; never the old
// text, and never a part of a patch.
func (c Call) HoldsNewText(a transcript.Arg) bool {
	return c.Writes && !a.Literal && !a.Lossy && newTextName(a.Name)
}

func newTextName(name string) bool { return Canonical(name) != "" }

// Canonical returns the name of an argument under which editors take new text, as
// it is spelled but out of the product's own list, so that it may be kept at
// every storage level; empty if the name is not on the list.
func Canonical(name string) string {
	for _, n := range [...]string{
		"content", "contents", "file_text", "fileText", "new_string", "newString", "new_str", "newStr", "newText", "new_text",
		"replace", "replacement", "replacement_text", "replacementText", "new_source", "newSource", "new_content",
		"newContent", "insert_text", "insertText", "new_code", "newCode", "CodeContent", "codeContent",
	} {
		if n == name {
			return n
		}
	}
	return ""
}
