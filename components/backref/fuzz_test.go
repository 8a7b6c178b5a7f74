package backref_test

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRewrite plays two texts after each other in several ways of reading them:
// every block is restored, and a reader reads what it would have read.
func FuzzRewrite(f *testing.F) {
	f.Add(bare(file(20)), bare(file(15)))
	f.Add(cat(1, file(20)), bare(file(15)))
	f.Add(form("%d:%s\n", 1, file(20)), form("%d: %s\n", 3, file(15)))
	f.Add(strings.Repeat("}\n", 40), strings.Repeat("}\n", 39)+strings.Repeat("a long line ", 20))
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || len(a) > 1<<12 || len(b) > 1<<12 {
			return
		}
		const settings = `{"minChars":0,"minSavedTokens":0,"minLines":2}`
		steps := []step{bash("x", a), read("/a", b), bash("nl -ba /a", a+b), write("/a", b), read("/a", a)}
		forward(t, engine(t, settings), dialects[0], body(dialects[0], steps, nil))
	})
}
