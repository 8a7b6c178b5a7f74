package pipeline

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/pipeline/transcript"
)

// drawPieces draws an edit of a text: ranges on character borders, in any order,
// and literals.
func drawPieces(t *rapid.T, text string, label string) []Piece {
	borders := []int{}
	for i := range text {
		borders = append(borders, i)
	}
	borders = append(borders, len(text))
	var out []Piece
	for range rapid.IntRange(1, 6).Draw(t, label) {
		if rapid.Bool().Draw(t, "literal") {
			out = append(out, Piece{Kind: Literal, Text: rapid.StringMatching(`[a-z\n"\\\[\]]{0,5}`).Draw(t, "text")})
			continue
		}
		a, b := rapid.IntRange(0, len(borders)-1).Draw(t, "from"), rapid.IntRange(0, len(borders)-1).Draw(t, "to")
		out = append(out, Piece{Kind: Keep, From: borders[min(a, b)], To: borders[max(a, b)]})
	}
	return out
}

// An edit of an edit is the same as both in turn.
func TestComposeIsBothInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-cé漢\n]{0,20}`).Draw(t, "text")
		first := drawPieces(t, text, "first")
		middle := render(first, text, nil)
		second := drawPieces(t, middle, "second")
		want := render(second, middle, nil)
		if got := render(compose(first, second), text, nil); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		if got := render(compose(nil, first), text, nil); got != middle {
			t.Fatalf("joined pieces make %q, want %q", got, middle)
		}
	})
}

// What a compiled plan writes decodes to what the pieces say, whatever escapes
// the client used.
func TestCompiledPlanDecodesToTheEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := `"` + rapid.StringMatching(`([a-z ]|\\n|\\t|\\"|\\\\|\\u00e9|\\ud83d\\ude00|é|漢|\\/){0,25}`).Draw(t, "raw") + `"`
		body := []byte(`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + raw + `}]}]}`)
		tr, err := transcript.Parse(transcript.Anthropic, body)
		if err != nil {
			t.Fatal(err)
		}
		span := tr.Results[0].Texts[0].Span
		text, _ := transcript.Decode(body[span.Start:span.End])
		pieces := drawPieces(t, text, "pieces")
		p := &plan{}
		var gate Gate
		p.pieces, p.refs, gate = compile(tr, body[span.Start:span.End], pieces)
		if gate != "" {
			t.Fatalf("gate %s", gate)
		}
		got, lossy := transcript.Decode([]byte(`"` + string(p.write(nil, tr, span)) + `"`))
		if want := render(pieces, text, nil); got != want || lossy {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// A removed span that holds what is no character makes the block untouchable; a
// kept one goes out with its bytes.
func TestCompileRefusesToRemoveWhatIsNoCharacter(t *testing.T) {
	raw := []byte(`"ab\ud800cd"`)
	body := append([]byte(`{"messages":[{"role":"user","content":`), raw...)
	body = append(body, `}]}`...)
	tr, err := transcript.Parse(transcript.Anthropic, body)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := transcript.Decode(raw)
	if _, _, g := compile(tr, raw, []Piece{{Kind: Keep, From: 0, To: 2}}); g != GateNotText {
		t.Errorf("removing it: gate %q, want %q", g, GateNotText)
	}
	if _, _, g := compile(tr, raw, []Piece{{Kind: Keep, From: 1, To: len(text)}}); g != "" {
		t.Errorf("keeping it: gate %q", g)
	}
	if _, _, g := compile(tr, raw, []Piece{{Kind: Keep, From: 0, To: 3}, {Kind: Keep, From: 5, To: 6}}); g != GateInsideCharacter {
		t.Errorf("cutting it: gate %q, want %q", g, GateInsideCharacter)
	}
}
