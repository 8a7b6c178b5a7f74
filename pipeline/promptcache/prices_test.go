package promptcache

import (
	"math"
	"strings"
	"testing"
)

func TestBuiltInPrices(t *testing.T) {
	p := BuiltInPrices()
	if p.Date() == "" || p.Source() == "" {
		t.Fatal("the table has no date or no source")
	}
	for _, name := range p.Models() {
		c, ok := p.Lookup(name)
		if !ok || c.Relative {
			t.Fatalf("%s: not found under its own name", name)
		}
		// The ratios that every decision of a cache-aware rewriter rests on.
		if c.Read >= c.Fresh || c.Write5m < c.Fresh || c.Write1h < c.Write5m || c.Output <= c.Fresh {
			t.Errorf("%s: %+v is no plausible card", name, c)
		}
	}
}

func TestPricesLookup(t *testing.T) {
	p := BuiltInPrices()
	for _, tc := range []struct{ model, want string }{
		{"claude-opus-4-6", "claude-opus-4-6"},
		{"claude-opus-4-5-20251101", "claude-opus-4-5"},
		{"us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"},
		{"anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"},
		{"claude-sonnet-4-5@20250929", "claude-sonnet-4-5"},
		{"anthropic/claude-opus-4.8", "claude-opus-4-8"},
		{"gpt-4o-2024-08-06", "gpt-4o"},
		{"openai/gpt-5.3-codex", "gpt-5.3-codex"},
		{"GPT-5", "gpt-5"},
		{"gpt-5-unheard-of", ""},
		{"openrouter-llama-4-maverick", ""},
		{"", ""},
	} {
		c, ok := p.Lookup(tc.model)
		if c.Name != tc.want || ok != (tc.want != "") {
			t.Errorf("Lookup(%q) = %q, %v; want %q", tc.model, c.Name, ok, tc.want)
		}
	}
	if c := p.CardFor(ProviderAnthropic, "mystery"); !c.Relative || c.Label() != "relative:anthropic" || c.Write1h != 2 {
		t.Errorf("CardFor an unknown model = %+v", c)
	}
	if c := p.CardFor("other", "mystery"); !c.Relative || c.Label() != "relative:openai" || c.Write5m != 1 {
		t.Errorf("CardFor an unknown provider = %+v", c)
	}
}

func TestCardCost(t *testing.T) {
	c := Card{Fresh: 3, Read: 0.3, Write5m: 3.75, Write1h: 6, Output: 15}
	u := Usage{Fresh: 1000, Read: 20000, Write5m: 4000, Write1h: 5000, Output: 100}
	if got, want := c.InputCost(u), 0.003+0.006+0.015+0.03; math.Abs(got-want) > 1e-12 {
		t.Errorf("InputCost = %v, want %v", got, want)
	}
	if got, want := c.Cost(u)-c.InputCost(u), 0.0015; math.Abs(got-want) > 1e-12 {
		t.Errorf("output costs %v, want %v", got, want)
	}
}

func TestPricesWith(t *testing.T) {
	p, err := BuiltInPrices().With(strings.NewReader(`
version: 1
date: 2027-01-01
source: our contract
models:
  - {name: gpt-5, provider: openai, fresh: 1, read: 0.5, write_5m: 1, write_1h: 1, output: 2}
  - {name: our-model, provider: openai, fresh: 0, read: 0, write_5m: 0, write_1h: 0, output: 0}
`))
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := p.Lookup("gpt-5-2025-08-07"); c.Read != 0.5 || c.Source != "our contract" {
		t.Errorf("overridden card: %+v", c)
	}
	if _, ok := p.Lookup("our-model"); !ok {
		t.Error("added model not found")
	}
	if _, ok := p.Lookup("claude-opus-4-6"); !ok || p.Date() != "2027-01-01" {
		t.Error("the rest of the table is lost")
	}
	if c, _ := BuiltInPrices().Lookup("gpt-5"); c.Read == 0.5 {
		t.Error("the built-in table was changed")
	}
}

func TestPricesWithErrors(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"empty", "", "version 0"},
		{"version", "version: 2", "version 2"},
		{"unknown key", "version: 1\nmodel: []", "line 2"},
		{"missing price", "version: 1\nmodels: [{name: m, fresh: 1, read: 0.1, write_5m: 1, output: 2}]", "m: write_1h is missing"},
		{"missing fresh", "version: 1\nmodels: [{name: m, read: 0.1, write_5m: 1, write_1h: 1, output: 2}]", "m: fresh is missing"},
		{"negative", "version: 1\nmodels: [{name: m, fresh: -1}]", "m: fresh is no price"},
		{"no name", "version: 1\nmodels: [{fresh: 1}]", "no name"},
		{"not a number", "version: 1\nmodels: [{name: m, fresh: dear}]", "line 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := BuiltInPrices().With(strings.NewReader(tc.file))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v does not say %q", err, tc.want)
			}
		})
	}
}
