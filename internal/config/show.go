package config

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Setting is one value in force and where it came from.
type Setting struct {
	Path   string `json:"path"`
	Value  string `json:"value"`
	Origin Origin `json:"origin"`
}

// YAML writes the whole configuration in force as a file that loads to the same
// one, with the origin of each value beside it.
func (e *Effective) YAML() []byte {
	root := e.section(e.resolved, "")
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return []byte("# " + err.Error() + "\n")
	}
	enc.Close()
	return append(bytes.TrimRight(out.Bytes(), "\n"), 10)
}

// Settings lists every value in force, in the order of [Effective.YAML].
func (e *Effective) Settings() []Setting {
	var list []Setting
	flatten(&list, e.section(e.resolved, ""), "")
	return list
}

func flatten(list *[]Setting, n *yaml.Node, path string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			flatten(list, n.Content[i+1], join(path, n.Content[i].Value))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			p := path + "[" + strconv.Itoa(i) + "]"
			if item.Kind == yaml.MappingNode {
				p = componentPath(path, item.Content[1].Value)
			}
			flatten(list, item, p)
		}
	default:
		*list = append(*list, Setting{Path: path, Value: n.Value, Origin: Origin(strings.TrimPrefix(n.LineComment, "# "))})
	}
}

// section writes a message's values as a mapping, in the order of the schema,
// what is absent left out.
func (e *Effective) section(msg proto.Message, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	e.fields(n, msg, path)
	return n
}

func (e *Effective) fields(n *yaml.Node, msg proto.Message, path string) {
	m := msg.ProtoReflect()
	for i := range m.Descriptor().Fields().Len() {
		fd := m.Descriptor().Fields().Get(i)
		p := join(path, string(fd.Name()))
		if !m.Has(fd) {
			continue
		}
		var value *yaml.Node
		switch {
		case fd.IsMap():
			value = e.profiles(path)
		case fd.IsList() && fd.Message() != nil:
			value = e.components(m.Get(fd).List(), p)
		case fd.IsList():
			value = e.texts(m.Get(fd).List(), p)
		case !trimtabv1.IsScalar(fd):
			value = e.section(m.Get(fd).Message().Interface(), p)
		default:
			text := trimtabv1.Spell(fd, m.Get(fd))
			if fd.Name() == "preset" && text == "" {
				continue // the profile stands for itself
			}
			value = e.scalar(fd, text, p)
		}
		n.Content = append(n.Content, key(string(fd.Name())), value)
	}
}

func (e *Effective) profiles(path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(e.resolved.GetProfiles())) {
		section := e.section(e.resolved.GetProfiles()[name], join(join(path, "profiles"), name))
		n.Content = append(n.Content, key(name), section)
	}
	return n
}

func (e *Effective) components(list protoreflect.List, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range list.Len() {
		c, ok := list.Get(i).Message().Interface().(*trimtabv1.Component)
		if !ok {
			continue
		}
		p := componentPath(path, c.GetName())
		item := &yaml.Node{Kind: yaml.MappingNode}
		name := &yaml.Node{Kind: yaml.ScalarNode, Value: c.GetName(), LineComment: "# " + string(e.origin(p))}
		item.Content = append(item.Content, key("name"), name)
		e.fields(item, settingsOf(c), p)
		n.Content = append(n.Content, item)
	}
	return n
}

func (e *Effective) texts(list protoreflect.List, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range list.Len() {
		n.Content = append(n.Content, &yaml.Node{
			Kind: yaml.ScalarNode, Tag: "!!str", Value: list.Get(i).String(), Style: yaml.DoubleQuotedStyle,
			LineComment: "# " + string(e.origin(path)),
		})
	}
	return n
}

func (e *Effective) scalar(fd protoreflect.FieldDescriptor, text, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text, LineComment: "# " + string(e.origin(path))}
	if fd.Kind() == protoreflect.StringKind {
		n.Tag = "!!str"
	}
	return n
}

func (e *Effective) origin(path string) Origin {
	if o := e.origins[path]; o != "" {
		return o
	}
	return FromDefault
}

func key(name string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name} }
