package cmdfilter

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func (l *loader) text(n *yaml.Node, key string) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		l.fail(n, "%s must be text", key)
		return ""
	}
	return n.Value
}

// texts reads a text, or a list of texts.
func (l *loader) texts(n *yaml.Node, key string) (list []string) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 || len(items) > maxList {
		l.fail(n, "%s must have 1 to %d entries", key, maxList)
		return nil
	}
	for _, item := range items {
		if t := l.text(item, key); t != "" {
			list = append(list, t)
		}
	}
	return list
}

func (l *loader) words(n *yaml.Node, key string) (list [][]string) {
	for _, t := range l.texts(n, key) {
		list = append(list, strings.Fields(t))
	}
	return list
}

func (l *loader) patterns(n *yaml.Node, key string) (list []*pattern) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 || len(items) > maxList {
		l.fail(n, "%s must have 1 to %d entries", key, maxList)
		return nil
	}
	for _, item := range items {
		p, err := newPattern(l.text(item, key))
		if err != nil {
			l.fail(item, "%s: %v", key, err)
			continue
		}
		list = append(list, p)
	}
	return list
}

func (l *loader) number(n *yaml.Node, key string, lo, hi int) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || v < lo || v > hi {
		l.fail(n, "%s must be a whole number from %d to %d", key, lo, hi)
		return lo
	}
	return v
}

func (l *loader) flag(n *yaml.Node, key string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		l.fail(n, "%s must be true or false", key)
		return false
	}
	return strings.EqualFold(n.Value, "true")
}

// choice reads one of a few words and returns its number.
func (l *loader) choice(n *yaml.Node, key string, allowed ...string) int {
	i := slices.Index(allowed, n.Value)
	if n.Kind != yaml.ScalarNode || i < 0 {
		l.fail(n, "%s must be %s, not %q", key, trimtabv1.List(allowed), n.Value)
		return 0
	}
	return i
}

func (l *loader) pair(n *yaml.Node) (pair [2]string) {
	names := l.texts(n, "same")
	if len(names) != 2 {
		l.fail(n, "same must name two groups")
		return pair
	}
	return [2]string{names[0], names[1]}
}
