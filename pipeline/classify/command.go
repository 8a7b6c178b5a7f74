package classify

import "strings"

// Command is a resolved command line.
type Command struct {
	// Known says that the command line could be lexed.
	Known bool
	// Several says that more than one command prints, or that a loop or a
	// condition is in it, so that no one command explains the output.
	Several bool
	// Program is the base name of the command that prints, wrappers and silent
	// leaders taken off; empty if Several or not Known. Args are its words.
	Program string
	Args    []string
	// Stages are the names of all programs of its pipeline, Program first.
	Stages []string
	// Parts are the commands that print, in order, if there are several and
	// neither loops nor conditions. They have no Parts.
	Parts []Command
	// Opaque says that one of Args holds an expansion whose value is not known.
	Opaque bool
	// Views and Diffs say that one of the commands, whether or not it is the only
	// one, prints a file or a difference.
	Views, Diffs bool
	// Dir is where a leading cd goes, as written; empty if none or unknown.
	Dir string

	pipe    []stage
	numbers bool
	edits   []string
}

// stage is a simple command of a pipeline, unwrapped.
type stage struct {
	simple
	program string
	args    []word
	loop    bool
}

// Resolve lexes and unwraps a command line. It never fails; see Known.
func Resolve(text string) Command {
	var c Command
	lines, ok := flatten(text, 0)
	if !ok {
		c.numbers = numbersText(text)
		return c
	}
	c.Known = true
	printing := 0
	lost := false
	var parts []Command
	for _, p := range lines {
		last := &p[len(p)-1]
		for i := range p {
			c.note(&p[i])
			c.Several = c.Several || p[i].loop
		}
		if p[0].program == "cd" || p[0].program == "pushd" {
			lost = c.enter(&p[0], printing > 0) || lost
			continue
		}
		if silent(last) {
			continue
		}
		if printing++; printing == 1 {
			c.pipe = p
		}
		parts = append(parts, part(p))
		var args []string
		for _, w := range p[0].args {
			args = append(args, w.text)
		}
		switch subOf(p[0].program, args) {
		case Viewer:
			c.Views = true
		case Differ:
			c.Diffs = true
		default:
		}
	}
	if lost {
		c.Dir = ""
	}
	if printing != 1 || c.Several {
		if !c.Several && printing <= maxParts {
			c.Parts = parts
		}
		c.Several = c.Several || printing > 1
		c.pipe = nil
		return c
	}
	c.Stages, c.Program, c.Args, c.Opaque = parts[0].Stages, parts[0].Program, parts[0].Args, parts[0].Opaque
	if lost {
		c.pipe = nil
	}
	return c
}

// maxParts bounds Command.Parts.
const maxParts = 32

// part is one pipeline by itself.
func part(p []stage) Command {
	c := Command{Known: true, Program: p[0].program}
	for i := range p {
		c.Stages = append(c.Stages, p[i].program)
	}
	for _, w := range p[0].args {
		c.Args = append(c.Args, w.text)
		c.Opaque = c.Opaque || w.opaque
	}
	return c
}

// enter follows a cd; lost says that the directory is no longer known.
func (c *Command) enter(s *stage, late bool) (lost bool) {
	if late || len(s.args) != 1 || s.args[0].opaque || s.args[0].text == "-" {
		return true
	}
	c.Dir = join(c.Dir, s.args[0].text)
	return false
}

// flatten lexes a script and puts the scripts inside it in their place.
func flatten(text string, depth int) (out [][]stage, ok bool) {
	if depth > maxUnwrap {
		return nil, false
	}
	lines, ok := lex(text)
	if !ok {
		return nil, false
	}
	for _, line := range lines {
		var p []stage
		for _, s := range line {
			words, script := unwrap(s.words)
			if script == "" {
				if len(words) == 0 && s.toFile == "" {
					continue
				}
				p = append(p, newStage(s, words))
				continue
			}
			inner, ok := flatten(script, depth+1)
			if !ok {
				return nil, false
			}
			if len(line) == 1 && s.toFile == "" {
				out = append(out, inner...)
			} else {
				p = append(p, spliced(s, inner)...)
			}
		}
		if len(p) > 0 {
			out = append(out, p)
		}
	}
	return out, true
}

// spliced are the stages that a script contributes to a pipeline.
func spliced(s simple, inner [][]stage) []stage {
	if len(inner) != 1 {
		return []stage{{simple: s, program: "sh", loop: true}}
	}
	inner[0][len(inner[0])-1].toFile = s.toFile
	return inner[0]
}

func newStage(s simple, words []word) stage {
	st := stage{simple: s}
	if len(words) > 0 {
		st.program, st.args = program(words[0].text), words[1:]
	}
	switch st.program {
	case "for", "while", "until", "if", "elif", "case", "select", "function":
		st.loop = true
	}
	return st
}

// silent says that a command prints nothing by itself.
func silent(s *stage) bool {
	if s.toFile != "" && s.program != "tee" {
		return true
	}
	switch s.program {
	case "", "cd", "pushd", "popd", "export", "set", "source", ".", "mkdir", "true", ":", "sleep", "unset", "alias", "shopt",
		"trap", "umask", "wait", "touch", "test", "[", "[[", "local", "declare", "readonly", "read", "chmod", "ln", "rm",
		"cp", "mv", "exit", "return":
		return true
	}
	return false
}

// note records what a stage does besides printing: numbering lines, writing files.
func (c *Command) note(s *stage) {
	switch s.program {
	case "nl":
		c.numbers = true
	case "cat":
		c.numbers = c.numbers || catNumbers(s.args)
	case "xargs", "find", "parallel", "ssh", "watch", "entr":
		for i, w := range s.args {
			c.numbers = c.numbers || w.text == "nl" || w.text == "cat" && catNumbers(s.args[i+1:]) || numbersText(w.text)
		}
	case "sed":
		if f := operands("sed", s.args); f.inPlace {
			c.edits = append(c.edits, f.files...)
		}
	case "tee":
		for _, w := range flags(s.args, "") {
			c.edits = append(c.edits, w.text)
		}
	}
	if s.toFile != "" && !strings.HasPrefix(s.toFile, "/dev/") {
		c.edits = append(c.edits, s.toFile)
	}
}

// catNumbers says that cat's options number the lines.
func catNumbers(args []word) bool {
	for _, w := range args {
		t := w.text
		if strings.HasPrefix(t, "--number") {
			return true
		}
		if len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t, "nb") {
			return true
		}
	}
	return false
}

// numbersText looks for cat -n and nl in a command line that was not lexed.
func numbersText(text string) bool {
	if strings.Contains(text, "cat -n") {
		return true
	}
	for rest := text; ; {
		i := strings.Index(rest, "nl ")
		if i < 0 {
			return false
		}
		if i == 0 || strings.IndexByte(" |;&(\n\"'", rest[i-1]) >= 0 {
			return true
		}
		rest = rest[i+3:]
	}
}

// filesOf are the file operands of a viewer's arguments.
type filesOf struct {
	files   []string
	opaque  bool
	inPlace bool
	rng     []string // options and scripts: what window is shown
}

// operands reads the arguments of cat, nl, head, tail, sed and wc.
func operands(prog string, args []word) filesOf {
	var f filesOf
	withValue := ""
	script := false
	switch prog {
	case "head", "tail":
		withValue = "-n -c --lines --bytes"
	case "nl":
		withValue = "-b -d -f -h -i -l -n -s -v -w"
	case "sed":
		withValue = "-e -f --expression --file -l"
		script = true
	}
	for i := 0; i < len(args); i++ {
		t := args[i].text
		if len(t) > 1 && t[0] == '-' {
			f.rng = append(f.rng, t)
			if prog == "sed" {
				f.inPlace = f.inPlace || strings.HasPrefix(t, "-i") || strings.HasPrefix(t, "--in-place")
				script = script && !strings.HasPrefix(t, "-e") && !strings.HasPrefix(t, "-f") && !strings.HasPrefix(t, "--expression")
			}
			if hasField(withValue, t) && i+1 < len(args) {
				i++
				f.rng = append(f.rng, args[i].text)
			}
			continue
		}
		if script {
			script = false
			f.rng = append(f.rng, t)
			continue
		}
		if t == "-" {
			continue
		}
		f.files = append(f.files, t)
		f.opaque = f.opaque || args[i].opaque
	}
	return f
}

// oneFile is the one file that a pipeline of viewers shows.
func (c *Command) oneFile() (file string, rng Range, ok bool) {
	if len(c.pipe) == 0 {
		return "", Range{}, false
	}
	n := 0
	var window []string
	for i := range c.pipe {
		s := &c.pipe[i]
		switch s.program {
		case "cat", "nl", "head", "tail", "sed", "wc":
		default:
			return "", Range{}, false
		}
		f := operands(s.program, s.args)
		if f.opaque || f.inPlace || s.fed {
			return "", Range{}, false
		}
		if s.reads != "" {
			f.files = append(f.files, s.reads)
		}
		for _, name := range f.files {
			file = name
			n++
		}
		window = append(window, s.program)
		window = append(window, f.rng...)
	}
	return file, Range{From: strings.Join(window, " ")}, n == 1
}
