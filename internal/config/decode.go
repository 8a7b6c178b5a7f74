package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// maxFileBytes bounds a configuration file. A real one has a few hundred bytes.
const maxFileBytes = 1 << 20

// maxDepth bounds the nesting of a configuration file, aliases included.
const maxDepth = 32

// decoder fills messages from YAML nodes and remembers where each value stands.
type decoder struct {
	file    string
	origins map[string]Origin
	notes   []Note
	errs    Errors
}

// decodeFile reads one YAML document into a Config, values checked one by one.
func (d *decoder) decodeFile(data []byte) *trimtabv1.Config {
	cfg := &trimtabv1.Config{}
	if len(data) > maxFileBytes {
		d.errs = append(d.errs, &Error{File: d.file, Line: 1, Column: 1, Message: "the file is larger than 1 MiB"})
		return cfg
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return cfg
	case err != nil:
		d.syntax(err)
		return cfg
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		d.fail(&second, "there is a second document; write one")
	case !errors.Is(err, io.EOF):
		d.syntax(err)
	}
	if len(doc.Content) == 0 {
		return cfg
	}
	if root := doc.Content[0]; root.Tag != "!!null" {
		d.message(root, cfg.ProtoReflect(), "", 0)
	}
	return cfg
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

// syntax reports what is not YAML at all. The parser knows the line only.
func (d *decoder) syntax(err error) {
	e := &Error{File: d.file, Line: 1, Column: 1, Message: err.Error()}
	if m := yamlLine.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " ")); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			e.Line = n
		}
		e.Message = "this is not YAML: " + m[2]
	}
	d.errs = append(d.errs, e)
}

func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	d.errs = append(d.errs, &Error{File: d.file, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
}

func (d *decoder) here(n *yaml.Node) Origin {
	return Origin(fmt.Sprintf("%s:%d:%d", d.file, n.Line, n.Column))
}

// message fills m from a mapping.
func (d *decoder) message(n *yaml.Node, m protoreflect.Message, path string, depth int) {
	fields := m.Descriptor().Fields()
	d.pairs(n, path, depth, func(key, value *yaml.Node) {
		fd := fields.ByName(protoreflect.Name(key.Value))
		if fd == nil {
			d.unknownKey(key, path, names(fields))
			return
		}
		d.field(value, m, fd, join(path, key.Value), depth+1)
	})
}

// pairs calls f with each pair of a mapping, after reporting what is not one
// and what stands twice.
func (d *decoder) pairs(n *yaml.Node, path string, depth int, f func(key, value *yaml.Node)) {
	n = resolve(n)
	if depth > maxDepth {
		d.fail(n, "%s is nested more than %d deep", place(path), maxDepth)
		return
	}
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s must be a section with keys, not %s", place(path), what(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			d.fail(key, "a key in %s must be plain text", place(path))
			continue
		}
		if seen[key.Value] {
			d.fail(key, "%s stands twice", join(path, key.Value))
			continue
		}
		seen[key.Value] = true
		f(key, n.Content[i+1])
	}
}

func (d *decoder) field(n *yaml.Node, m protoreflect.Message, fd protoreflect.FieldDescriptor, path string, depth int) {
	n = resolve(n)
	if n.Tag == "!!null" {
		d.fail(n, "%s has no value; give one or take the key out", path)
		return
	}
	switch {
	case fd.IsMap():
		d.profiles(n, m.Mutable(fd).Map(), path, depth)
	case fd.IsList() && fd.Message() != nil:
		d.components(n, m.Mutable(fd).List(), path, depth)
	case fd.IsList():
		d.texts(n, m.Mutable(fd).List(), path)
	case !trimtabv1.IsScalar(fd):
		d.message(n, m.Mutable(fd).Message(), path, depth)
	default:
		if v, ok := d.scalar(n, fd, path); ok {
			m.Set(fd, v)
		}
	}
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (d *decoder) profiles(n *yaml.Node, profiles protoreflect.Map, path string, depth int) {
	d.pairs(n, path, depth, func(key, value *yaml.Node) {
		p := join(path, key.Value)
		if !profileName.MatchString(key.Value) {
			d.fail(key, "%q is no name for a profile: use up to 64 letters, digits, dots, dashes and underscores", key.Value)
			return
		}
		d.origins[p] = d.here(key)
		v := profiles.NewValue()
		if resolve(value).Tag != "!!null" {
			d.message(value, v.Message(), p, depth+1)
		}
		profiles.Set(protoreflect.ValueOfString(key.Value).MapKey(), v)
	})
}

// components reads [{name: gutter, every: 20}, ...]: the settings stand beside
// the name.
func (d *decoder) components(n *yaml.Node, list protoreflect.List, path string, depth int) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, "%s must be a list such as [{name: gutter, every: 20}], not %s", path, what(n))
		return
	}
	d.origins[path] = d.here(n)
	written := map[string]bool{}
	for _, entry := range n.Content {
		name := d.componentName(entry, path)
		if name == nil {
			continue
		}
		if written[name.Value] {
			d.fail(name, "the component %s stands twice", name.Value)
			continue
		}
		written[name.Value] = true
		c := d.component(name)
		if c == nil {
			continue
		}
		p := componentPath(path, c.GetName())
		if _, again := d.origins[p]; again {
			continue // a second alias of the same component
		}
		d.origins[p] = d.here(name)
		settings := settingsOf(c).ProtoReflect()
		d.pairs(entry, p, depth, func(key, value *yaml.Node) {
			if key.Value == "name" {
				return
			}
			fd := settings.Descriptor().Fields().ByName(protoreflect.Name(key.Value))
			if fd == nil {
				if reason, ok := refusedSetting(c.GetName(), key.Value); ok {
					d.fail(key, "%s is refused: %s", join(p, key.Value), reason)
					return
				}
				d.unknownKey(key, p, append([]string{"name"}, names(settings.Descriptor().Fields())...))
				return
			}
			d.field(value, settings, fd, join(p, key.Value), depth+1)
		})
		list.Append(protoreflect.ValueOfMessage(c.ProtoReflect()))
	}
}

// componentName finds the name in an entry, without reporting anything else.
func (d *decoder) componentName(entry *yaml.Node, path string) *yaml.Node {
	m := resolve(entry)
	if m.Kind != yaml.MappingNode {
		d.fail(entry, "an entry of %s must be written {name: NAME}, with settings beside the name", path)
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if value := resolve(m.Content[i+1]); m.Content[i].Value == "name" {
			if value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
				d.fail(value, "the name of a component must be one of %s", trimtabv1.List(ComponentNames()))
				return nil
			}
			return value
		}
	}
	d.fail(entry, "an entry of %s has no name; want one of %s", path, trimtabv1.List(ComponentNames()))
	return nil
}

func (d *decoder) component(name *yaml.Node) *trimtabv1.Component {
	written := name.Value
	if c := newComponent(written); c != nil {
		return c
	}
	if target, ok := aliasOf(written); ok {
		d.notes = append(d.notes, Note{
			Origin: d.here(name),
			Text:   fmt.Sprintf("%s is done by %s, which takes its place", written, target),
		})
		return newComponent(target)
	}
	if why, ok := refused(written); ok {
		d.fail(name, "the component %s is not accepted: %s", written, why)
		return nil
	}
	all := ComponentNames()
	d.fail(name, "there is no component %q%s; want one of %s", written, meant(written, all), trimtabv1.List(all))
	return nil
}

func (d *decoder) texts(n *yaml.Node, list protoreflect.List, path string) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, "%s must be a list of texts, not %s", path, what(n))
		return
	}
	for _, item := range n.Content {
		item = resolve(item)
		if item.Kind != yaml.ScalarNode || item.Tag != "!!str" || item.Value == "" {
			d.fail(item, "an entry of %s must be text, not %s", path, what(item))
			continue
		}
		list.Append(protoreflect.ValueOfString(item.Value))
	}
	d.origins[path] = d.here(n)
}

func (d *decoder) scalar(n *yaml.Node, fd protoreflect.FieldDescriptor, path string) (protoreflect.Value, bool) {
	none := protoreflect.Value{}
	if n.Kind != yaml.ScalarNode || !fits(fd, n.Tag) {
		d.fail(n, "%s must be %s, not %s", path, wanted(fd), what(n))
		return none, false
	}
	v, err := trimtabv1.Parse(fd, scalarText(n))
	if err != nil {
		d.fail(n, "%s: %v", path, err)
		return none, false
	}
	d.origins[path] = d.here(n)
	return v, true
}

// scalarText is a scalar as Parse reads it: YAML also knows True and 1_000.
func scalarText(n *yaml.Node) string {
	switch n.Tag {
	case "!!bool":
		return strings.ToLower(n.Value)
	case "!!int":
		return strings.ReplaceAll(n.Value, "_", "")
	}
	return n.Value
}

// fits says whether a YAML type may stand for a setting. A number is not taken
// for text, nor text for a number, so that a slip of the pen is found.
func fits(fd protoreflect.FieldDescriptor, tag string) bool {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return tag == "!!bool"
	case protoreflect.Uint32Kind:
		return tag == "!!int"
	case protoreflect.Uint64Kind:
		return tag == "!!int" || tag == "!!str" && trimtabv1.RuleOf(fd).GetBytes()
	case protoreflect.DoubleKind:
		return tag == "!!int" || tag == "!!float"
	}
	return tag == "!!str"
}

func wanted(fd protoreflect.FieldDescriptor) string {
	if allowed := trimtabv1.Allowed(fd); len(allowed) > 0 {
		return trimtabv1.List(allowed)
	}
	switch fd.Kind() {
	case protoreflect.Uint32Kind:
		return "a whole number"
	case protoreflect.Uint64Kind:
		return "a number of bytes such as 1048576 or 1MiB"
	case protoreflect.DoubleKind:
		return "a number"
	case protoreflect.MessageKind:
		return "a duration such as 500ms, 30s or 5m"
	}
	return "text (in quotes if it looks like a number)"
}

// what names what stands where something else was wanted.
func what(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a section"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return "the value " + n.Value
	case "!!null":
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

func (d *decoder) unknownKey(key *yaml.Node, path string, known []string) {
	if len(known) == 0 {
		d.fail(key, "unknown key %q: %s has no settings", key.Value, place(path))
		return
	}
	hint := meant(key.Value, known)
	if path == "" && (&trimtabv1.Profile{}).ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(key.Value)) != nil {
		hint = fmt.Sprintf(" (it belongs into a profile: profiles.default.%s)", key.Value)
	}
	d.fail(key, "unknown key %q in %s%s; want one of %s", key.Value, place(path), hint, trimtabv1.List(known))
}

func meant(name string, known []string) string {
	if m := nearest(name, known); m != "" {
		return fmt.Sprintf(" (did you mean %s?)", m)
	}
	return ""
}

// resolve follows a YAML alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func names(fields protoreflect.FieldDescriptors) []string {
	list := map[string]bool{}
	for i := range fields.Len() {
		list[string(fields.Get(i).Name())] = true
	}
	return slices.Sorted(maps.Keys(list))
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func componentPath(path, name string) string { return path + "[" + name + "]" }

func place(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}
