package classify

import (
	"crypto/sha256"
	"path"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// Call is what a tool call says of itself, before its result is seen.
type Call struct {
	Kind Kind
	// Sub is what the command of a shell call does.
	Sub Sub
	// Command is the resolved command line of a shell call.
	Command Command
	// Named is the one file that the call names, as written; empty if it names
	// none or several.
	Named string
	// Place is where Named stands, byte for byte, in the strings of the arguments.
	Place Place
	// File is Named in its normal form, joined with the stated working directory.
	File string
	// Range is the stated range of lines.
	Range Range
	// Dir is the stated working directory, in its normal form, or empty.
	Dir string
	// Edits are the normal forms of the files that the call writes or edits.
	// They may be empty although Writes is true.
	Edits []string
	// Writes says that the tool writes or edits files; only then may arguments
	// hold new text.
	Writes bool
	// Numbers says that the results may show line numbers of a file as a gutter:
	// those of reads, viewers, writes and edits, and of cat -n and nl.
	Numbers bool
	// Identity tells repeats of a call: equal for equal tool, file and range, or,
	// where no file is named, for equal tool and arguments. Timeouts, output
	// limits and descriptions do not count. It is a digest, not reversible.
	Identity [16]byte
}

// Range is a stated range of lines, as the call states it: only equality means
// anything. The zero value states none.
type Range struct{ From, To string }

// Place is a range of bytes in one of the strings of a call's arguments, which
// are counted from 0. The zero value is no place.
type Place struct{ Part, From, To int }

// None says that it is no place.
func (p Place) None() bool { return p.From == p.To }

// maxCommand bounds the command line that is lexed, in bytes. A longer one is
// taken for unknown.
const maxCommand = 1 << 20

// OfCall classifies a call from its tool's name and its arguments. The freeform
// text is the argument of a custom tool that takes no JSON. It never fails.
func OfCall(name string, args []transcript.Arg, freeform string) Call {
	kind, final := kindOfName(name)
	a := gather(args)
	c := Call{Kind: kind}
	if !final {
		c.Kind = kindOfArgs(kind, a)
	}
	if c.Kind == Edit {
		switch a.action {
		case "view":
			c.Kind = Read
		case "", "create", "str_replace", "insert", "undo_edit", "write", "append", "edit":
		default:
			if a.path == "" && freeform == "" {
				c.Kind = Other
			}
		}
	}
	c.Dir = clean(a.dir)
	switch c.Kind {
	case Shell:
		c.shell(a, freeform)
	case Read:
		c.name(a.path, a.pathPlace)
		c.Range, c.Numbers = a.rng, true
	case Edit:
		c.Writes, c.Numbers = true, true
		c.name(a.path, a.pathPlace)
		if c.File != "" {
			c.Edits = []string{c.File}
		} else {
			c.patch(a.patch + freeform)
		}
	case Other, Search, List, Web:
	}
	c.identify(name, args, freeform)
	return c
}

// name takes the path that a read or an edit states.
func (c *Call) name(p string, at Place) {
	if p == "" {
		return
	}
	c.Named, c.File, c.Place = p, join(c.Dir, p), at
}

// shell resolves the command line.
func (c *Call) shell(a arguments, freeform string) {
	text := a.command
	if text == "" && a.action == "" {
		text = freeform
	}
	if text == "" || len(text) > maxCommand {
		return
	}
	c.Command = Resolve(text)
	c.Sub = c.Command.sub()
	c.Numbers = c.Command.numbers
	if c.Command.Dir != "" {
		c.Dir = join(c.Dir, c.Command.Dir)
	}
	if file, rng, ok := c.Command.oneFile(); ok {
		c.name(file, a.inCommand(file))
		c.Range = rng
	}
	for _, f := range c.Command.edits {
		c.Edits = append(c.Edits, join(c.Dir, f))
	}
}

// patch reads the file names of a patch in the *** Begin Patch form.
func (c *Call) patch(text string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "*** ") {
			continue
		}
		for _, p := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if f, ok := strings.CutPrefix(line, p); ok {
				c.Edits = append(c.Edits, join(c.Dir, strings.TrimSpace(f)))
			}
		}
	}
}

// identify computes Identity.
func (c *Call) identify(name string, args []transcript.Arg, freeform string) {
	h := sha256.New()
	put := func(parts ...string) {
		for _, p := range parts {
			h.Write(strconv.AppendInt(nil, int64(len(p)), 10))
			h.Write([]byte{':'})
			h.Write([]byte(p))
		}
	}
	put(name)
	switch {
	case c.File != "" && !c.Writes:
		put("file", c.File, c.Range.From, c.Range.To)
	default:
		put("arguments", freeform)
		for _, a := range args {
			if !incidental(a.Name) {
				put(a.Path, a.Text)
			}
		}
	}
	copy(c.Identity[:], h.Sum(nil))
}

// incidental says that an argument does not change what a call does.
func incidental(name string) bool {
	switch name {
	case "description", "timeout", "timeout_ms", "timeoutMs", "yield_time_ms", "max_output_tokens", "explanation", "activeForm",
		"toolSummary", "justification", "intention":
		return true
	}
	return false
}

// SameFile says that two normal forms name the same file as far as can be told:
// they are equal, or one is the end of the other, from a slash on.
func SameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	return a == b || endsInPath(a, b) || endsInPath(b, a)
}

// endsInPath says that long ends in a slash and short.
func endsInPath(long, short string) bool {
	n := len(long) - len(short)
	return n > 0 && long[n-1] == '/' && long[n:] == short
}

// join puts a path into its normal form, below dir if it is relative.
func join(dir, p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if dir != "" && !isAbs(p) {
		p = dir + "/" + p
	}
	return clean(p)
}

// clean resolves "." and ".." and doubled slashes by the letters alone.
func clean(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

// isAbs says that a path does not depend on the working directory.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || strings.HasPrefix(p, "$") ||
		len(p) > 1 && p[1] == ':' || strings.Contains(p, "://")
}
