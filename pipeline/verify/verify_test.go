package verify_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/verify"
)

// result is an earlier result of a call.
func result(call int, text string) pipeline.Source {
	return source(call, "", text)
}

func source(call int, argument, text string) pipeline.Source {
	return pipeline.Source{
		Call: pipeline.Call{Ordinal: call}, Argument: argument, Parts: 1,
		Forwarded: func() string { return text }, // a verifier has no use for what was received
	}
}

var sources = []pipeline.Source{
	result(1, "     1→alpha\n     2→beta\n     3→gamma\n     4→delta\n     5→epsilon\n     6→zeta\n     7→eta"),
	result(2, "one\ntwo two\nthree\nfour\nfive\r\n"),
	source(3, "content", "first line\nsecond line\nthird line\n"),
	result(3, "ok"),
	result(4, "1:a\n2: b\n3: c\n4:\n5: e\n6: f\nend\n"),
	result(5, "1: a\n2: b\n3:\n4: d\n5: e\n6: f\n"),
	source(6, "new_string", "twice\nonly here\nx\n"),
	source(6, "new_string", "twice\ny\nz\n"),
	result(7, "1\ta\n2\tb\n3\tc\n4\td\n5\te\n6\tf\n--\n1\tA\n2\tB\n3\tC\n4\tD\n5\tE\n6\tF\n7\tG\n"),
	// What is forwarded may have marks itself.
	result(8, "[trimtab lines 9-13: every 10th number shown]\n     9\ta\nb\n11\t11 not\nd\n13\te\n"),
	result(9, "     9\ta\n[trimtab lines 10-12: same as #8 lines 10-12]\n    13\te\n    14\tf\n3:00 o'clock\n"),
	result(10, "   10\ta\n   11\tb\n   12\tc\n   13\td\n   14\te\n   15\tf\n12. of another list\n"),
	result(11, "[trimtab lines 12-16: same as #1 lines 2-6]\n12\tz\n13\ty\n"),
	result(12, "alpha one\n[trimtab 3 lines: same as #2 from \"two tw\" to \"four\"]\nbeta two\nretry\nretry it\n"),
	result(13, "[trimtab paths: ./ = /home/dev/]\n./a.go\n use ./a.go\nplain text\n./b.go\nend\n"),
	result(14, "x\n[trimtab 5 lines: rows grouped by path]\na/b.go\n1:x\n2-y\nplain\nc.go\n3:z\n4:w\n"),
	result(15, "12: what a clock says\n[trimtab what is this]\n13: more\n14: most\n"),
	source(16, "content", "[trimtab lines 1-2: every 10th number shown]\n1\ta\nb\nplain\n"),
}

func restore(text string) (string, error) {
	return verify.New().Verify(pipeline.Block{Text: text}, pipeline.Prefix{Sources: sources})
}

func TestRestores(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"no mark", "a\n\nb", "a\n\nb"},
		{"nothing", "", ""},
		{"a line feed", "\n", "\n"},
		{"whole read", "[trimtab same as #2: a b.go lines 1-5, unchanged]\n", "one\ntwo two\nthree\nfour\nfive\r\n"},
		{"whole read, unterminated", "[trimtab same as #2, unchanged]", "one\ntwo two\nthree\nfour\nfive\r"},
		{"whole output, explained", "[trimtab identical output to #3; #n counts tool calls from the start]\n", "ok\n"},
		{"numbered to bare", "x\n[trimtab 3 lines: same as #1 lines 2-4]\ny\n", "x\nbeta\ngamma\ndelta\ny\n"},
		{"numbered to numbered", "[trimtab lines 12-13: same as #1 lines 2-3]\n", "    12→beta\n    13→gamma\n"},
		{"in the form of the line before", "11:x\n[trimtab lines 12-13: same as #1 lines 2-3]\n", "11:x\n12:beta\n13:gamma\n"},
		{"the line before has another number", "3:x\n[trimtab lines 12-13: same as #1 lines 2-3]\n", "3:x\n    12→beta\n    13→gamma\n"},
		{"padding runs out", "    99→x\n[trimtab lines 100-101: same as #2 from \"two two\" to \"three\"]\n", "    99→x\n   100→two two\n   101→three\n"},
		{"zeros", "00099| x\n[trimtab lines 100-101: same as #2 from \"two two\" to \"three\"]\n", "00099| x\n00100| two two\n00101| three\n"},
		{"bare by quotes", "[trimtab 3 lines: same as #2 from \"two tw\" to \"four\"]\n", "two two\nthree\nfour\n"},
		{"out of thinned lines", "[trimtab lines 3-5: same as #8 lines 10-12]\n", "     3\tb\n     4\t11 not\n     5\td\n"},
		{"thinned lines, whole", "[trimtab identical output to #8]\n", "     9\ta\n    10\tb\n    11\t11 not\n    12\td\n    13\te\n"},
		{"beside a reference", "[trimtab 2 lines: same as #9 lines 13-14]\n", "e\nf\n"},
		{"by quotes, beside a reference", "[trimtab 2 lines: same as #12 from \"beta\" to \"retry\"]\n", "beta two\nretry\n"},
		{"grouped rows, whole", "[trimtab identical output to #14]\n", "x\na/b.go:1:x\na/b.go-2-y\nplain\nc.go:3:z\nc.go:4:w\n"},
		{"a line among grouped rows", "[trimtab 1 line: same as #14 from \"plain\" to \"plain\"]\n", "plain\n"},
		{"one line, as it was said before", "[trimtab 1 lines: same as #2 from \"two\" to \"two\"]\n", "two two\n"},
		{"one line by quotes", "[trimtab 1 line: same as #2 from \"two\" to \"two\"]\n", "two two\n"},
		{"an argument", "[trimtab 2 lines: same as argument content of call #3 from \"second\" to \"third\"]\n", "second line\nthird line\n"},
		{"one of two arguments", "[trimtab 2 lines: same as argument new_string of call #6 from \"only\" to \"x\"]\n", "only here\nx\n"},
		{"a colon alone in the source", "[trimtab lines 2-3: same as #4 lines 2-3]\n", "2: b\n3: c\n"},
		{"contents behind a colon alone", "[trimtab 2 lines: same as #4 lines 2-3]\n", " b\n c\n"},
		{"contents behind a colon with a space", "[trimtab 2 lines: same as #5 lines 1-2]\n", "a\nb\n"},
		{"thinned out", "[trimtab lines 9-12: every 10th number shown]\n 9\ta\nb\n11 not\n12\td\n13\tx\n", " 9\ta\n10\tb\n11\t11 not\n12\td\n13\tx\n"},
		{"thinned out, a colon with a space", "[trimtab lines 9-12: every 2nd number shown]\n9: a\n10: b\n11:\n12: d", "9: a\n10: b\n11:\n12: d"},
		{"thinned out, a colon alone", "[trimtab lines 9-12: every 10th number shown]\n9: a\nb\n11:c\n d\n", "9: a\n10:b\n11:c\n12: d\n"},
		{"grouped by path", "x\n[trimtab 4 lines: rows grouped by path]\na/b.go\n1:x\n2-y\nplain\nc.go\n3:z\n4:w\n", "x\na/b.go:1:x\na/b.go-2-y\nplain\nc.go:3:z\n4:w\n"},
		{"grouped by directory", "[trimtab 3 lines: rows grouped by directory]\na/\n\tb\n\tc\nd\n\te\n", "a/b\na/c\nd\n\te\n"},
		{"a shortened directory", "[trimtab paths: ./ = /home/dev/]\n./a\n x ./b\n[trimtab 2 lines: rows grouped by path]\n./c\n1:x\n2:y\n", "/home/dev/a\n x ./b\n/home/dev/c:1:x\n/home/dev/c:2:y\n"},
		{"a directory is not put into references", "[trimtab paths: ./ = /h/]\n[trimtab 1 lines: same as #2 from \"one\" to \"one\"]\n", "one\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := restore(tc.in)
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     error
	}{
		{"unknown mark", "[trimtab what]\n", verify.ErrMark},
		{"open mark", "[trimtab same as #1, unchanged\n", verify.ErrMark},
		{"no such call", "[trimtab identical output to #9]\n", verify.ErrSource},
		{"no ordinal", "[trimtab identical output to #]\n", verify.ErrMark},
		{"no such argument", "[trimtab 2 lines: same as argument other of call #3 from \"a\" to \"b\"]\n", verify.ErrSource},
		{"quote in two lines", "[trimtab 2 lines: same as argument new_string of call #6 from \"twice\" to \"y\"]\n", verify.ErrQuote},
		{"quote in no line", "[trimtab 2 lines: same as #2 from \"zzz\" to \"three\"]\n", verify.ErrQuote},
		{"count disagrees", "[trimtab 3 lines: same as #2 from \"two\" to \"three\"]\n", verify.ErrQuote},
		{"number out of range", "[trimtab 2 lines: same as #1 lines 7-8]\n", verify.ErrNumber},
		{"number in two places", "[trimtab 2 lines: same as #7 lines 2-3]\n", verify.ErrNumber},
		{"lines that are not there", "[trimtab 3 lines: same as #9 lines 10-12]\n", verify.ErrNumber},
		{"lines on both sides of a reference", "[trimtab 5 lines: same as #9 lines 9-13]\n", verify.ErrNumber},
		{"a whole that is not there", "[trimtab identical output to #9]\n", verify.ErrSource},
		{"number in a list too", "[trimtab 3 lines: same as #10 lines 11-13]\n", verify.ErrNumber},
		{"number of a hidden line too", "[trimtab 2 lines: same as #11 lines 12-13]\n", verify.ErrNumber},
		{"number twice in this block", "12: x\n[trimtab lines 10-13: same as #1 lines 1-4]\n", verify.ErrNumber},
		{"by quotes, with a mark inside", "[trimtab 3 lines: same as #12 from \"alpha\" to \"beta\"]\n", verify.ErrQuote},
		{"quote in two lines as they are forwarded", "[trimtab 1 line: same as #12 from \"retry\" to \"retry\"]\n", verify.ErrQuote},
		{"quote in a mark too", "[trimtab 2 lines: same as #12 from \"two\" to \"retry\"]\n", verify.ErrQuote},
		{"quote in a shortened path too", "[trimtab 2 lines: same as #13 from \"./a.go\" to \"plain\"]\n", verify.ErrQuote},
		{"a shortened path", "[trimtab 3 lines: same as #13 from \"plain\" to \"end\"]\n", verify.ErrQuote},
		{"a grouped row", "[trimtab 2 lines: same as #14 from \"2-y\" to \"plain\"]\n", verify.ErrQuote},
		{"an unknown mark between", "[trimtab 3 lines: same as #15 lines 12-14]\n", verify.ErrNumber},
		{"a mark in an argument", "[trimtab 3 lines: same as argument content of call #16 from \"every\" to \"b\"]\n", verify.ErrQuote},
		{"counts differ", "[trimtab 3 lines: same as #1 lines 2-3]\n", verify.ErrNumber},
		{"numbered from nothing", "[trimtab lines 2-3: same as #2 from \"two\" to \"three\"]\n", verify.ErrNumber},
		{"too few lines", "[trimtab lines 1-3: every 10th number shown]\n1\ta\n", verify.ErrShort},
		{"another first number", "[trimtab lines 1-2: every 10th number shown]\n2\ta\nb\n", verify.ErrNumber},
		{"another shown number", "[trimtab lines 1-2: every 10th number shown]\n1\ta\n5\tb\n", verify.ErrNumber},
		{"too few rows", "[trimtab 3 lines: rows grouped by path]\na\n1:x\n", verify.ErrShort},
		{"grouped by what", "[trimtab 3 lines: rows grouped by colour]\na\n", verify.ErrMark},
		{"lines backwards", "[trimtab lines 3-2: same as #1 lines 3-2]\n", verify.ErrMark},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := restore(tc.in); !errors.Is(err, tc.want) {
				t.Errorf("got %q, %v, want %v", got, err, tc.want)
			}
		})
	}
}

// FuzzVerify: any text is decoded or refused, the same way each time, and a text
// without marks is its own decoding.
func FuzzVerify(f *testing.F) {
	f.Add("[trimtab lines 9-12: every 10th number shown]\n9: a\nb\n11:c\n d\n")
	f.Add("[trimtab 3 lines: same as #2 from \"two tw\" to \"four\"]\n[trimtab paths: ./ = /a/]\n./x\n")
	f.Add("[trimtab 99999999999 lines: rows grouped by path]\n")
	f.Add("[trimtab lines 1-99999999999999999999: same as #1 lines 1-2]\n")
	f.Add("[trimtab lines -5-9: same as #1 lines -5-9]\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, errA := restore(text)
		b, errB := restore(text)
		if a != b || !errors.Is(errB, errA) {
			t.Error("not deterministic")
		}
		if !strings.Contains(text, "[trimtab ") && (errA != nil || a != text) {
			t.Errorf("%q became %q, %v", text, a, errA)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	var text strings.Builder
	text.WriteString("[trimtab lines 1-20000: every 10th number shown]\n     1\tx\n")
	for i := 2; i < 20000; i++ {
		text.WriteString("\tsome line of source text, as long as they are\n")
	}
	text.WriteString("20000\ty\n")
	block := pipeline.Block{Text: text.String()}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := verify.New().Verify(block, pipeline.Prefix{}); err != nil {
			b.Fatal(err)
		}
	}
}
