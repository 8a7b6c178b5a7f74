package promptcache

// openaiNode is one block in the tree of prompts that were sent to one model.
// Its children are the blocks that followed it.
type openaiNode struct {
	used     float64
	block    simBlock
	children map[uint64]*openaiNode
}

func (n *openaiNode) alive(now float64) bool { return n != nil && now-n.used <= simOpenAI }

// billOpenAI: whatever token prefix was sent before is read, from simMinimum on
// in steps of simStep; nothing is charged for writing.
func (s *Simulator) billOpenAI(p *prompt, now float64) Usage {
	root := s.openai[p.modelName]
	if root == nil {
		root = &openaiNode{}
		s.openai[p.modelName] = root
	}
	node, known, total, cached := root, true, 0, 0
	for _, b := range p.blocks {
		total += b.tokens
		next := node.children[b.hash]
		switch {
		case known && next.alive(now):
			cached += b.tokens
		case known:
			known = false
			cached += s.commonTokens(node, b, now)
		}
		if next == nil {
			next = &openaiNode{block: b}
			if node.children == nil {
				node.children = make(map[uint64]*openaiNode, 1)
			}
			node.children[b.hash] = next
		}
		next.used = now
		node = next
	}
	if cached < simMinimum {
		cached = 0
	}
	cached -= cached % simStep // the minimum is a multiple of the step
	return Usage{Fresh: total - cached, Read: cached, Known: true}
}

// commonTokens is how many tokens of b are the beginning of a block that was
// sent in its place before: the cache knows tokens, not blocks.
func (s *Simulator) commonTokens(before *openaiNode, b simBlock, now float64) int {
	longest := 0
	for _, other := range before.children {
		if !other.alive(now) {
			continue
		}
		n := 0
		for n < min(len(b.text), len(other.block.text)) && b.text[n] == other.block.text[n] {
			n++
		}
		longest = max(longest, n)
	}
	if longest == 0 {
		return 0
	}
	return min(s.counter.count(b.text[:longest]), b.tokens)
}
