package promptcache

import (
	"bytes"
	_ "embed" // the built-in table
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Provider is whose billing rules apply: who keeps the cache, not whose model it is.
type Provider string

// The providers that have a relative card.
const (
	ProviderAnthropic Provider = "anthropic"
	ProviderOpenAI    Provider = "openai"
)

// Card is what one model's tokens cost, in US dollars for a million, or, if
// Relative, in units of one fresh token for a million.
type Card struct {
	// Name is the model, or the provider for a relative card.
	Name     string   `yaml:"name"`
	Provider Provider `yaml:"provider"`
	Fresh    float64  `yaml:"fresh"`
	Read     float64  `yaml:"read"`
	Write5m  float64  `yaml:"write_5m"`
	Write1h  float64  `yaml:"write_1h"`
	Output   float64  `yaml:"output"`
	// Relative says that no price is known and the provider's usual ratios
	// stand in for it.
	Relative bool `yaml:"-"`
	// Source says where the figures are from.
	Source string `yaml:"source"`
}

// InputCost is what u's input costs, output left out.
func (c Card) InputCost(u Usage) float64 {
	return (float64(u.Fresh)*c.Fresh + float64(u.Read)*c.Read +
		float64(u.Write5m)*c.Write5m + float64(u.Write1h)*c.Write1h) / 1e6
}

// Cost is what u costs, output included.
func (c Card) Cost(u Usage) float64 {
	return c.InputCost(u) + float64(u.Output)*c.Output/1e6
}

// Label names the card in output: the model, or `relative:anthropic`.
func (c Card) Label() string {
	if c.Relative {
		return "relative:" + c.Name
	}
	return c.Name
}

// Prices is a dated table of cards. It is immutable and safe for concurrent use.
type Prices struct {
	models   map[string]Card
	relative map[Provider]Card
	date     string
	source   string
}

// priceFile is a table as it is written.
type priceFile struct {
	Version  int               `yaml:"version"`
	Date     string            `yaml:"date"`
	Source   string            `yaml:"source"`
	Relative map[Provider]Card `yaml:"relative"`
	Models   []Card            `yaml:"models"`
}

//go:embed prices.yaml
var builtInPrices []byte

// BuiltInPrices returns the table that comes with this version.
func BuiltInPrices() *Prices {
	p, err := (&Prices{}).With(bytes.NewReader(builtInPrices))
	if err != nil {
		panic("built-in prices: " + err.Error()) // a test reads the table
	}
	return p
}

// With returns p with the cards of an operator's file over it. The file is YAML
// or JSON in the form of the built-in table; a card replaces the one of the
// same model whole. Unknown keys, negative prices and incomplete cards are
// errors.
func (p *Prices) With(file io.Reader) (*Prices, error) {
	dec := yaml.NewDecoder(file)
	dec.KnownFields(true)
	var f priceFile
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("prices: %w", err)
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("prices: version %d is not known, only 1 is", f.Version)
	}
	out := &Prices{
		models: make(map[string]Card, len(p.models)+len(f.Models)), relative: make(map[Provider]Card),
		date: p.date, source: p.source,
	}
	if f.Date != "" {
		out.date = f.Date
	}
	if f.Source != "" {
		out.source = f.Source
	}
	for k, c := range p.models {
		out.models[k] = c
	}
	for k, c := range p.relative {
		out.relative[k] = c
	}
	for provider, c := range f.Relative {
		c.Name, c.Provider, c.Relative = string(provider), provider, true
		if err := c.check(); err != nil {
			return nil, err
		}
		out.relative[provider] = c
	}
	for _, c := range f.Models {
		if err := c.check(); err != nil {
			return nil, err
		}
		if c.Source == "" {
			c.Source = f.Source
		}
		out.models[canonicalModel(c.Name)] = c
	}
	return out, nil
}

// check refuses cards that are incomplete. Only a model that is free
// altogether may have zeros.
func (c Card) check() error {
	if c.Name == "" {
		return errors.New("prices: a model has no name")
	}
	free := c.Fresh == 0 && c.Read == 0 && c.Write5m == 0 && c.Write1h == 0 && c.Output == 0
	for _, v := range []struct {
		name  string
		price float64
	}{{"fresh", c.Fresh}, {"read", c.Read}, {"write_5m", c.Write5m}, {"write_1h", c.Write1h}, {"output", c.Output}} {
		if v.price < 0 || math.IsNaN(v.price) || math.IsInf(v.price, 0) {
			return fmt.Errorf("prices: %s: %s is no price", c.Name, v.name)
		}
		if v.price == 0 && !free {
			return fmt.Errorf("prices: %s: %s is missing", c.Name, v.name)
		}
	}
	return nil
}

// Lookup returns the card of a model. It reports false where the table has
// none: unknown is not guessed. Dated and vendor-prefixed names of a model mean
// the model: `claude-opus-4-5-20251101`, `us.anthropic.claude-opus-4-5-20251101-v1:0`,
// `anthropic/claude-opus-4.5`.
func (p *Prices) Lookup(model string) (Card, bool) {
	c, ok := p.models[canonicalModel(model)]
	return c, ok
}

// CardFor returns the card of a model, or where it has none the relative card of
// the provider, marked as such.
func (p *Prices) CardFor(provider Provider, model string) Card {
	if c, ok := p.Lookup(model); ok {
		return c
	}
	return p.RelativeCard(provider)
}

// RelativeCard returns the provider's ratios between tiers. A provider without
// one gets OpenAI's: no premium on writes.
func (p *Prices) RelativeCard(provider Provider) Card {
	if c, ok := p.relative[provider]; ok {
		return c
	}
	return p.relative[ProviderOpenAI]
}

// Date is the day of the newest file in the table, as it was written there.
func (p *Prices) Date() string { return p.date }

// Source says where the newest file in the table took its figures from.
func (p *Prices) Source() string { return p.source }

// Models lists the models that have a price, sorted.
func (p *Prices) Models() []string {
	names := make([]string, 0, len(p.models))
	for _, c := range p.models {
		names = append(names, c.Name)
	}
	sort.Strings(names)
	return names
}

// modelDate matches what clients and clouds append to a model's name without
// meaning another model.
var modelDate = regexp.MustCompile(`(?:-v\d+(?::\d+)?|[-@]\d{8}|-\d{4}-\d{2}-\d{2}|[-@]latest|@default)$`)

// canonicalModel reduces the spellings of a model to one.
func canonicalModel(model string) string {
	m := strings.ToLower(model)
	m = m[strings.LastIndexByte(m, '/')+1:]
	if i := strings.LastIndex(m, "anthropic."); i >= 0 {
		m = m[i+len("anthropic."):]
	}
	for {
		loc := modelDate.FindStringIndex(m)
		if loc == nil {
			break
		}
		m = m[:loc[0]]
	}
	if strings.HasPrefix(m, "claude") {
		m = strings.ReplaceAll(m, ".", "-")
	}
	return m
}
