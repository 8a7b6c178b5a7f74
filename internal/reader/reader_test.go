package reader_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/trimtab-io/trimtab/components/backref"
	"github.com/trimtab-io/trimtab/components/gutter"
	"github.com/trimtab-io/trimtab/components/searchfold"
	"github.com/trimtab-io/trimtab/internal/corpus"
	"github.com/trimtab-io/trimtab/internal/reader"
	"github.com/trimtab-io/trimtab/internal/replay"
	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/verify"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
	"github.com/trimtab-io/trimtab/store"
)

func must[T pipeline.Component](c T, err error) pipeline.Component {
	if err != nil {
		panic(err)
	}
	return c
}

func engine() *pipeline.Engine {
	e := pipeline.New(pipeline.Options{Secret: []byte("test secret"), Verifier: verify.New()})
	e.Apply([]pipeline.Profile{{Name: "default", Level: store.Off, Components: []pipeline.Component{
		must(backref.New(trimtabv1.Fill(&trimtabv1.Backref{}))),
		must(gutter.New(trimtabv1.Fill(&trimtabv1.Gutter{}))),
		must(searchfold.New(trimtabv1.Fill(&trimtabv1.Searchfold{}))),
	}}}, "default")
	return e
}

// TestReaderIsAlwaysRight asks, for every result that is changed in the last
// body of each conversation of the corpus (more than 500), what each line says
// and where each line stands. Reading the forwarded body must give what reading
// the received one gives.
func TestReaderIsAlwaysRight(t *testing.T) {
	files, err := replay.Files([]string{corpus.Path(t, "dev/conversations")})
	if err != nil {
		t.Fatal(err)
	}
	results, questions := 0, 0
	for _, f := range files {
		c, err := replay.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		e := engine()
		for k := range c.Turns {
			if k+1 < len(c.Turns) && c.Turns[k+1].Items > c.Turns[k].Items {
				continue // the next body has all of this one
			}
			in := c.Body(k)
			x := e.Rewrite(context.Background(), pipeline.Request{Path: c.Endpoint, Body: in, Now: time.Unix(1_700_000_000, 0)})
			out := slices.Clone(x.Body())
			x.Close()
			r, q := compare(t, filepath.Base(f), in, out)
			results, questions = results+r, questions+q
		}
	}
	t.Logf("%d changed results, %d questions", results, questions)
	if results < 500 {
		t.Errorf("only %d changed results", results)
	}
}

func compare(t testing.TB, name string, in, out []byte) (results, questions int) {
	t.Helper()
	want, err := reader.Read(in)
	if err != nil {
		t.Errorf("%s: received body: %v", name, err)
		return 0, 0
	}
	got, err := reader.Read(out)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0, 0
	}
	if len(want) != len(got) {
		t.Fatalf("%s: %d results became %d", name, len(want), len(got))
	}
	a, b := reader.Texts(in), reader.Texts(out)
	for i := range want {
		if a[i] == b[i] {
			continue
		}
		results++
		questions += len(want[i])
		if !slices.Equal(want[i], got[i]) {
			t.Errorf("%s: result %d reads otherwise", name, i)
			for k := range min(len(want[i]), len(got[i])) {
				if want[i][k] != got[i][k] {
					t.Logf("line %d: %v, want %v", k, got[i][k], want[i][k])
					break
				}
			}
			continue
		}
		for _, l := range want[i] {
			if l.Number < 0 {
				continue
			}
			if !slices.Contains(reader.TextOf(got[i], l.Number), l.Text) || !slices.Contains(reader.NumbersOf(got[i], l.Text), l.Number) {
				t.Errorf("%s: result %d, line %d", name, i, l.Number)
			}
		}
	}
	return results, questions
}
