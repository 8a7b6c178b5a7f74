package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Override is a value from a flag. It wins over the environment and the file.
type Override struct {
	// Flag is how the flag is written, for messages: "--preset".
	Flag string
	// Setting is the path of a scalar in the configuration, such as "grpc" or
	// "process.drain_timeout", or in every profile, such as "profiles.*.preset".
	Setting string
	Value   string
}

const everyProfile = "profiles.*."

// Variable is an environment variable that sets one value.
type Variable struct {
	Name    string
	Setting string // as in Override
}

// Variables lists every environment variable that is read, sorted by name.
func Variables() []Variable {
	var list []Variable
	collect(&list, (&trimtabv1.Config{}).ProtoReflect().Descriptor(), "")
	collect(&list, (&trimtabv1.Profile{}).ProtoReflect().Descriptor(), everyProfile)
	slices.SortFunc(list, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func collect(list *[]Variable, md protoreflect.MessageDescriptor, prefix string) {
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		switch {
		case fd.IsMap() || fd.IsList():
		case !trimtabv1.IsScalar(fd):
			collect(list, fd.Message(), prefix+string(fd.Name())+".")
		case trimtabv1.RuleOf(fd).GetEnv() != "":
			*list = append(*list, Variable{Name: trimtabv1.RuleOf(fd).GetEnv(), Setting: prefix + string(fd.Name())})
		}
	}
}

// environment applies the variables that are set and not empty.
func (d *decoder) environment(cfg *trimtabv1.Config, environ []string) {
	set := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			set[name] = value
		}
	}
	for _, v := range Variables() {
		if value := set[v.Name]; value != "" {
			d.override(cfg, Override{Flag: "env " + v.Name, Setting: v.Setting, Value: value})
		}
	}
}

func (d *decoder) override(cfg *trimtabv1.Config, o Override) {
	setting, ok := strings.CutPrefix(o.Setting, everyProfile)
	if !ok {
		d.set(cfg.ProtoReflect(), "", o.Setting, o)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.GetProfiles())) {
		if !d.set(cfg.GetProfiles()[name].ProtoReflect(), join("profiles", name), setting, o) {
			return // the same mistake once, not once per profile
		}
	}
}

func (d *decoder) set(m protoreflect.Message, path, setting string, o Override) bool {
	parts := strings.Split(setting, ".")
	for _, section := range parts[:len(parts)-1] {
		m = m.Mutable(m.Descriptor().Fields().ByName(protoreflect.Name(section))).Message()
	}
	fd := m.Descriptor().Fields().ByName(protoreflect.Name(parts[len(parts)-1]))
	if fd == nil {
		d.errs = append(d.errs, &Error{File: o.Flag, Message: fmt.Sprintf("there is no setting %s", o.Setting)})
		return false
	}
	v, err := trimtabv1.Parse(fd, o.Value)
	if err != nil {
		d.errs = append(d.errs, &Error{File: strings.TrimPrefix(o.Flag, "env "), Message: err.Error()})
		return false
	}
	m.Set(fd, v)
	d.origins[join(path, setting)] = Origin(o.Flag)
	return true
}
