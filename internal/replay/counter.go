package replay

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// longestRun is how many bytes without a blank are encoded at once: byte-pair
// merging is quadratic in the length of a word, and some tool results hold one
// of a megabyte. Cutting there can cost a token per cut.
const longestRun = 4096

// ExactCounter counts o200k tokens: what OpenAI's models of today use, and the
// nearest public stand-in for Anthropic's, which is not published. It takes a
// fifth of a second for a megabyte, so it is for offline use. Its count is safe
// for concurrent use.
func ExactCounter() (count func(string) int, err error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, fmt.Errorf("o200k vocabulary: %w", err)
	}
	return func(s string) int {
		total := 0
		for len(s) > 0 {
			piece := s[:endOfPiece(s)]
			s = s[len(piece):]
			n, err := codec.Count(piece)
			if err != nil { // only in a strict error mode
				n = len(piece) / 4
			}
			total += n
		}
		return total
	}, nil
}

// endOfPiece is where the first run of longestRun bytes without a blank ends,
// or the end of s.
func endOfPiece(s string) int {
	start := 0
	for i, r := range s {
		if unicode.IsSpace(r) {
			start = i + utf8.RuneLen(r)
		} else if i-start >= longestRun {
			return i
		}
	}
	return len(s)
}
