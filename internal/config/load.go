package config

import (
	"fmt"
	"net"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Options say where a configuration comes from.
type Options struct {
	// File is the path of a YAML file; empty: there is none.
	File string
	// Environ holds KEY=VALUE pairs, as os.Environ returns them.
	Environ []string
	// Flags win over everything else, later ones over earlier ones.
	Flags []Override
}

// Load returns the configuration in force. The error is of type [Errors] if the
// configuration is wrong, and says everything that is wrong in it.
func Load(o Options) (*Effective, error) {
	var data []byte
	if o.File != "" {
		var err error
		if data, err = os.ReadFile(o.File); err != nil {
			return nil, fmt.Errorf("configuration: %w", err)
		}
	}
	return parse(o, data)
}

func parse(o Options, data []byte) (*Effective, error) {
	d := &decoder{file: o.File, origins: map[string]Origin{}}
	cfg := d.decodeFile(data)
	if len(d.errs) > 0 {
		return nil, d.errs.err()
	}
	if len(cfg.GetProfiles()) == 0 {
		cfg.Profiles = map[string]*trimtabv1.Profile{"default": {}}
	}
	for name, p := range cfg.GetProfiles() {
		if p == nil {
			cfg.Profiles[name] = &trimtabv1.Profile{}
		}
	}
	d.environment(cfg, o.Environ)
	for _, f := range o.Flags {
		d.override(cfg, f)
	}
	d.resolve(cfg)
	if len(d.errs) > 0 {
		return nil, d.errs.err()
	}
	return newEffective(cfg, d.origins, d.notes), nil
}

// resolve puts presets and defaults under what was given, and checks what needs
// more than one value.
func (d *decoder) resolve(cfg *trimtabv1.Config) {
	if cfg.DefaultProfile == nil && len(cfg.GetProfiles()) == 1 {
		for name := range cfg.GetProfiles() {
			cfg.DefaultProfile = proto.String(name)
		}
	}
	cfg.TrustedHeaders = orNew(cfg.TrustedHeaders)
	cfg.Process = orNew(cfg.Process)
	cfg.Log = orNew(cfg.Log)
	trimtabv1.Fill(cfg)
	for name, p := range cfg.GetProfiles() {
		d.resolveProfile(name, p)
	}
	if cfg.GetProfiles()[cfg.GetDefaultProfile()] == nil {
		d.wrong("default_profile", "there is no profile %q; give it, or name another one in default_profile", cfg.GetDefaultProfile())
	}
	d.address("grpc", cfg.GetGrpc(), true)
	d.address("admin", cfg.GetAdmin(), false)
	if cfg.GetAdmin() == cfg.GetGrpc() && !strings.HasSuffix(cfg.GetAdmin(), ":0") {
		d.wrong("admin", "admin: %q is grpc's address as well; give them two", cfg.GetAdmin())
	}
	for name, p := range cfg.GetProfiles() {
		for _, pattern := range p.GetExclude() {
			if _, err := path.Match(pattern, ""); err != nil {
				d.wrong("profiles."+name+".exclude", "%q is no pattern: * stands for any characters, ? for one, and a [ needs its ]", pattern)
			}
		}
		if p.GetLimits().GetMaxBodyBytes() > cfg.GetProcess().GetMaxBytesInFlight() {
			d.wrong("profiles."+name+".limits.max_body_bytes", "max_body_bytes is larger than process.max_bytes_in_flight, so a body of that size could never be read")
		}
	}
}

func (d *decoder) resolveProfile(name string, p *trimtabv1.Profile) {
	section := join("profiles", name)
	if p.Preset == nil && len(p.GetComponents()) == 0 {
		p.Preset = proto.String(DefaultPreset)
		if at := d.origins[section+".components"]; at != "" { // an empty list was given
			p.Preset, d.origins[section+".preset"] = proto.String("off"), at
		}
	}
	if p.Preset != nil {
		d.underlay(p, section)
	} else {
		p.Preset = proto.String("")
		for _, c := range p.GetComponents() {
			trimtabv1.Fill(settingsOf(c))
		}
	}
	d.order(p, section)
	p.Storage, p.Limits, p.Expand = orNew(p.Storage), orNew(p.Limits), orNew(p.Expand)
	p.Cache, p.Holdout = orNew(p.Cache), orNew(p.Holdout)
	trimtabv1.Fill(p)
	if p.GetHoldout().GetSeed() == "" {
		p.Holdout.Seed = proto.String(name)
	}
}

// order puts the components into the order in which they can work together:
// what cleans lines comes before what refers to them, and what rewrites rows
// comes after. Any other order costs savings: the verifier refuses its texts.
func (d *decoder) order(p *trimtabv1.Profile, section string) {
	inOrder := []string{"secretmask", "textclean", "cmdfilter", "extract", "smartcrush", "collapse", "linecap", "format", "toon", "backref", "gutter", "searchfold"}
	rank := func(c *trimtabv1.Component) int {
		if i := slices.Index(inOrder, c.GetName()); i >= 0 {
			return i
		}
		return len(inOrder) // of another kind: its place does not matter
	}
	byRank := func(a, b *trimtabv1.Component) int { return rank(a) - rank(b) }
	if slices.IsSortedFunc(p.GetComponents(), byRank) {
		return
	}
	slices.SortStableFunc(p.Components, byRank)
	if last := len(inOrder) - 1; p.GetPreset() == "" {
		d.notes = append(d.notes, Note{Origin: d.origins[section+".components"], Text: strings.Join(inOrder[:last], ", ") + " and " + inOrder[last] + " run in this order, whatever the order in the file"})
	}
}

// underlay merges the profile's components over its preset's, setting by
// setting; new names come last.
func (d *decoder) underlay(p *trimtabv1.Profile, section string) {
	base := presetComponents(p.GetPreset())
	from := Origin("preset " + p.GetPreset())
	for _, c := range base {
		at := componentPath(section+".components", c.GetName())
		if given := find(p.GetComponents(), c.GetName()); given >= 0 {
			proto.Merge(settingsOf(c), replaceLists(settingsOf(c), settingsOf(p.GetComponents()[given])))
		} else {
			d.origins[at] = from
		}
		m := settingsOf(c).ProtoReflect()
		for i := range m.Descriptor().Fields().Len() {
			fd := m.Descriptor().Fields().Get(i)
			setting := join(at, string(fd.Name()))
			if m.Has(fd) && d.origins[setting] == "" {
				d.origins[setting] = from
			}
		}
	}
	for _, c := range p.GetComponents() {
		if find(base, c.GetName()) < 0 {
			base = append(base, c)
		}
	}
	for _, c := range base {
		trimtabv1.Fill(settingsOf(c))
	}
	p.Components = base
}

// replaceLists empties the lists in base that over gives, so that a merge
// replaces them, and returns over.
func replaceLists(base, over proto.Message) proto.Message {
	b, o := base.ProtoReflect(), over.ProtoReflect()
	for i := range o.Descriptor().Fields().Len() {
		if fd := o.Descriptor().Fields().Get(i); fd.IsList() && o.Has(fd) {
			b.Clear(fd)
		}
	}
	return over
}

// address checks where a server is to listen.
func (d *decoder) address(setting, addr string, unixToo bool) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok && unixToo {
		if strings.HasSuffix(path, "/") || path == "" || len(path) > maxSocketPath {
			d.wrong(setting, "%s: a socket's path has 1 to %d bytes", setting, maxSocketPath)
		}
		return
	}
	if host, port, err := net.SplitHostPort(addr); err == nil && !strings.ContainsAny(host, " /") {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil { // 0 lets the system choose
			return
		}
	}
	if unixToo {
		d.wrong(setting, "%s: %q is neither unix:PATH nor HOST:PORT with a port from 0 to 65535", setting, addr)
		return
	}
	d.wrong(setting, "%s: %q is not HOST:PORT with a port from 0 to 65535", setting, addr)
}

// maxSocketPath is the longest path that the kernel takes for a Unix socket.
const maxSocketPath = 107

// wrong reports a value at the place where it was given.
func (d *decoder) wrong(setting, format string, args ...any) {
	e := &Error{File: d.file, Message: fmt.Sprintf(format, args...)}
	origin := string(d.origins[setting])
	if rest, ok := strings.CutPrefix(origin, d.file+":"); ok {
		fmt.Sscanf(rest, "%d:%d", &e.Line, &e.Column)
	} else if origin != "" {
		e.File = strings.TrimPrefix(origin, "env ")
	}
	if e.File == "" {
		e.File = "configuration"
	}
	d.errs = append(d.errs, e)
}

func orNew[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}
