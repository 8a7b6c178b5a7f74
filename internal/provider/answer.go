package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Answer is what the model says once.
type Answer struct {
	Thinking string // shown only if the request asks for thinking
	Text     string
	Calls    []Call
}

// Call is one tool call of an answer.
type Call struct {
	Name  string
	Input string // a JSON object; for a custom tool of Responses any text
	// Custom says that the tool is one of Responses' custom tools.
	Custom bool
}

// tool is a declared tool, as far as calling it goes.
type tool struct {
	name   string
	schema jsontext.Value
	custom bool
}

// answer returns what the model says when it has spoken rounds times already.
func (p *Provider) answer(rounds int, tools []tool, parallel bool) Answer {
	if rounds < len(p.cfg.Script) {
		if a := p.cfg.Script[rounds]; a.callable(tools) {
			return a
		}
		return Answer{Text: "A title"}
	}
	if len(p.cfg.Script) > 0 || rounds >= p.cfg.Rounds || len(tools) == 0 {
		return Answer{Thinking: "Nothing is left to do.", Text: fmt.Sprintf("Done after %d rounds.", rounds)}
	}
	a := Answer{
		Thinking: fmt.Sprintf("Round %d: the next tool in the list will tell more.", rounds),
		Text:     fmt.Sprintf("Round %d — looking further.", rounds),
	}
	calls := 1
	if parallel && rounds%4 == 3 {
		calls = 2
	}
	for i := range calls {
		t := tools[(rounds+i)%len(tools)]
		input := fmt.Sprintf("round %d, call %d", rounds, i)
		if !t.custom {
			input = string(sampleInput(t.schema, rounds+i))
		}
		a.Calls = append(a.Calls, Call{Name: t.name, Input: input, Custom: t.custom})
	}
	return a
}

// callable says that every tool that the answer calls is declared.
func (a Answer) callable(tools []tool) bool {
	for _, c := range a.Calls {
		if !slices.ContainsFunc(tools, func(t tool) bool { return t.name == c.Name && t.custom == c.Custom }) {
			return false
		}
	}
	return true
}

// schema is what sampleInput looks at in a JSON schema.
type schema struct {
	Type       jsontext.Value   `json:"type"`
	Properties jsontext.Value   `json:"properties"`
	Required   []string         `json:"required"`
	Enum       []jsontext.Value `json:"enum"`
}

// sampleInput makes arguments with a value for each required property.
func sampleInput(raw jsontext.Value, seed int) jsontext.Value {
	var s schema
	if raw == nil || json.Unmarshal(raw, &s, lenient) != nil {
		return jsontext.Value("{}")
	}
	properties := map[string]schema{}
	_ = json.Unmarshal(s.Properties, &properties, lenient) // an odd schema gives an empty sample
	in := object{}
	for _, name := range s.Required {
		in = append(in, pair{name, sampleValue(name, properties[name], seed)})
	}
	return encode(in)
}

func sampleValue(name string, s schema, seed int) any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch typ := string(s.Type); {
	case strings.Contains(typ, "integer"), strings.Contains(typ, "number"):
		return seed
	case strings.Contains(typ, "boolean"):
		return false
	case strings.Contains(typ, "array"):
		return []any{}
	case strings.Contains(typ, "object"):
		return object{}
	}
	return fmt.Sprintf("%s-%d", name, seed)
}

// outputTokens counts what the answer bills.
func (p *Provider) outputTokens(a Answer, thinking bool) int {
	n := p.cfg.Count(a.Text)
	for _, c := range a.Calls {
		n += p.cfg.Count(c.Name) + p.cfg.Count(c.Input)
	}
	if thinking {
		n += p.cfg.Count(a.Thinking)
	}
	return max(n, 1)
}

// id returns an identifier that depends on the request and what alone.
func (ex *exchange) id(prefix, what string) string {
	sum := ex.p.mac("id", string(ex.body), ex.r.URL.Path, what)
	return prefix + hex.EncodeToString(sum[:12])
}

func (p *Provider) mac(parts ...string) []byte {
	m := hmac.New(sha256.New, p.cfg.Key)
	for _, s := range parts {
		fmt.Fprintf(m, "%d:%s", len(s), s)
	}
	return m.Sum(nil)
}

// signature signs a thinking block.
func (p *Provider) signature(thinking string) string {
	return base64.StdEncoding.EncodeToString(p.mac("thinking", thinking))
}

// sealed is the encrypted content of a reasoning item. It hides nothing; what
// matters is that a changed one is noticed.
func (p *Provider) sealed(thinking string) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(thinking))
	return text + "." + base64.RawURLEncoding.EncodeToString(p.mac("sealed", text))
}

func (p *Provider) unsealed(content string) bool {
	text, tag, ok := strings.Cut(content, ".")
	want := base64.RawURLEncoding.EncodeToString(p.mac("sealed", text))
	return ok && hmac.Equal([]byte(tag), []byte(want))
}
