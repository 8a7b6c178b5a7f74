package config

import (
	"time"

	"google.golang.org/protobuf/proto"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
	"github.com/trimtab-io/trimtab/store"
)

// Origin says where a value came from: "default", "preset NAME", "FILE:LINE:COLUMN",
// "env NAME" or a flag.
type Origin string

// FromDefault is the origin of a value that nobody set.
const FromDefault Origin = "default"

// Note is something an operator should know about a valid configuration.
type Note struct {
	Origin Origin
	Text   string
}

// Effective is the configuration that is in force. It is immutable: nobody may
// change it or what it points at. It is safe for concurrent use.
type Effective struct {
	// Profiles by name. It holds DefaultProfile.
	Profiles       map[string]*Profile
	DefaultProfile string

	GRPC       string // "unix:PATH" or "HOST:PORT"
	Admin      string // "HOST:PORT"
	SecretFile string // empty: a random secret per process
	// AdminTokenFile holds the token of admin routes that change something; empty:
	// they are refused.
	AdminTokenFile string
	Trusted        Trusted

	MaxBytesInFlight int64
	DrainTimeout     time.Duration
	DrainDelay       time.Duration
	LogLevel         string
	LogFormat        string

	// Notes are in the order of the file.
	Notes []Note

	resolved *trimtabv1.Config
	origins  map[string]Origin
}

// Trusted says which request headers are read.
type Trusted struct{ Session, Agent, Bypass, Profile bool }

// Profile is how the requests of some routes are treated. Like all of
// [Effective] it is immutable.
type Profile struct {
	Name string
	// Preset is what the profile builds on; empty if it stands for itself.
	Preset     string
	Components []Component
	Level      store.Level
	Limits     Limits
	Expand     string // the policy
	Cache      string // the strategy
	Holdout    Holdout
	Exclude    []string // patterns of tool names; * stands for any characters
	Observe    bool     // measure only
}

// Component is one component with all its settings filled in.
type Component struct {
	Name     string
	Settings proto.Message // *trimtabv1.Gutter and the like; never nil
}

// Limits bound one request.
type Limits struct {
	MaxBodyBytes int64
	Deadline     time.Duration
	MaxExpansion int // how many times larger than received a body may become
}

// Holdout is the share of conversations that goes out as it came.
type Holdout struct {
	Share float64
	Seed  string
}

// Profile returns the named profile, the default one if the name is empty, or
// nil if there is none of that name.
func (e *Effective) Profile(name string) *Profile {
	if name == "" {
		name = e.DefaultProfile
	}
	return e.Profiles[name]
}

// MaxBodyBytes is the largest body that any profile reads.
func (e *Effective) MaxBodyBytes() int64 {
	var most int64
	for _, p := range e.Profiles {
		most = max(most, p.Limits.MaxBodyBytes)
	}
	return most
}

// Deadline is the longest that any profile lets a rewrite take.
func (e *Effective) Deadline() time.Duration {
	var most time.Duration
	for _, p := range e.Profiles {
		most = max(most, p.Limits.Deadline)
	}
	return most
}

func newEffective(cfg *trimtabv1.Config, origins map[string]Origin, notes []Note) *Effective {
	e := &Effective{
		Profiles:         map[string]*Profile{},
		DefaultProfile:   cfg.GetDefaultProfile(),
		GRPC:             cfg.GetGrpc(),
		Admin:            cfg.GetAdmin(),
		SecretFile:       cfg.GetSecretFile(),
		AdminTokenFile:   cfg.GetAdminTokenFile(),
		MaxBytesInFlight: int64(cfg.GetProcess().GetMaxBytesInFlight()),
		DrainTimeout:     cfg.GetProcess().GetDrainTimeout().AsDuration(),
		DrainDelay:       cfg.GetProcess().GetDrainDelay().AsDuration(),
		LogLevel:         cfg.GetLog().GetLevel(),
		LogFormat:        cfg.GetLog().GetFormat(),
		Notes:            notes,
		resolved:         cfg,
		origins:          origins,
		Trusted: Trusted{
			Session: cfg.GetTrustedHeaders().GetSession(),
			Agent:   cfg.GetTrustedHeaders().GetAgent(),
			Bypass:  cfg.GetTrustedHeaders().GetBypass(),
			Profile: cfg.GetTrustedHeaders().GetProfile(),
		},
	}
	for name, p := range cfg.GetProfiles() {
		e.Profiles[name] = newProfile(name, p)
	}
	return e
}

func newProfile(name string, p *trimtabv1.Profile) *Profile {
	out := &Profile{
		Name:   name,
		Preset: p.GetPreset(),
		Level:  levelOf(p.GetStorage().GetLevel()),
		Limits: Limits{
			MaxBodyBytes: int64(p.GetLimits().GetMaxBodyBytes()),
			Deadline:     p.GetLimits().GetDeadline().AsDuration(),
			MaxExpansion: int(p.GetLimits().GetMaxExpansion()),
		},
		Expand:  enumText(p.GetExpand(), "policy"),
		Cache:   enumText(p.GetCache(), "strategy"),
		Holdout: Holdout{Share: p.GetHoldout().GetShare(), Seed: p.GetHoldout().GetSeed()},
		Exclude: p.GetExclude(),
		Observe: p.GetMode() == trimtabv1.Mode_MODE_OBSERVE,
	}
	for _, c := range p.GetComponents() {
		out.Components = append(out.Components, Component{Name: c.GetName(), Settings: settingsOf(c)})
	}
	return out
}

func levelOf(l trimtabv1.Level) store.Level {
	switch l {
	case trimtabv1.Level_LEVEL_OFF:
		return store.Off
	case trimtabv1.Level_LEVEL_EVERYTHING:
		return store.Everything
	}
	return store.Metadata
}

func enumText(section proto.Message, field string) string {
	m := section.ProtoReflect()
	fd := m.Descriptor().Fields().ByTextName(field)
	return trimtabv1.Spell(fd, m.Get(fd))
}
