package tokens_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/internal/corpus"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
)

func TestEstimateIsAdditiveOverLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[ -~é漢\t]{0,40}`)).Draw(t, "lines")
		sum := 0
		for _, l := range lines {
			sum += tokens.Estimate(l + "\n")
		}
		if got := tokens.Estimate(strings.Join(lines, "\n") + "\n"); len(lines) > 0 && got != sum {
			t.Fatalf("whole %d, lines %d", got, sum)
		}
	})
}

func TestEstimateOfNothing(t *testing.T) {
	if n := tokens.Estimate(""); n != 0 {
		t.Fatalf("an empty text costs %d", n)
	}
}

// The weights are held against the exact counter on recorded tool results: the
// total within 5 %, the median error of one text below 8 % (bytes/4: 12 %).
func TestEstimateIsCalibrated(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "dev/conversations"), "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations")
	}
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	var total, exact int
	var errs []float64
	for i, p := range files {
		if i%4 != 0 {
			continue
		}
		for _, text := range texts(t, p, 25) {
			want, err := enc.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			got := tokens.Estimate(text)
			total, exact = total+got, exact+want
			errs = append(errs, max(float64(got-want), float64(want-got))/float64(want))
		}
	}
	slices.Sort(errs)
	ratio, median := float64(total)/float64(exact), errs[len(errs)/2]
	t.Logf("%d texts: total ratio %.3f, median error %.3f, p90 %.3f", len(errs), ratio, median, errs[len(errs)*9/10])
	if ratio < 0.95 || ratio > 1.05 || median > 0.08 {
		t.Errorf("out of calibration")
	}
}

// texts are the first n longer strings of a recorded conversation.
func texts(t *testing.T, path string, n int) (out []string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var c struct{ Items []json.RawMessage }
	if err := json.NewDecoder(z).Decode(&c); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) > 200 && len(out) < n {
				out = append(out, strings.ToValidUTF8(v[:min(len(v), 4000)], ""))
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				if k == "content" || k == "output" || k == "text" {
					walk(x)
				}
			}
		}
	}
	for _, it := range c.Items {
		var v any
		if json.Unmarshal(it, &v) == nil {
			walk(v)
		}
	}
	return out
}

func BenchmarkEstimate(b *testing.B) {
	text := strings.Repeat("    12\tfunc (p *parser) next() (token, error) { return p.read(\"x\") }\n", 4000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokens.Estimate(text)
	}
}
