package replay

import (
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

func TestExactCounter(t *testing.T) {
	count, err := ExactCounter()
	if err != nil {
		t.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"", "a", "func main() {\n\tprintln(\"hello, world\")\n}\n", "日本語のテキスト", "\xff\xfe broken", strings.Repeat("word ", 3000),
	} {
		want, err := codec.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := count(s); got != want {
			t.Errorf("count(%.20q) = %d, want %d", s, got, want)
		}
	}
	// A word of a megabyte is counted in pieces, in no unreasonable time.
	if n := count(strings.Repeat("QUJD", 1<<18)); n < 1<<15 || n > 1<<20 {
		t.Errorf("a long word has %d tokens", n)
	}
}
