package replay

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// turnSeconds stands between turns that have no recorded time.
const turnSeconds = 20

// Conversation is one recorded conversation: the transcript once, and how much
// of it each request carried. It is immutable and safe for concurrent use.
type Conversation struct {
	ID       string
	Wire     promptcache.Wire
	Endpoint string // the path its requests went to
	Agent    string
	Model    string
	Turns    []Turn

	style string
	head  []member
	items []jsontext.Value
}

// Turn is one request of a conversation.
type Turn struct {
	// Items is how many items of the transcript it carries.
	Items int
	// At is its time in seconds.
	At float64
	// Recorded is what the provider charged in reality, where that is known.
	Recorded promptcache.Usage
}

// member is one member of an object, raw.
type member struct {
	name  string
	value jsontext.Value
}

// file is the compact form as it is stored.
type file struct {
	ID       string           `json:"id"`
	Provider promptcache.Wire `json:"provider"`
	Endpoint string           `json:"endpoint"`
	Agent    string           `json:"agent"`
	Style    string           `json:"cache_style"`
	Head     jsontext.Value   `json:"head"`
	Items    []jsontext.Value `json:"items"`
	Turns    []struct {
		N     int            `json:"n"`
		TS    *float64       `json:"ts"`
		Usage *recordedUsage `json:"usage"`
	} `json:"turns"`
}

// recordedUsage is a bill as clients' session logs keep it.
type recordedUsage struct {
	Input      int  `json:"input_tokens"`
	CacheRead  int  `json:"cache_read_input_tokens"`
	CacheWrite int  `json:"cache_creation_input_tokens"`
	Cached     *int `json:"cached_input_tokens"` // of the input, where the log is of an OpenAI client
	Output     int  `json:"output_tokens"`
}

func (r *recordedUsage) usage() promptcache.Usage {
	if r == nil {
		return promptcache.Usage{}
	}
	u := promptcache.Usage{Fresh: r.Input, Read: r.CacheRead, Write5m: r.CacheWrite, Output: r.Output, Known: true}
	if r.Cached != nil {
		u.Fresh, u.Read = r.Input-*r.Cached, *r.Cached
	}
	return u
}

// ReadFile reads one conversation, compressed with gzip or not.
func ReadFile(path string) (*Conversation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Read reads one conversation in the compact form, compressed with gzip or not.
func Read(r io.Reader) (*Conversation, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	}
	var f file
	if err := json.Unmarshal(data, &f, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("conversation: %w", err)
	}
	return f.conversation()
}

func (f *file) conversation() (*Conversation, error) {
	switch f.Provider {
	case promptcache.WireAnthropic, promptcache.WireChat, promptcache.WireResponses:
	default:
		return nil, fmt.Errorf("conversation %s: provider %q is not known", f.ID, f.Provider)
	}
	if f.ID == "" || f.Head.Kind() != jsontext.KindBeginObject {
		return nil, errors.New("conversation: id or head is missing")
	}
	c := &Conversation{
		ID: f.ID, Wire: f.Provider, Endpoint: f.Endpoint, Agent: f.Agent, style: f.Style, items: f.Items,
	}
	for i := range c.items {
		if err := c.items[i].Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
			return nil, fmt.Errorf("conversation %s: item %d: %w", f.ID, i, err)
		}
	}
	var err error
	if c.head, err = readMembers(f.Head); err != nil {
		return nil, fmt.Errorf("conversation %s: head: %w", f.ID, err)
	}
	if err := json.Unmarshal(c.model(), &c.Model); err != nil {
		return nil, fmt.Errorf("conversation %s: model: %w", f.ID, err)
	}
	at := 0.0
	for k, t := range f.Turns {
		if t.N < 1 || t.N > len(c.items) {
			return nil, fmt.Errorf("conversation %s: turn %d carries %d of %d items", f.ID, k, t.N, len(c.items))
		}
		if k > 0 {
			at += turnSeconds
		}
		if t.TS != nil {
			at = *t.TS
		}
		c.Turns = append(c.Turns, Turn{Items: t.N, At: at, Recorded: t.Usage.usage()})
	}
	if c.Endpoint == "" {
		c.Endpoint = map[promptcache.Wire]string{
			promptcache.WireAnthropic: "/v1/messages",
			promptcache.WireChat:      "/v1/chat/completions",
			promptcache.WireResponses: "/v1/responses",
		}[c.Wire]
	}
	return c, nil
}

// model is the head's model, raw.
func (c *Conversation) model() jsontext.Value {
	if v := find(c.head, "model"); v != nil {
		return v
	}
	return jsontext.Value("null")
}

// readMembers returns the members of an object, values compact.
func readMembers(raw jsontext.Value) ([]member, error) {
	all, err := readRaw(raw)
	if err != nil {
		return nil, err
	}
	for i := range all {
		v := all[i].value.Clone()
		if err := v.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
			return nil, err
		}
		all[i].value = v
	}
	return all, nil
}
