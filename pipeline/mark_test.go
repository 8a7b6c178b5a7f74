package pipeline_test

import (
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline"
)

func TestIsMark(t *testing.T) {
	for line, want := range map[string]bool{
		"[trimtab x]":     true,
		"[trimtab ]":      true,
		"[trimtab a]b]":   false,
		"[trimtab é]":     false,
		"[trimtab x":      false,
		" [trimtab x]":    false,
		"[trimtab x]\r":   false,
		"[trimtab]":       false,
		"[trimtab \tx]":   false,
		"[trimtab a\\\"]": true,
		"":                false,
	} {
		if got := pipeline.IsMark(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestHasMark(t *testing.T) {
	for text, want := range map[string]bool{
		"[trimtab x]":                      true,
		"a\n[trimtab half":                 true,
		"a [trimtab x]":                    false,
		"a\n     7→[trimtab x]":            true,
		"7\t[trimtab x]":                   true,
		"00012| [trimtab x]":               true,
		"12: [trimtab x]":                  true,
		"12:[trimtab x]":                   true,
		"+[trimtab x]":                     false,
		"see [trimtab a] and [trimtab b]":  false,
		"x [trimtab a]\n3. [trimtab b]":    true,
		"x [trimtab [trimtab [trimtab a]]": false,
		"[trimtab":                         false,
	} {
		if got := pipeline.HasMark(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	// A long line of them takes no time.
	if pipeline.HasMark("x" + strings.Repeat("[trimtab ", 1<<17)) {
		t.Error("found in the middle of a line")
	}
}
