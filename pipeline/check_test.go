package pipeline

import (
	"testing"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

func TestSoundFindsEveryForeignByte(t *testing.T) {
	seen := transcript.NewSeen(transcript.NewHasher())
	in := `{"a":"old","b":"keep"}`
	change := []transcript.Change{{Span: transcript.Span{Start: 5, End: 10}, Len: 3}}
	for out, want := range map[string]bool{
		`{"a":"n","b":"keep"}`:  true,
		`{"a":"n","b":"kee"}`:   false, // a byte is missing behind the change
		`{"a":"n","b":"keep"} `: false,
		`{"x":"n","b":"keep"}`:  false, // a byte differs before it
		`{"a":"\","b":"keep"}`:  false, // no JSON string
		`{"a":1.0,"b":"keep"}`:  false, // a number for a string
		`{"a":"n"`:              false,
	} {
		if got := sound(seen, []byte(in), []byte(out), change); got != want {
			t.Errorf("%s: got %v", out, got)
		}
	}
	object := []transcript.Change{{Span: transcript.Span{Start: 1, End: 3}, Len: 5}}
	if !sound(seen, []byte(`[{}]`), []byte(`[{},{}]`), object) {
		t.Error("two objects for one are refused")
	}
	if sound(seen, []byte(`[{}]`), []byte(`[{},{]`), []transcript.Change{{Span: transcript.Span{Start: 1, End: 3}, Len: 4}}) {
		t.Error("half an object is accepted")
	}
}
