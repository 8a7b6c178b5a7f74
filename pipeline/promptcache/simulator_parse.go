package promptcache

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// prompt is a request in the order in which the provider reads it: tools,
// system, messages.
type prompt struct {
	model     uint64
	modelName string
	blocks    []simBlock
	messages  int     // index of the first block of the messages
	automatic float64 // lifetime asked for at the top of the body, or 0
}

// simBlock is one block as the provider's cache sees it.
type simBlock struct {
	hash      uint64 // of the decoded content; breakpoints are not of it
	tokens    int
	marks     int     // breakpoints on it or inside it
	ttl       float64 // the longest lifetime that they ask for
	cacheable bool    // may carry a breakpoint
	text      string  // as counted; kept for OpenAI, whose cache ends inside blocks
}

// BlockCounter reads blocks and counts their tokens, once per block: in a
// conversation every request repeats the blocks of the one before. It is safe
// for concurrent use, and may serve any number of simulators. It keeps what it
// has read for as long as it lives.
type BlockCounter struct {
	count func(string) int
	mu    sync.RWMutex
	known map[blockKey][]simBlock
}

type blockKey struct {
	hash   uint64
	length int
	kind   blockKind
}

type blockKind uint8

const (
	kindTool blockKind = iota
	kindSystem
	kindAnthropicMessage
	kindChatTool
	kindInstructions
	kindChatMessage
	kindItem
	kindOption
)

// NewBlockCounter returns a counter around count, which is called from several
// goroutines if the counter is.
func NewBlockCounter(count func(string) int) *BlockCounter {
	return &BlockCounter{count: count, known: make(map[blockKey][]simBlock)}
}

// blocks returns the blocks of one raw value, read at its first sight.
func (c *BlockCounter) blocks(kind blockKind, raw jsontext.Value) ([]simBlock, error) {
	key := blockKey{xxhash.Sum64(raw), len(raw), kind}
	c.mu.RLock()
	known, ok := c.known[key]
	c.mu.RUnlock()
	if ok {
		return known, nil
	}
	known, err := c.readBlocks(kind, raw)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.known[key] = known
	c.mu.Unlock()
	return known, nil
}

var errNoObject = errors.New("the body is no JSON object")

// read parses a body. Each list element is looked at as a whole, by hash.
func (c *BlockCounter) read(w Wire, body []byte) (*prompt, error) {
	dec := lenientDecoder(body)
	if dec.PeekKind() != jsontext.KindBeginObject {
		return nil, errNoObject
	}
	p := &prompt{}
	var parts promptParts
	err := eachMember(dec, func(name string) error { return parts.readMember(c, p, w, dec, name) })
	if err != nil {
		return nil, err
	}
	p.blocks = append(append(append(p.blocks, parts.tools...), parts.options...), parts.system...)
	p.messages = len(p.blocks)
	if len(parts.modes) > 0 && len(parts.messages) > 0 {
		// A change of these keeps what is cached of tools and system.
		first := parts.messages[0]
		for _, b := range parts.modes {
			first.hash = chain(first.hash, b.hash)
		}
		p.blocks = append(p.blocks, first)
		parts.messages = parts.messages[1:]
	}
	p.blocks = append(p.blocks, parts.messages...)
	return p, nil
}

// promptParts collects the parts of a body, which may come in any order.
type promptParts struct {
	tools, options, system, modes, messages []simBlock
}

func (parts *promptParts) readMember(c *BlockCounter, p *prompt, w Wire, dec *jsontext.Decoder, name string) error {
	switch {
	case name == "model" && dec.PeekKind() == jsontext.KindString:
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		p.modelName = tok.String()
		p.model = xxhash.Sum64String(p.modelName)
		return nil
	case name == "tools" && w == WireAnthropic:
		return c.readList(dec, kindTool, &parts.tools)
	case name == "tools":
		return c.readList(dec, kindChatTool, &parts.tools)
	case name == "system" && w == WireAnthropic:
		return c.readList(dec, kindSystem, &parts.system)
	case name == "messages" && w == WireAnthropic:
		return c.readList(dec, kindAnthropicMessage, &parts.messages)
	case name == "messages" && w == WireChat:
		return c.readList(dec, kindChatMessage, &parts.messages)
	case name == "instructions" && w == WireResponses:
		return c.readList(dec, kindInstructions, &parts.system)
	case name == "input" && w == WireResponses:
		return c.readList(dec, kindItem, &parts.messages)
	case (name == "tool_choice" || name == "thinking") && w == WireAnthropic:
		return c.readOne(dec, kindOption, &parts.modes)
	case name == "response_format" && w == WireChat, name == "text" && w == WireResponses:
		return c.readOne(dec, kindOption, &parts.options)
	case name == "cache_control" && w == WireAnthropic:
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		p.automatic, err = markTTL(raw)
		return err
	}
	return dec.SkipValue()
}

// readList reads the elements of a list, or a lone value in its place.
func (c *BlockCounter) readList(dec *jsontext.Decoder, kind blockKind, into *[]simBlock) error {
	if dec.PeekKind() != jsontext.KindBeginArray {
		return c.readOne(dec, kind, into)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != jsontext.KindEndArray {
		if err := c.readOne(dec, kind, into); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func (c *BlockCounter) readOne(dec *jsontext.Decoder, kind blockKind, into *[]simBlock) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	blocks, err := c.blocks(kind, raw)
	*into = append(*into, blocks...)
	return err
}

// chain folds the next hash into that of what stands before it.
func chain(before, next uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], before)
	binary.LittleEndian.PutUint64(b[8:], next)
	return xxhash.Sum64(b[:])
}

// markTTL returns the lifetime in seconds that a cache_control value asks for.
func markTTL(raw jsontext.Value) (float64, error) {
	if raw.Kind() != jsontext.KindBeginObject {
		return 0, nil
	}
	ttl := float64(simFive)
	dec := lenientDecoder(raw)
	err := eachMember(dec, func(name string) error {
		if name != "ttl" || dec.PeekKind() != jsontext.KindString {
			return dec.SkipValue()
		}
		tok, err := dec.ReadToken()
		if err == nil && tok.String() == "1h" {
			ttl = simHour
		}
		return err
	})
	return ttl, err
}
