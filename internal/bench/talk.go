package main

import (
	"bytes"
	"fmt"
)

// path is the dialect that is measured.
const path = "/v1/messages"

// talk is a conversation of an agent that reads files, some of them again, searches,
// and runs tests. No two talks have a line in common, so that nothing of one is
// known from another.
type talk struct {
	name  string
	files int
	buf   []byte
	turns int
}

// bytesPerFile bounds how often a file is read again: a larger conversation has more.
const bytesPerFile = 27_000

// newTalk is a conversation of about size bytes. Its name is part of every line.
func newTalk(name string, size int) *talk {
	t := &talk{name: name, files: max(3, size/bytesPerFile), buf: make([]byte, 0, size+size/4+16<<10)}
	t.buf = fmt.Appendf(t.buf, `{"model":"claude-sonnet-4-5","max_tokens":1000,"metadata":{"user_id":"{\"session_id\":\"%s\"}"},"messages":[{"role":"user","content":"Find out why the build of %s fails."}`, name, name)
	turn := turnBytes(size)
	for len(t.buf)+turn <= size {
		t.turn(turn)
	}
	return t
}

// turnBytes is how much a turn adds to a conversation of so many bytes.
func turnBytes(size int) int { return min(4000, size/10) }

// turn adds one call and its result, about n bytes.
func (t *talk) turn(n int) {
	k := t.turns
	t.turns++
	name, input := "Read", fmt.Sprintf(`{"file_path":"/src/%s/f%d.go"}`, t.name, k%t.files)
	write := t.read
	switch k % 8 {
	case 5:
		name, input, write = "Grep", `{"pattern":"parse","output_mode":"content"}`, t.search
	case 6:
		name, input, write = "Bash", `{"command":"go test ./..."}`, t.tests
	case 7:
		name, input, write = "Bash", `{"command":"cat build.log"}`, t.log
	}
	end := len(t.buf) + n - 10
	t.buf = fmt.Appendf(t.buf, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"%s","input":%s}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"`, k, name, input, k)
	for line := 1; len(t.buf) < end-60; line++ {
		write(k, line)
	}
	t.buf = append(t.buf, `"}]}`...)
}

// read is a line of a numbered file, of which every seventh has changed since it was
// read before.
func (t *talk) read(k, line int) {
	change := 0
	if line%7 == 0 {
		change = k
	}
	t.buf = fmt.Appendf(t.buf, `%6d\tfunc (p *parser%d) next%d() (token, error) { return p.read(\"%s\", %d) }\n`, line, k%t.files, line, t.name, change)
}

func (t *talk) search(k, line int) {
	t.buf = fmt.Appendf(t.buf, `src/%s/internal/parser/file%d.go:%d:\treturn p.parse(ctx, %d)\n`, t.name, line/9, line*7, k)
}

func (t *talk) tests(k, line int) {
	t.buf = fmt.Appendf(t.buf, `\u001b[32m=== RUN\u001b[0m   Test%s%d/case_%d with some more text in the line\n`, t.name, k, line)
}

func (t *talk) log(k, line int) {
	t.buf = fmt.Appendf(t.buf, `2026-03-01T10:%02d:%02d.%03dZ INFO  build/%s step=%d object=%x compiled in %d ms\n`, line/60%60, line%60, k%1000, t.name, line, line*7919+k, line%300)
}

// body is the request of the turn. It is the caller's.
func (t *talk) body() []byte { return append(bytes.Clone(t.buf), `]}`...) }

// stream is the request of the turn that asks for a streamed answer.
func (t *talk) stream() []byte {
	return append(bytes.Clone(t.buf), `],"stream":true}`...)
}
