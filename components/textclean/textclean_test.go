package textclean_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/textclean"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/componenttest"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func newComponent(t testing.TB) *textclean.Component {
	t.Helper()
	c, err := textclean.New(trimtabv1.Fill(&trimtabv1.Textclean{}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rewrite returns the new text, or the gate.
func rewrite(c *textclean.Component, text string) (string, pipeline.Gate) {
	e, g := c.Rewrite(pipeline.Block{Text: text, Received: text, Parts: 1}, pipeline.Prefix{})
	if g != "" {
		return text, g
	}
	b := componenttest.Text(e, text)
	return b, ""
}

func TestCleans(t *testing.T) {
	c := newComponent(t)
	for _, tc := range []struct{ name, in, want string }{
		{"colours", "a \x1b[31mred\x1b[0m b\n", "a red b\n"},
		{"hyperlink", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\\n", "text\n"},
		{"title ended by a bell", "\x1b]0;title\aok\n", "ok\n"},
		{"charset after tput sgr0", "\x1b(B\x1b[mx\n", "x\n"},
		{"save and restore, keypad", "\x1b7a\x1b8\x1b=\x1b>\n", "a\n"},
		{"device control string", "\x1bPq#0;2\x1b\\x\n", "x\n"},
		{"C1 introducer", "\u009b31mx\u009b0m\n", "x\n"},
		{"progress", "downloading: 1%\rdownloading: 50%\rdownloading: 100%\ndone\n", "downloading: 100%\ndone\n"},
		{"shorter state over a longer one", "abcdef\rxy\n", "xycdef\n"},
		{"return and line feed", "one\rtwo\r\nthree\r\n", "two\r\nthree\r\n"},
		{"double return ends a line", "\x1b[1mfoo\x1b[0m\r\r\nbar\n", "foo\r\r\nbar\n"},
		{"last state empty", "working\r\r\nx\x1b[0m\n", "working\r\r\nx\n"},
		{"erased at last", "Downloading 100%\r\x1b[K\n", "Downloading 100%\n"},
		{"erased and drawn again", "Downloading 100%\r\x1b[Kdone\n", "done\n"},
		{"erase whole line", "Downloading\x1b[2K\rdone\n", "done\n"},
		{"overstruck bold", "N\bNA\bAM\bME\bE\n", "NAME\n"},
		{"overstruck underline", "_\bx_\by\n", "xy\n"},
		{"spinner", "- wait\r\\ wait\r| wait\r/ wait\rdone.....\n", "done.....\n"},
		{"bell", "a\ab\n", "ab\n"},
		{"cursor to a column", "\x1b[0m\x1b[5Gx\n", "    x\n"},
		{"cursor to columns of a table", "\x1b[1mname\x1b[0m\x1b[8Gsize\x1b[0m\n", "name   size\n"},
		{"matches of a search", "\x1b[35m\x1b[Ka.go\x1b[m\x1b[K:\x1b[01;31m\x1b[Kx\x1b[m\x1b[K\n", "a.go:x\n"},
		{"drawn over after an erasure of nothing", "abc\x1b[K\rxyz\n", "xyz\n"},
		{"colour around a gutter", "\x1b[32m   12\x1b[0m\tx\n", "   12\tx\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, g := rewrite(c, tc.in)
			if got != tc.want {
				t.Errorf("got %q (%s), want %q", got, g, tc.want)
			}
			if again, g := rewrite(c, got); again != got || g == "" {
				t.Errorf("not idempotent: %q", again)
			}
		})
	}
}

func TestLeavesAlone(t *testing.T) {
	c := newComponent(t)
	for _, tc := range []struct {
		name, in string
		gate     pipeline.Gate
	}{
		{"plain", "a  b \n\n\nc\t\n", textclean.GateNoNoise},
		{"return and line feed", "a\r\nb\r\n", textclean.GateNoNoise},
		{"double returns", "foo\r\r\nbar\r\r\n", textclean.GateNoNoise},
		{"lines separated by returns", "alpha\rbeta\rgamma\rdelta", textclean.GateNoLines},
		{"lines separated by returns, and a line feed", "alpha one\rbeta two\rgamma three\rdelta four\n", textclean.GateNoNoise},
		{"escape that is no sequence", "a \x1b\n", textclean.GateNoNoise},
		{"unended title", "\x1b]0;no end\n", textclean.GateNoNoise},
		{"wide characters drawn over", "漢字漢字\rab\n", textclean.GateNoNoise},
		{"tab drawn over", "a\tb\rxy\n", textclean.GateNoNoise},
		{"further than the line is long", "\x1b[10Gx\n", textclean.GateNoNoise},
		{"further in a line, not in another", "\x1b[1999Gx\x1b[1Gy\rz\n", textclean.GateNoNoise},
		{"a mark would appear", "\x1b[0m[trimtab x]\n", textclean.GateMark},
		{"empty", "", textclean.GateNoNoise},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, g := rewrite(c, tc.in); got != tc.in || g != tc.gate {
				t.Errorf("got %q (%s), want gate %s", got, g, tc.gate)
			}
		})
	}
}

// TestNothingVisibleVanishes checks, on any mix of text and control sequences,
// that the characters of the result are a subsequence of the input's but for
// spaces that the cursor jumped over, that lines stay lines, and that a second
// run changes nothing.
func TestNothingVisibleVanishes(t *testing.T) {
	c := newComponent(t)
	piece := rapid.SampledFrom([]string{
		"a", "bc", "def 12%", " ", "  ", "\n", "\r\n", "\r", "\r\r\n", "\b", "\t", "é", "漢", "\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b[2K",
		"\x1b[1K", "\x1b[5G", "\x1b[2C", "\x1b[3D", "\x1b[A", "\x1b]0;t\a", "\x1b]8;;u\x1b\\", "\x1b(B", "\x1b7", "\x1b", "\u009b1m", "\a",
		"\x1b[99999999G", "[trimtab x]", "\x1bP1\x1b\\", "\x1b[3P", "\u0085", "\x00", "\x7f", "building ", "done",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
		got, _ := rewrite(c, text)
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Fatalf("lines changed: %q to %q", text, got)
		}
		if got != text && len(got) >= len(text) {
			t.Fatalf("%q became %q, which is no shorter", text, got)
		}
		before := []rune(text)
		for _, r := range got {
			if r == ' ' {
				continue
			}
			i := 0
			for i < len(before) && before[i] != r {
				i++
			}
			if i == len(before) && !strings.ContainsRune(text, r) {
				t.Fatalf("%q is not in %q", r, text)
			}
		}
		if again, g := rewrite(c, got); again != got {
			t.Fatalf("not idempotent: %q, %q, %q (%s)", text, got, again, g)
		}
	})
}

// TestWorkIsLinear: texts made to be read over and over are cleaned or left alone
// in no time; the test's own timeout is the judge.
func TestWorkIsLinear(t *testing.T) {
	c := newComponent(t)
	for _, piece := range []string{"\u009d", "\x1b]", "\x1b", "\x1bP\x1bX", "\x1b[", "\x1b[0", "\x1b(", "\u009b1", "\x1b]" + strings.Repeat("a", 5000), "a\r", "a\b", "\x1b[K", "\x1b[2000C", "\x1b[2000Gx"} {
		rewrite(c, strings.Repeat(piece, 1<<20/len(piece)))
		rewrite(c, strings.Repeat(piece, 1<<20/len(piece))+"\n")
		rewrite(c, strings.Repeat("x", 1<<19)+strings.Repeat(piece, 1<<19/len(piece))+"\n")
		rewrite(c, strings.Repeat("x", 1<<19)+"\r"+strings.Repeat(piece+"\x1b[K", 1<<19/(3+len(piece)))+"\n")
		rewrite(c, strings.Repeat("x", 1<<19)+strings.Repeat(piece+"\x1b[1K", 1<<19/(4+len(piece)))+"\n")
	}
}

// TestRoomIsLinear: what a text is cleaned with takes no more room than a multiple
// of the text, however far its cursor jumps.
func TestRoomIsLinear(t *testing.T) {
	c := newComponent(t)
	for _, line := range []string{
		"\x1b[1999Gx\x1b[1Gy\rz\n", "\x1b[1999Gx\n", "\x1b[1999C\x1b[1999Cx\n", "ab\x1b[12Gx\x1b[0m\x1b[0m\x1b[0m\n",
		"x\b\x1b[2000Cy\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x1b[60Gb\x1b[31m\x1b[32m\x1b[33m\n",
	} {
		text := strings.Repeat(line, 1<<18/len(line))
		e, _ := c.Rewrite(pipeline.Block{Text: text, Received: text, Parts: 1}, pipeline.Prefix{})
		room := 0
		for _, p := range e.Pieces {
			room += len(p.Text)
		}
		if len(e.Pieces) > len(text) || room > len(text) {
			t.Errorf("%q: %d pieces with %d bytes for %d bytes", line, len(e.Pieces), room, len(text))
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add("a\x1b[31mb\rcd\x1b[K\n")
	f.Add("\u009b\x1b]\x1b(\n\r\r")
	c := newComponent(f)
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := rewrite(c, text)
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Errorf("lines changed: %q to %q", text, got)
		}
		if again, _ := rewrite(c, got); again != got {
			t.Errorf("not idempotent: %q, %q, %q", text, got, again)
		}
	})
}

func BenchmarkRewrite(b *testing.B) {
	c := newComponent(b)
	plain := strings.Repeat("nothing to see in this line of some length\n", 24000)
	noisy := strings.Repeat("\x1b[32m✓\x1b[0m test that passes \x1b[90m(12 ms)\x1b[0m\n", 20000)
	search := strings.Repeat("\x1b[35m\x1b[Ksrc/a.go\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K\tif \x1b[01;31m\x1b[Kerr\x1b[m\x1b[K != nil {\n", 12000)
	bars := strings.Repeat(strings.Repeat("downloading [=========>         ] 50% of 12 MB\r", 50)+"\n", 440)
	erased := strings.Repeat(strings.Repeat("\r\x1b[K\x1b[32m✓\x1b[0m transforming (123) src/components/list.ts", 50)+"\n", 320)
	dense := strings.Repeat("\x1b[31mx\x1b[0m", 1<<20/10)
	for _, tc := range []struct{ name, text string }{
		{"plain", plain}, {"colours", noisy}, {"search", search}, {"bars", bars}, {"erased", erased}, {"dense", dense},
	} {
		b.Run(tc.name, func(b *testing.B) {
			b.SetBytes(int64(len(tc.text)))
			b.ReportAllocs()
			saved := 0
			for b.Loop() {
				got, _ := rewrite(c, tc.text)
				saved = len(tc.text) - len(got)
			}
			b.ReportMetric(float64(saved), "saved-bytes")
		})
	}
}
