package classify

import "strings"

// word is one word of a command line with its quotes removed. An opaque word
// holds an expansion whose value is not known.
type word struct {
	text   string
	opaque bool
}

// simple is one simple command: its words, and where its output goes.
type simple struct {
	words  []word
	toFile string // the file its standard output goes to; "" if it is shown
	reads  string // the file its standard input comes from
	fed    bool   // its standard input is a here-document or here-string
}

// pipeline is a row of simple commands, each reading the one before.
type pipeline []simple

// lexer splits a script into pipelines. It knows quotes, escapes, expansions,
// here-documents, comments and redirections; it expands nothing.
type lexer struct {
	src   string
	pos   int
	out   []pipeline
	pipe  pipeline
	cur   simple
	here  []string // terminators of here-documents that start after this line
	dash  []bool
	depth int
	bad   bool
}

// lex returns the pipelines of a script in order; ok is false if it is not well
// formed. It is linear in the length of the script.
func lex(src string) (out []pipeline, ok bool) {
	l := lexer{src: src}
	for !l.bad && l.pos < len(l.src) {
		l.step()
	}
	l.endPipeline()
	return l.out, !l.bad
}

// step reads one token.
func (l *lexer) step() {
	c := l.src[l.pos]
	switch c {
	case ' ', '\t', '\r':
		l.pos++
	case '\n':
		l.pos++
		l.endPipeline()
		l.skipHere()
	case '\\':
		if l.at("\\\n") {
			l.pos += 2
			return
		}
		l.readWord()
	case '#':
		if i := strings.IndexByte(l.src[l.pos:], '\n'); i >= 0 {
			l.pos += i
		} else {
			l.pos = len(l.src)
		}
	case ';':
		l.pos++
		l.endPipeline()
	case '&':
		l.ampersand()
	case '|':
		l.bar()
	case '<', '>':
		l.redirect("")
	case '(', ')':
		l.pos++
		l.endPipeline()
	default:
		l.readWord()
	}
}

func (l *lexer) at(s string) bool { return strings.HasPrefix(l.src[l.pos:], s) }

func (l *lexer) ampersand() {
	switch {
	case l.at("&&"):
		l.pos += 2
		l.endPipeline()
	case l.at("&>"):
		l.pos++
		l.redirect("&")
	default:
		l.pos++
		l.endPipeline()
	}
}

func (l *lexer) bar() {
	switch {
	case l.at("||"):
		l.pos += 2
		l.endPipeline()
	case l.at("|&"):
		l.pos += 2
		l.endSimple()
	default:
		l.pos++
		l.endSimple()
	}
}

func (l *lexer) endSimple() {
	if len(l.cur.words) > 0 || l.cur.toFile != "" {
		l.pipe = append(l.pipe, l.cur)
	}
	l.cur = simple{}
}

func (l *lexer) endPipeline() {
	l.endSimple()
	if len(l.pipe) > 0 {
		l.out = append(l.out, l.pipe)
	}
	l.pipe = nil
}

// redirect reads a redirection at < or >, of the descriptor fd.
func (l *lexer) redirect(fd string) {
	c := l.src[l.pos]
	switch {
	case l.at("<<<"):
		l.pos += 3
		l.target()
		l.cur.fed = true
	case l.at("<<"):
		l.pos += 2
		dash := l.at("-")
		if dash {
			l.pos++
		}
		end := l.target()
		l.here, l.dash = append(l.here, end.text), append(l.dash, dash)
		l.cur.fed = true
	case l.at("<("), l.at(">("):
		start := l.pos
		l.pos += 2
		l.nested(')')
		l.cur.words = append(l.cur.words, word{l.src[start:min(l.pos, len(l.src))], true})
	default:
		for l.pos < len(l.src) && strings.IndexByte("<>|", l.src[l.pos]) >= 0 {
			l.pos++
		}
		if l.at("&") {
			l.pos++
			l.target()
			return
		}
		to := l.target()
		switch {
		case c == '<':
			l.cur.reads = to.text
		case fd == "" || fd == "1" || fd == "&":
			l.cur.toFile = to.text
		}
	}
}

// target reads the word after a redirection.
func (l *lexer) target() word {
	for l.pos < len(l.src) && (l.src[l.pos] == ' ' || l.src[l.pos] == '\t') {
		l.pos++
	}
	n := len(l.cur.words)
	if l.pos < len(l.src) && strings.IndexByte("\n;&|<>()", l.src[l.pos]) < 0 {
		l.readWord()
	}
	if len(l.cur.words) == n {
		l.bad = true
		return word{}
	}
	w := l.cur.words[n]
	l.cur.words = l.cur.words[:n]
	return w
}

// skipHere skips the bodies of the here-documents that were announced.
func (l *lexer) skipHere() {
	for i, end := range l.here {
		for {
			if l.pos >= len(l.src) {
				break
			}
			line := l.src[l.pos:]
			n := strings.IndexByte(line, '\n')
			if n >= 0 {
				line, l.pos = line[:n], l.pos+n+1
			} else {
				l.pos = len(l.src)
			}
			if l.dash[i] {
				line = strings.TrimLeft(line, "\t")
			}
			if strings.TrimSuffix(line, "\r") == end {
				break
			}
		}
	}
	l.here, l.dash = l.here[:0], l.dash[:0]
}

// readWord reads one word. Digits directly before < or > are a descriptor.
func (l *lexer) readWord() {
	var b strings.Builder
	opaque := false
	start := l.pos
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch c {
		case ' ', '\t', '\n', '\r', ';', '&', '|', '(', ')':
			l.cur.words = append(l.cur.words, word{b.String(), opaque})
			return
		case '<', '>':
			if fd := l.src[start:l.pos]; fd != "" && len(fd) <= 2 && strings.Trim(fd, "0123456789") == "" {
				l.redirect(fd)
				return
			}
			l.cur.words = append(l.cur.words, word{b.String(), opaque})
			return
		case '\\':
			l.escape(&b)
		case '\'':
			l.single(&b)
		case '"':
			opaque = l.double(&b) || opaque
		case '$', '`':
			opaque = l.expansion(&b) || opaque
		case '*', '?':
			opaque = true
			fallthrough
		default:
			b.WriteByte(c)
			l.pos++
		}
		if l.bad {
			return
		}
	}
	l.cur.words = append(l.cur.words, word{b.String(), opaque})
}

func (l *lexer) escape(b *strings.Builder) {
	if l.pos+1 < len(l.src) {
		if c := l.src[l.pos+1]; c != '\n' {
			b.WriteByte(c)
		}
	}
	l.pos += 2
}

func (l *lexer) single(b *strings.Builder) {
	end := strings.IndexByte(l.src[l.pos+1:], '\'')
	if end < 0 {
		l.bad = true
		return
	}
	b.WriteString(l.src[l.pos+1 : l.pos+1+end])
	l.pos += end + 2
}

func (l *lexer) double(b *strings.Builder) (opaque bool) {
	l.pos++
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; c {
		case '"':
			l.pos++
			return opaque
		case '\\':
			if l.pos+1 < len(l.src) && strings.IndexByte("\"\\$`\n", l.src[l.pos+1]) < 0 {
				b.WriteByte('\\')
			}
			l.escape(b)
		case '$', '`':
			opaque = l.expansion(b) || opaque
		default:
			b.WriteByte(c)
			l.pos++
		}
		if l.bad {
			return opaque
		}
	}
	l.bad = true
	return opaque
}

// expansion copies $x, ${x}, $(x) or `x` as it stands; a lone dollar is none.
func (l *lexer) expansion(b *strings.Builder) (opaque bool) {
	start := l.pos
	switch {
	case l.src[l.pos] == '`':
		l.pos++
		end := strings.IndexByte(l.src[l.pos:], '`')
		if end < 0 {
			l.bad = true
			return true
		}
		l.pos += end + 1
		opaque = true
	case l.at("$("):
		l.pos += 2
		l.nested(')')
		opaque = true
	case l.at("${"):
		l.pos += 2
		l.nested('}')
		opaque = true
	case l.at("$'"):
		l.pos++
		l.ansi()
	default:
		l.pos++
		opaque = l.pos < len(l.src) && (isAlnum(l.src[l.pos]) || strings.IndexByte("_?@*#!", l.src[l.pos]) >= 0)
	}
	b.WriteString(l.src[start:min(l.pos, len(l.src))])
	return opaque
}

// ansi skips the quoted part of a $'...' word.
func (l *lexer) ansi() {
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case '\\':
			l.pos++
		case '\'':
			l.pos++
			return
		}
	}
	l.bad = true
}

// maxNesting bounds nested expansions, so that the lexer's stack is bounded.
const maxNesting = 64

// nested skips to the close bracket that belongs to an open one already read.
func (l *lexer) nested(end byte) {
	if l.depth++; l.depth > maxNesting {
		l.bad = true
	}
	var sink strings.Builder
	for !l.bad && l.pos < len(l.src) {
		switch c := l.src[l.pos]; c {
		case end:
			l.pos++
			l.depth--
			return
		case '\\':
			l.pos += 2
		case '\'':
			if end == '}' {
				l.pos++
				continue
			}
			l.single(&sink)
		case '"':
			l.double(&sink)
		case '`', '$':
			l.expansion(&sink)
		case '(':
			l.pos++
			if end == ')' {
				l.nested(')')
			}
		default:
			l.pos++
		}
		sink.Reset()
	}
	l.bad = true
}
