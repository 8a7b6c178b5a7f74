package cmdfilter

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// checkStage checks what needs more than one key.
func (l *loader) checkStage(n *yaml.Node, s *stage) {
	name := verbNames()[s.verb]
	if s.verb == dedupe {
		if s.what == "" {
			s.what = "like the line above"
			if s.all {
				s.what = "repeats of earlier lines"
			}
		}
		if s.min == 0 {
			s.min = 3
			if s.mask != 0 {
				s.min = 6
			}
		}
		s.head = max(s.head, 1)
	}
	if s.what == "" || len(s.what) > maxWhat || !markText(s.what) {
		l.fail(n, "%s: what must say in 1 to %d printable ASCII characters, without ] and without a number in front, what is cut", name, maxWhat)
	}
	needsRE := s.verb != blocks && s.verb != headtail && s.verb != dedupe
	if needsRE && len(s.re) == 0 {
		l.fail(n, "%s has no re", name)
	}
	switch s.verb {
	case group:
		l.checkGroups(n, name, s.re, "at")
	case blocks:
		l.checkGroups(n, name, s.start, s.per, s.same[0])
		l.checkGroups(n, name, s.while, s.same[1])
		if s.same[0] != "" && len(s.while) == 0 {
			l.fail(n, "blocks: same compares a group of start with one of while")
		}
	default:
		l.checkGroups(n, name, s.re, s.same[0], s.same[1], s.per)
	}
	switch s.verb {
	case blocks:
		ends := 0
		for _, e := range [][]*pattern{s.end, s.until, s.while} {
			if len(e) > 0 {
				ends++
			}
		}
		if len(s.start) == 0 || ends != 1 {
			l.fail(n, "blocks needs start and one of end, until and while")
		}
	case headtail:
		if s.head+s.tail == 0 {
			l.fail(n, "headtail needs head or tail")
		}
		s.over = max(s.over, s.head+s.tail+3)
	case trim:
		for _, p := range s.re {
			if !strings.HasPrefix(p.source, "^") {
				l.fail(n, "trim: %q must begin with ^: only the beginning of a line can be cut off", p.source)
			}
		}
	}
	if !s.trusted {
		return
	}
	switch s.verb {
	case drop, fold, limit:
		for _, p := range s.re {
			if !p.closed {
				l.fail(n, "%s: trusted cuts lines with words such as error and warning, so each re must cover the whole line, ^...$; %q does not", name, p.source)
			}
		}
	case blocks:
		for _, p := range s.start {
			if !strings.HasPrefix(p.source, "^") {
				l.fail(n, "blocks: trusted needs a start that begins with ^; %q does not", p.source)
			}
		}
	case dedupe, headtail:
	default:
		l.fail(n, "%s can't be trusted; want drop, fold, limit, blocks, dedupe or headtail", name)
	}
}

// checkGroups checks that expressions have the groups that a stage names.
func (l *loader) checkGroups(n *yaml.Node, stage string, ps []*pattern, groups ...string) {
	for _, g := range groups {
		for _, p := range ps {
			if g != "" && p.group(g) < 0 {
				l.fail(n, "%s: %q has no group (?P<%s>...)", stage, p.source, g)
			}
		}
	}
}

// markText says that a text may stand in a mark.
func markText(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == ']' {
			return false
		}
	}
	return s[0] < '0' || s[0] > '9'
}
