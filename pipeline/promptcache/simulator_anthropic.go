package promptcache

// anthropicEntry is one written prefix.
type anthropicEntry struct {
	used float64 // written or last read
	ttl  float64
}

func (e *anthropicEntry) alive(now float64) bool { return e != nil && now-e.used <= e.ttl }

// billAnthropic: a prefix is written where a breakpoint stands and read back
// from a breakpoint at most simLookback positions on. From the longest hit to
// the last breakpoint everything is written, what follows is fresh.
func (s *Simulator) billAnthropic(p *prompt, now float64) Usage {
	prefix, upTo := p.prefixes()
	points := p.breakpoints(upTo)
	hit := s.longestHit(prefix, points, now)

	read, total := 0, 0
	if n := len(upTo); n > 0 {
		total = upTo[n-1]
	}
	if hit >= 0 {
		read = upTo[hit]
	}
	hourEnd, end := read, read
	for _, at := range points {
		if at <= hit {
			continue
		}
		end = max(end, upTo[at])
		if p.blocks[at].ttl == simHour {
			hourEnd = max(hourEnd, upTo[at])
		}
	}
	s.keepPrefixes(p, prefix, points, hit, now)
	return Usage{
		Read: read, Write1h: hourEnd - read, Write5m: end - hourEnd, Fresh: total - end, Known: true,
	}
}

// prefixes returns for each block the hash of everything up to it and the
// number of tokens up to its end.
func (p *prompt) prefixes() (prefix []uint64, upTo []int) {
	prefix, upTo = make([]uint64, len(p.blocks)), make([]int, len(p.blocks))
	h, n := p.model, 0
	for i, b := range p.blocks {
		h = chain(h, b.hash)
		n += b.tokens
		prefix[i], upTo[i] = h, n
	}
	return prefix, upTo
}

// breakpoints returns the positions that the provider honours: the first four
// marks, on blocks that may carry one, with enough before them.
func (p *prompt) breakpoints(upTo []int) []int {
	var at []int
	budget := simBreakpoints
	for i, b := range p.blocks {
		if b.marks == 0 || budget <= 0 {
			continue
		}
		budget -= b.marks
		if b.cacheable && upTo[i] >= simMinimum {
			at = append(at, i)
		}
	}
	if p.automatic == 0 || budget <= 0 {
		return at
	}
	for i := len(p.blocks) - 1; i >= p.messages; i-- {
		if !p.blocks[i].cacheable {
			continue
		}
		if p.blocks[i].marks == 0 && upTo[i] >= simMinimum {
			p.blocks[i].ttl = p.automatic
			at = append(at, i)
		}
		break
	}
	return at
}

func (s *Simulator) longestHit(prefix []uint64, points []int, now float64) int {
	for i := len(points) - 1; i >= 0; i-- {
		for at := points[i]; at >= 0 && at > points[i]-simLookback; at-- {
			if s.anthropic[prefix[at]].alive(now) {
				return at
			}
		}
	}
	return -1
}

// keepPrefixes renews what was read and keeps what was written. A breakpoint
// inside the part that was read costs nothing and lives as long as what was read.
func (s *Simulator) keepPrefixes(p *prompt, prefix []uint64, points []int, hit int, now float64) {
	readTTL := 0.0
	if hit >= 0 {
		e := s.anthropic[prefix[hit]]
		e.used, readTTL = now, e.ttl
	}
	for _, at := range points {
		switch e := s.anthropic[prefix[at]]; {
		case e.alive(now):
			e.used = now
		case at <= hit:
			s.anthropic[prefix[at]] = &anthropicEntry{used: now, ttl: readTTL}
		default:
			s.anthropic[prefix[at]] = &anthropicEntry{used: now, ttl: p.blocks[at].ttl}
		}
	}
}
