package mask_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/components/mask"
	"github.com/trimtab-io/trimtab/pipeline"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func component(t *testing.T, with ...func(*trimtabv1.Mask)) *mask.Component {
	t.Helper()
	s := &trimtabv1.Mask{}
	for _, w := range with {
		w(s)
	}
	c, err := mask.New(trimtabv1.Fill(s))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// view has one result every second message; the last message is the assistant's
// question answered by the newest result.
func view(cold bool, texts ...string) pipeline.View {
	v := pipeline.View{Cold: cold, LastAssistant: 2*len(texts) - 1, Messages: 2*len(texts) + 1}
	for i, x := range texts {
		v.Blocks = append(v.Blocks, pipeline.ViewBlock{Block: pipeline.Block{Text: x, Parts: 1}, Message: 2*i + 2})
	}
	return v
}

func repeated(n int) []string {
	var out []string
	for range n {
		out = append(out, strings.Repeat("some output ", 50))
	}
	return out
}

func TestDecide(t *testing.T) {
	long := strings.Repeat("x", 400)
	for _, c := range []struct {
		name  string
		view  func() pipeline.View
		with  func(*trimtabv1.Mask)
		want  int
		gates map[pipeline.Gate]int
	}{
		{"warm", func() pipeline.View { return view(false, repeated(8)...) }, nil, 0, map[pipeline.Gate]int{pipeline.GateNotCold: 8}},
		{"cold: all but the last ten messages", func() pipeline.View { return view(true, repeated(8)...) }, nil, 3, map[pipeline.Gate]int{mask.GateRecent: 5}},
		{
			"cold and short", func() pipeline.View { return view(true, "short", long, long[:399], long, long, long, long, long) }, nil, 1,
			map[pipeline.Gate]int{mask.GateRecent: 5, mask.GateSmall: 2},
		},
		{"a mark in the text", func() pipeline.View {
			v := view(true, repeated(8)...)
			v.Blocks[0].HasMark, v.Blocks[1].Parts, v.Blocks[2].Untouchable = true, 2, "no_call"
			return v
		}, nil, 0, map[pipeline.Gate]int{mask.GateRecent: 5, mask.GateMark: 1, mask.GateParts: 1, mask.GateUnedited: 1}},
		{"what is decided stays decided", func() pipeline.View {
			v := view(true, repeated(8)...)
			v.Blocks[0].Decided = true
			return v
		}, nil, 2, map[pipeline.Gate]int{mask.GateRecent: 5}},
		{
			"a result that the model has not read", func() pipeline.View { return view(true, repeated(3)...) },
			func(s *trimtabv1.Mask) { s.KeepRecentMessages = proto.Uint32(1) }, 2,
			map[pipeline.Gate]int{mask.GateRecent: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var with []func(*trimtabv1.Mask)
			if c.with != nil {
				with = append(with, c.with)
			}
			got, gates := component(t, with...).Decide(c.view())
			if len(got) != c.want {
				t.Errorf("%d decisions, want %d", len(got), c.want)
			}
			if d := cmp.Diff(c.gates, gates); d != "" {
				t.Errorf("gates (-want +got):\n%s", d)
			}
			for _, d := range got {
				if d.Params != [4]int64{96} || d.Wording != 2 {
					t.Errorf("record %+v", d)
				}
			}
		})
	}
}

func render(t *testing.T, text string, peek int64) string {
	t.Helper()
	return worded(t, 2, text, peek)
}

// worded renders a record of a wording.
func worded(t *testing.T, wording int, text string, peek int64) string {
	t.Helper()
	e, gate := component(t).Render(pipeline.Block{Text: text}, pipeline.Decision{Wording: wording, Params: [4]int64{peek}})
	if gate != "" {
		t.Fatalf("gate %s", gate)
	}
	var b strings.Builder
	for _, p := range e.Pieces {
		if p.Kind == pipeline.Keep {
			b.WriteString(text[p.From:p.To])
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestRender(t *testing.T) {
	const head = "[trimtab older output left out; run the tool again if it is needed"
	for _, c := range []struct{ text, want, first string }{ // as wording 2 and as wording 1
		{"", head + "]", head + "]"},
		{"\n \n", head + "]", head + "]"},
		{"hello\nworld", head + "]", head + "; it began: hello]"},
		{"hello there\nworld", head + "; it began: hello there]", head + "; it began: hello there]"},
		{"\n\n   spaced \t  out\r\nrest", head + "; it began: spaced out]", head + "; it began: spaced out]"},
		{"größe [x] ]]", head + "]", head + "; it began: gre [x]"},
		{"the größe [x] ]]", head + "]", head + "; it began: the gre [x]"},
		{"balance: 1 €5", head + "; it began: balance: 1]", head + "; it began: balance: 1 5]"},
		{"a[1234567] = 5", head + "; it began: a[1234567]", head + "; it began: a[1234567 = 5]"},
		{strings.Repeat("ab ", 60), head + "; it began: " + strings.TrimSpace(strings.Repeat("ab ", 32)) + "]", head + "; it began: " + strings.TrimSpace(strings.Repeat("ab ", 32)) + "]"},
		{"\x1b[32mgreen\x1b[0m [trimtab x", head + "]", head + "; it began: [32mgreen[0m [trimtab x]"},
	} {
		if got := render(t, c.text, 96); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
		if got := worded(t, 1, c.text, 96); got != c.first {
			t.Errorf("wording 1 of %q:\n got %s\nwant %s", c.text, got, c.first)
		}
	}
	if got := render(t, "hello there", 0); got != head+"]" {
		t.Errorf("without a peek: %s", got)
	}
}

// A peek is what the text begins with, but for its white space: no character
// inside is left out. It has 8 characters or more.
func TestPeekQuotes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "word ", "é", "]", "[", "\t", "\n", " ", "\x1b[m", "\r", "0123", "\u00a0"})).Draw(rt, "text"), "")
		got := render(t, text, rapid.Int64Range(0, 120).Draw(rt, "peek"))
		_, peek, ok := strings.Cut(got, "it began: ")
		if !ok {
			return
		}
		peek = strings.TrimSuffix(peek, "]")
		line := strings.TrimLeft(text, " \n\t\r\u00a0")
		if len(peek) < 8 || !strings.HasPrefix(strings.Join(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r", r) }), " "), peek) {
			rt.Fatalf("%q is not how %q begins", peek, text)
		}
	})
}

// Whatever the text, the note is one mark by its grammar, and its peek is no
// longer than the record says.
func TestRenderIsAlwaysAMark(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		peek := rapid.Int64Range(0, 120).Draw(rt, "peek")
		got := worded(t, rapid.IntRange(1, 2).Draw(rt, "wording"), text, peek)
		if !pipeline.IsMark(got) {
			rt.Fatalf("%q is no mark", got)
		}
		if _, p, ok := strings.Cut(got, "it began: "); ok && int64(len(p)-1) > peek {
			rt.Fatalf("the peek %q is longer than %d", p, peek)
		}
	})
}

func FuzzRender(f *testing.F) {
	f.Add("a b\tc\n", int64(3))
	f.Fuzz(func(t *testing.T, text string, peek int64) {
		if peek < 0 || peek > 1000 {
			return
		}
		if got := render(t, text, peek); !pipeline.IsMark(got) {
			t.Fatalf("%q is no mark", got)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	c, err := mask.New(trimtabv1.Fill(&trimtabv1.Mask{}))
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("a line of output\n", 1000)
	b.ReportAllocs()
	for b.Loop() {
		c.Render(pipeline.Block{Text: text}, pipeline.Decision{Params: [4]int64{96}})
	}
}

func TestSettingsAreBounded(t *testing.T) {
	if _, err := mask.New(&trimtabv1.Mask{KeepRecentMessages: proto.Uint32(0)}); err == nil {
		t.Error("keep_recent_messages 0 is accepted")
	}
}
