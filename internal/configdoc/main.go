package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/trimtab-io/trimtab/internal/config"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: configdoc FILE, a descriptor set with comments")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "configdoc:", err)
		os.Exit(1)
	}
}

func write(w io.Writer, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the descriptor set: %w", err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(data, set); err != nil {
		return fmt.Errorf("read the descriptor set: %w", err)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return fmt.Errorf("read the descriptor set: %w", err)
	}
	p := &page{files: files, w: &strings.Builder{}}
	p.write()
	_, err = io.WriteString(w, p.w.String())
	return err
}

// page is the reference as it is being written.
type page struct {
	files *protoregistry.Files
	w     *strings.Builder
}

const head = `# Configuration

<!-- Written by make generate from proto/trimtab/v1; change the comments there. -->

One YAML file, given with ` + "`--config`" + ` or ` + "`TRIMTAB_CONFIG`" + `. Without one, every request is treated by the
preset ` + "`conservative`" + ` at the storage level ` + "`metadata`" + `.

` + "```yaml" + `
profiles:
  default:
    preset: conservative
    components:
      - {name: gutter, every: 20}   # merged into the preset
    exclude: ["mcp__*"]
    holdout: {share: 0.05}
  careful:
    preset: safe
    storage: {level: "off"}
` + "```" + `

A value comes from, in falling order: a flag, an environment variable, the file, the preset, the default. ` + "`trimtab config show`" + `
and ` + "`/config`" + ` say of each value where it came from. A file with a mistake is refused whole, with the line and column of
each mistake; ` + "`trimtab config check FILE`" + ` tells before you use it. A changed file, or SIGHUP, loads it again: if it is wrong,
the last good one stays in force. Conversations that are under way keep the configuration they began with until the
provider's cache of them is cold, so that a change never makes them dearer.

Environment variables that belong to a profile set the value of every profile. Sizes may be written as ` + "`32MiB`" + `, durations
as ` + "`500ms`" + `, ` + "`30s`" + ` or ` + "`5m`" + `.

## Presets

| preset | components, in the order in which they run |
|---|---|
`

func (p *page) write() {
	p.w.WriteString(head)
	for _, preset := range config.Presets() {
		fmt.Fprintf(p.w, "| `%s` | %s |\n", preset, p.preset(preset))
	}
	p.w.WriteString(`
` + "`dedup`, `reread_stub`, `reread_delta` and `repeat_delta`" + ` are other products' names for what ` + "`backref`" + ` does, and stand for
it. ` + "`summarize`, `cache_aware_summarizer` and `checkpoint.replace`" + ` are refused: they would change how many messages there are;
so is ` + "`symbol_map`" + `, since there is no guard yet on what a model answers.
`)
	p.section("The file", "Config", "")
	p.section("`profiles.NAME`", "Profile", "")
	for _, s := range []struct{ key, message string }{
		{"storage", "Storage"}, {"limits", "Limits"}, {"expand", "Expand"}, {"cache", "Cache"}, {"holdout", "Holdout"},
	} {
		p.section("`profiles.NAME."+s.key+"`", s.message, "")
	}
	for _, s := range []struct{ key, message string }{
		{"trusted_headers", "TrustedHeaders"}, {"process", "ProcessLimits"}, {"log", "Log"},
	} {
		p.section("`"+s.key+"`", s.message, "")
	}
	p.w.WriteString("\n## Components\n\nEntries of `profiles.NAME.components`; the settings stand beside the name.\n")
	for _, name := range config.ComponentNames() {
		p.section("`"+name+"`", strings.ToUpper(name[:1])+name[1:], "#")
	}
	p.w.WriteString("\n## Environment variables\n\n| variable | sets |\n|---|---|\n")
	for _, v := range config.Variables() {
		fmt.Fprintf(p.w, "| `%s` | `%s` |\n", v.Name, v.Setting)
	}
	p.w.WriteString("| `TRIMTAB_CONFIG` | the file itself |\n| `ENVOY` | the Envoy that `trimtab up` runs |\n")
}

func (p *page) preset(name string) string {
	e, err := config.Load(config.Options{Environ: []string{"TRIMTAB_PRESET=" + name}})
	if err != nil {
		return err.Error()
	}
	var list []string
	for _, c := range e.Profile("").Components {
		list = append(list, "`"+c.Name+"`")
	}
	if len(list) == 0 {
		return "none: every request goes out as it came"
	}
	return strings.Join(list, ", ")
}

// section writes what a message is for, and a table of its fields.
func (p *page) section(title, message, deeper string) {
	d, err := p.files.FindDescriptorByName(protoreflect.FullName("trimtab.v1." + message))
	md, ok := d.(protoreflect.MessageDescriptor)
	if err != nil || !ok {
		fmt.Fprintf(p.w, "\n%s is missing: %v\n", message, err)
		return
	}
	fmt.Fprintf(p.w, "\n#%s# %s\n\n%s\n", deeper, title, comment(md))
	if md.Fields().Len() == 0 {
		p.w.WriteString("\nIt has no settings.\n")
		return
	}
	p.w.WriteString("\n| key | value | default | meaning |\n|---|---|---|---|\n")
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		rule := trimtabv1.RuleOf(p.compiled(fd))
		def := "-"
		if rule.Default != nil {
			def = "`" + rule.GetDefault() + "`"
		}
		meaning := comment(fd)
		if rule.GetEnv() != "" {
			meaning += " Environment: `" + rule.GetEnv() + "`."
		}
		fmt.Fprintf(p.w, "| `%s` | %s | %s | %s |\n", fd.Name(), p.values(fd), def, strings.ReplaceAll(meaning, "|", "\\|"))
	}
}

// compiled is the field as this program has it built in, where its rule can be read.
func (p *page) compiled(fd protoreflect.FieldDescriptor) protoreflect.FieldDescriptor {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(fd.FullName())
	if err != nil {
		return fd
	}
	return d.(protoreflect.FieldDescriptor)
}

// values says what may stand for a field.
func (p *page) values(fd protoreflect.FieldDescriptor) string {
	known := p.compiled(fd)
	switch {
	case fd.IsMap():
		return "profiles by name"
	case fd.IsList() && fd.Message() != nil:
		return "list of components"
	case fd.IsList():
		return "list of texts"
	case !trimtabv1.IsScalar(fd):
		return "section"
	}
	if allowed := trimtabv1.Allowed(known); len(allowed) > 0 {
		return "`" + strings.Join(allowed, "`, `") + "`"
	}
	kind := "text"
	switch fd.Kind() {
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		kind = "whole number"
		if trimtabv1.RuleOf(known).GetBytes() {
			kind = "bytes"
		}
	case protoreflect.DoubleKind:
		kind = "number"
	case protoreflect.MessageKind:
		kind = "duration"
	}
	if lo, hi := trimtabv1.Bounds(known); lo != "" {
		kind += ", " + lo + " to " + hi
	}
	return kind
}

// comment is a declaration's comment in one line.
func comment(d protoreflect.Descriptor) string {
	text := d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments
	return strings.Join(strings.Fields(text), " ")
}
