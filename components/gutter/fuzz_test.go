package gutter_test

import (
	"strings"
	"testing"
)

func FuzzRewrite(f *testing.F) {
	f.Add("     1→a\n     2→b\n     3→c\n     4→d\n     5→e\n     6→f\n     7→g\n")
	f.Add("1:a\n2: b\n3:\n4:c\n5: d\n6:e\n7:f\n8:g\n9:h\n10:i\n11:j")
	f.Add("00001| a\n00002| b\n00003| 4. c\n00004| d\n00005| e\n00006| f\n00007| g\n00008| \n")
	f.Fuzz(func(t *testing.T, text string) {
		rewrite(t, `{"minLines":3,"every":2}`, text) // which restores, or fails
		rewrite(t, `{}`, strings.ReplaceAll(text, "\n", "\r\n"))
	})
}
