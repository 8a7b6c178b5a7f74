package tokens

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// byRuns is the estimate as its features are defined, one run of characters
// after the other; the table must agree with it on any text.
func byRuns(text string) int {
	total := 0
	for line := range strings.Lines(text) {
		total += max((runs(line)+500)/1000, 1)
	}
	return total
}

func runs(s string) (sum int) {
	is := func(i int, set string) bool {
		return i < len(s) && (strings.IndexByte(set, s[i]) >= 0)
	}
	const small, large, figures = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	run := func(i int, set string) int {
		for is(i, set) {
			i++
		}
		return i
	}
	for i := 0; i < len(s); {
		j := i + 1
		switch {
		case is(i, large) && is(j, large):
			if j = run(i, large); is(j, small) {
				j-- // the last capital begins the next piece
			}
			sum += capitals*(j-i) + short
		case is(i, small), is(i, large):
			j = run(j, small)
			switch n := j - i; {
			case n <= 4:
				sum += short
			case n <= 8:
				sum += medium
			case n <= 12:
				sum += long
			default:
				sum += long + longer*((n-9)/4)
			}
		case is(i, figures):
			j = run(i, figures)
			sum += digits * ((j - i + 2) / 3)
		case is(i, " \t"):
			if j = run(i, " \t"); j-i > 1 || s[i] == '\t' {
				sum += indent
			}
		case is(i, "\r\n"):
		case s[i] >= utf8.RuneSelf:
			cost, n := high(s[i:])
			sum, j = sum+cost, i+n
		default:
			for j < len(s) && s[j] < utf8.RuneSelf && !is(j, small+large+figures+" \t\r\n") {
				j++
			}
			sum += punct + morePunct*(j-i-1)
		}
		i = j
	}
	return sum
}

func TestTheTableIsTheDefinition(t *testing.T) {
	parts := []string{"a", "bc", "defg", "A", "BC", "Z", "0", "12", "345", " ", "  ", "\t", "\n", "\r", ".", "()", "_", "\x00", "\x7f", "é", "漢", "가", "\xff", "😀"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 60).Draw(t, "parts"), "")
		if got, want := Estimate(text), byRuns(text); got != want {
			t.Fatalf("%q: %d, want %d", text, got, want)
		}
	})
}

func FuzzEstimate(f *testing.F) {
	f.Add("func (p *parser) HTTPServer2() { return 12345.67 }\r\n\tabcdefghijklmnopqrstuvwxyz 漢é")
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := Estimate(text), byRuns(text); got != want {
			t.Fatalf("%q: %d, want %d", text, got, want)
		}
	})
}
