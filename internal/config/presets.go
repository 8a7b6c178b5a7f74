package config

import (
	"slices"

	"google.golang.org/protobuf/proto"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// DefaultPreset is the preset of a profile that names neither a preset nor
// components.
const DefaultPreset = "conservative"

// Presets lists the names of the presets, from the one that does nothing to the
// one that does most; the last three are for kinds of traffic.
func Presets() []string {
	return []string{"off", "cache", "safe", "conservative", "balanced", "coding", "mcp", "house"}
}

// presetComponents returns a preset's components in the order in which they run:
// secretmask first, so that no other component sees or splits a secret; then what
// cleans lines, what leaves lines out, and what points at lines that are left; the
// envelope last.
func presetComponents(preset string) []*trimtabv1.Component {
	conservative := []string{"secretmask", "textclean", "cmdfilter", "format", "backref", "gutter", "searchfold", "cachesplit"}
	var names []string
	switch preset {
	case "cache":
		names = []string{"secretmask", "cachesplit"}
	case "safe":
		names = []string{"secretmask", "textclean", "format", "searchfold", "cachesplit"}
	case "conservative":
		names = conservative
	case "balanced":
		names = append(conservative, "mask")
	case "coding":
		names = []string{"secretmask", "textclean", "cmdfilter", "extract", "collapse", "linecap", "format", "backref", "gutter", "searchfold", "cachesplit"}
	case "mcp":
		names = []string{"secretmask", "textclean", "smartcrush", "format", "cachesplit"}
	case "house":
		names = []string{"secretmask", "textclean", "cmdfilter", "extract", "smartcrush", "linecap", "format", "backref", "gutter", "searchfold", "cachesplit"}
	}
	list := make([]*trimtabv1.Component, len(names))
	for i, name := range names {
		list[i] = newComponent(name)
	}
	for _, c := range list {
		if m := c.GetFormat(); m != nil {
			// Lines that go out as they came can be pointed at when they come again.
			m.Multiline = proto.Bool(!slices.Contains(names, "backref"))
		}
		if m := c.GetMask(); m != nil {
			// What makes mask fit to be in a preset: it acts only where the
			// provider holds nothing that it could invalidate.
			m.ColdOnly = proto.Bool(true)
			m.KeepRecentMessages = proto.Uint32(10)
			m.MinChars = proto.Uint32(400)
			m.PeekChars = proto.Uint32(96)
		}
	}
	return list
}

// newComponent returns a component without any setting, or nil if the schema
// does not know its name.
func newComponent(name string) *trimtabv1.Component {
	c := &trimtabv1.Component{Name: name}
	for i := range componentFields().Len() {
		if fd := componentFields().Get(i); string(fd.Name()) == name {
			c.ProtoReflect().Set(fd, c.ProtoReflect().NewField(fd))
			return c
		}
	}
	return nil
}

// settingsOf returns the settings message of a component.
func settingsOf(c *trimtabv1.Component) proto.Message {
	m := c.ProtoReflect()
	fd := m.WhichOneof(m.Descriptor().Oneofs().ByName("settings"))
	if fd == nil {
		return nil
	}
	return m.Get(fd).Message().Interface()
}

func find(list []*trimtabv1.Component, name string) int {
	return slices.IndexFunc(list, func(c *trimtabv1.Component) bool { return c.GetName() == name })
}
