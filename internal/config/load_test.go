package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
	"github.com/trimtab-io/trimtab/store"
)

func load(t testing.TB, text string, environ ...string) (*Effective, error) {
	t.Helper()
	return parse(Options{File: "trimtab.yaml", Environ: environ}, []byte(text))
}

func mustLoad(t testing.TB, text string, environ ...string) *Effective {
	t.Helper()
	e, err := load(t, text, environ...)
	if err != nil {
		t.Fatalf("unexpected: %v", err)
	}
	return e
}

func componentNames(p *Profile) []string {
	var names []string
	for _, c := range p.Components {
		names = append(names, c.Name)
	}
	return names
}

func TestNothingGivenIsConservativeAtMetadata(t *testing.T) {
	for name, text := range map[string]string{
		"no file": "", "comments": "# nothing\n", "null": "~\n", "empty profile": "profiles:\n  default:\n",
	} {
		t.Run(name, func(t *testing.T) {
			e := mustLoad(t, text)
			p := e.Profile("")
			if p == nil || p.Name != "default" || p.Level != store.Metadata || p.Observe {
				t.Fatalf("profile: %+v", p)
			}
			want := []string{"secretmask", "textclean", "cmdfilter", "format", "backref", "gutter", "searchfold", "cachesplit"}
			if diff := cmp.Diff(want, componentNames(p)); diff != "" {
				t.Error(diff)
			}
			limits := Limits{MaxBodyBytes: 32 << 20, Deadline: 1500 * time.Millisecond, MaxExpansion: 200}
			if diff := cmp.Diff(limits, p.Limits); diff != "" {
				t.Error(diff)
			}
			if p.Holdout.Seed != "default" || p.Cache != "none" || p.Expand != "never" {
				t.Errorf("profile: %+v", p)
			}
		})
	}
}

func TestPresets(t *testing.T) {
	for preset, want := range map[string][]string{
		"off":          nil,
		"cache":        {"secretmask", "cachesplit"},
		"safe":         {"secretmask", "textclean", "format", "searchfold", "cachesplit"},
		"conservative": {"secretmask", "textclean", "cmdfilter", "format", "backref", "gutter", "searchfold", "cachesplit"},
		"balanced":     {"secretmask", "textclean", "cmdfilter", "format", "backref", "gutter", "searchfold", "cachesplit", "mask"},
	} {
		t.Run(preset, func(t *testing.T) {
			p := mustLoad(t, "profiles: {a: {preset: "+preset+"}}").Profile("a")
			if diff := cmp.Diff(want, componentNames(p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSettingsMergeIntoThePreset(t *testing.T) {
	e := mustLoad(t, `
profiles:
  coding:
    preset: balanced
    components:
      - {name: gutter, every: 20}
      - {name: mask, keep_recent_messages: 4}
      - {name: cachesplit, markers: ["Today: "]}
`)
	p := e.Profile("coding")
	want := map[string]any{
		"gutter":     trimtabv1.Fill(&trimtabv1.Gutter{Every: new(uint32(20))}),
		"mask":       trimtabv1.Fill(&trimtabv1.Mask{KeepRecentMessages: new(uint32(4))}),
		"cachesplit": &trimtabv1.Cachesplit{Markers: []string{"Today: "}},
		"backref":    trimtabv1.Fill(&trimtabv1.Backref{}),
	}
	for _, c := range p.Components {
		if w := want[c.Name]; w != nil {
			if diff := cmp.Diff(w, c.Settings, protocmp.Transform()); diff != "" {
				t.Errorf("%s: %s", c.Name, diff)
			}
		}
	}
	if got := componentNames(p); !slices.Equal(got, []string{"secretmask", "textclean", "cmdfilter", "format", "backref", "gutter", "searchfold", "cachesplit", "mask"}) {
		t.Errorf("order: %v", got)
	}
}

func TestComponentsWithoutAPresetStandForThemselves(t *testing.T) {
	e := mustLoad(t, "profiles: {a: {components: [{name: mask}, {name: textclean}]}, b: {components: []}}\ndefault_profile: a\n")
	if got := componentNames(e.Profile("a")); !slices.Equal(got, []string{"textclean", "mask"}) {
		t.Errorf("a: %v", got)
	}
	if got := componentNames(e.Profile("b")); len(got) != 0 {
		t.Errorf("b: %v", got)
	}
}

func TestAliasesBecomeBackref(t *testing.T) {
	e := mustLoad(t, "profiles: {a: {components: [{name: dedup, min_lines: 8}, {name: reread_stub}]}}")
	if got := componentNames(e.Profile("")); !slices.Equal(got, []string{"backref"}) {
		t.Fatalf("components: %v", got)
	}
	if len(e.Notes) != 2 || e.Notes[0].Origin != "trimtab.yaml:1:36" || !strings.Contains(e.Notes[0].Text, "backref") {
		t.Errorf("notes: %v", e.Notes)
	}
}

func TestErrorsNameThePlaceAndTheRemedy(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "profiles:\n  a:\n    prest: safe\n", `trimtab.yaml:3:5: unknown key "prest" in profiles.a (did you mean preset?); want one of`},
		{"profile key at the top", "preset: safe\n", `1:1: unknown key "preset" in the file (it belongs into a profile: profiles.default.preset)`},
		{"unknown component", "profiles:\n  a:\n    components:\n      - name: guter\n", `4:15: there is no component "guter" (did you mean gutter?); want one of ` + trimtabv1.List(ComponentNames())},
		{"refused component", "profiles: {a: {components: [{name: summarize}]}}", "1:36: the component summarize is not accepted: it would change how many messages there are"},
		{"unknown setting", "profiles: {a: {components: [{name: gutter, evry: 5}]}}", `1:44: unknown key "evry" in profiles.a.components[gutter] (did you mean every?); want one of name, every, force or min_lines`},
		{"share of the window", "profiles: {a: {components: [{name: collapse, max_frac: 0.1}]}}", `profiles.a.components[collapse].max_frac is refused: a share of the model's window`},
		{"trigger", "profiles: {a: {components: [{name: extract, min_messages: 5}]}}", `profiles.a.components[extract].min_messages is refused: what is cut out of a result depends on the result alone`},
		{"setting of none", "profiles: {a: {components: [{name: textclean, x: 1}]}}", `unknown key "x" in profiles.a.components[textclean]; want one of name`},
		{"wrong type", "profiles: {a: {components: [{name: gutter, every: ten}]}}", `1:51: profiles.a.components[gutter].every must be 2, 5, 10 or 20, not "ten"`},
		{"not allowed", "profiles: {a: {components: [{name: gutter, every: 7}]}}", `1:51: profiles.a.components[gutter].every: "7" is not one of 2, 5, 10 or 20`},
		{"out of range", "profiles: {a: {holdout: {share: 2}}}", "1:33: profiles.a.holdout.share: 2 is out of range: from 0 to 1"},
		{"level", "profiles: {a: {storage: {level: some}}}", `1:33: profiles.a.storage.level: "some" is not one of off, metadata or everything`},
		{"preset", "profiles: {a: {preset: max}}", `1:24: profiles.a.preset: "max" is not one of off, cache, safe, conservative, balanced, coding, mcp or house`},
		{"number as text", "profiles: {a: {holdout: {seed: 12}}}", "profiles.a.holdout.seed must be text (in quotes if it looks like a number), not the number 12"},
		{"bool as text", `trusted_headers: {session: "yes"}`, `trusted_headers.session must be true or false, not "yes"`},
		{"duration", "process: {drain_timeout: 5}", "process.drain_timeout must be a duration such as 500ms, 30s or 5m, not the number 5"},
		{"bytes", "profiles: {a: {limits: {max_body_bytes: 3MB}}}", `"3MB" is not a number of bytes such as 1048576 or 1MiB`},
		{"twice", "grpc: a:1\ngrpc: b:1\n", "2:1: grpc stands twice"},
		{"component twice", "profiles: {a: {components: [{name: gutter}, {name: gutter}]}}", "1:52: the component gutter stands twice"},
		{"no value", "profiles:\n  a:\n    preset:\n", "3:12: profiles.a.preset has no value; give one or take the key out"},
		{"list for section", "profiles: [a]", "1:11: profiles must be a section with keys, not a list"},
		{"text for list", "profiles: {a: {exclude: Bash}}", `profiles.a.exclude must be a list of texts, not "Bash"`},
		{"components as a map", "profiles: {a: {components: {gutter: {}}}}", "profiles.a.components must be a list such as [{name: gutter, every: 20}], not a section"},
		{"no name", "profiles: {a: {components: [{every: 5}]}}", "an entry of profiles.a.components has no name"},
		{"profile name", "profiles: {'a b': {}}", `"a b" is no name for a profile`},
		{"no such default", "profiles: {a: {}, b: {}}", `trimtab.yaml: there is no profile "default"; give it, or name another one in default_profile`},
		{"default elsewhere", "profiles: {a: {}}\ndefault_profile: c\n", `trimtab.yaml:2:18: there is no profile "c"`},
		{"address", "grpc: nowhere\n", `1:7: grpc: "nowhere" is neither unix:PATH nor HOST:PORT`},
		{"socket", "grpc: 'unix:'\n", "1:7: grpc: a socket's path has 1 to 107 bytes"},
		{"not YAML", "a: [\n", "trimtab.yaml:"},
		{"two documents", "{}\n---\n{}\n", "there is a second document"},
		{"larger than memory", "process: {max_bytes_in_flight: 1MiB}\n", "max_body_bytes is larger than process.max_bytes_in_flight"},
		{"pattern", "profiles: {a: {exclude: ['mcp_[']}}", `1:25: "mcp_[" is no pattern`},
		{"merge key", "x: &x {preset: safe}\nprofiles: {a: {<<: *x}}", `unknown key "<<" in profiles.a`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAllErrorsAreReported(t *testing.T) {
	_, err := load(t, "a: 1\nprofiles: {x: {preset: y, mode: z}}\n")
	if n := strings.Count(err.Error(), "\n") + 1; n != 3 {
		t.Errorf("%d errors:\n%v", n, err)
	}
}

func TestPrecedence(t *testing.T) {
	text := "profiles:\n  a:\n    storage: {level: everything}\n  default: {}\n"
	e, err := parse(Options{
		File:    "f.yaml",
		Environ: []string{"TRIMTAB_LEVEL=off", "TRIMTAB_ADMIN=127.0.0.1:1", "TRIMTAB_PRESET=", "HOME=/"},
		Flags:   []Override{{Flag: "--admin", Setting: "admin", Value: "127.0.0.1:2"}, {Flag: "--preset", Setting: "profiles.*.preset", Value: "balanced"}},
	}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if e.Profile("a").Level != store.Off || e.Profile("").Level != store.Off || e.Admin != "127.0.0.1:2" {
		t.Errorf("%+v", e)
	}
	got := map[string]Origin{}
	for _, s := range e.Settings() {
		got[s.Path] = s.Origin
	}
	for path, want := range map[string]Origin{
		"admin":                                     "--admin",
		"grpc":                                      "default",
		"profiles.a.storage.level":                  "env TRIMTAB_LEVEL",
		"profiles.a.preset":                         "--preset",
		"profiles.a.components[mask].name":          "preset balanced",
		"profiles.a.components[mask].cold_only":     "preset balanced",
		"profiles.a.components[backref].min_lines":  "default",
		"profiles.default.limits.max_body_bytes":    "default",
		"profiles.default.components[gutter].every": "default",
	} {
		if got[path] != want {
			t.Errorf("%s comes from %q, want %q", path, got[path], want)
		}
	}
	if _, err := parse(Options{Environ: []string{"TRIMTAB_LEVEL=max"}}, nil); err == nil || err.Error() != `TRIMTAB_LEVEL: "max" is not one of off, metadata or everything` {
		t.Errorf("got %v", err)
	}
}

func TestTheVariablesAreTheDocumentedOnes(t *testing.T) {
	var got []string
	for _, v := range Variables() {
		got = append(got, v.Name+" "+v.Setting)
	}
	want := []string{
		"TRIMTAB_ADMIN admin",
		"TRIMTAB_ADMIN_TOKEN_FILE admin_token_file",
		"TRIMTAB_CACHE_STRATEGY profiles.*.cache.strategy",
		"TRIMTAB_DEADLINE profiles.*.limits.deadline",
		"TRIMTAB_DEFAULT_PROFILE default_profile",
		"TRIMTAB_DRAIN_DELAY process.drain_delay",
		"TRIMTAB_DRAIN_TIMEOUT process.drain_timeout",
		"TRIMTAB_GRPC grpc",
		"TRIMTAB_HOLDOUT_SEED profiles.*.holdout.seed",
		"TRIMTAB_HOLDOUT_SHARE profiles.*.holdout.share",
		"TRIMTAB_LEVEL profiles.*.storage.level",
		"TRIMTAB_LOG_FORMAT log.format",
		"TRIMTAB_LOG_LEVEL log.level",
		"TRIMTAB_MAX_BODY_BYTES profiles.*.limits.max_body_bytes",
		"TRIMTAB_MAX_BYTES_IN_FLIGHT process.max_bytes_in_flight",
		"TRIMTAB_MODE profiles.*.mode",
		"TRIMTAB_PRESET profiles.*.preset",
		"TRIMTAB_SECRET_FILE secret_file",
		"TRIMTAB_TRUST_AGENT trusted_headers.agent",
		"TRIMTAB_TRUST_BYPASS trusted_headers.bypass",
		"TRIMTAB_TRUST_PROFILE trusted_headers.profile",
		"TRIMTAB_TRUST_SESSION trusted_headers.session",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What is shown loads to the same configuration, whatever was given.
func TestShownConfigurationLoadsToTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("profiles:\n")
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"default", "a", "b-1", "C.x"}), 1, 3, rapid.ID).Draw(t, "profiles")
		for _, name := range names {
			b.WriteString("  " + name + ":\n")
			if rapid.Bool().Draw(t, "preset?") {
				b.WriteString("    preset: " + rapid.SampledFrom(Presets()).Draw(t, "preset") + "\n")
			}
			list := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
				"{name: gutter, every: 5}", "{name: mask, cold_only: false, peek_chars: 0}",
				"{name: backref, max_changed_ratio: 0.25}", "{name: textclean}", `{name: cachesplit, markers: ["no", "1"]}`,
			}), 0, 5, rapid.ID).Draw(t, "components")
			b.WriteString("    components: [" + strings.Join(list, ", ") + "]\n")
			b.WriteString("    storage: {level: " + rapid.SampledFrom([]string{"off", "metadata", "everything"}).Draw(t, "level") + "}\n")
			if rapid.Bool().Draw(t, "exclude") {
				b.WriteString("    exclude: [\"mcp__*\", \"Read\"]\n    holdout: {share: 0.05, seed: \"1\"}\n    mode: observe\n")
			}
		}
		b.WriteString("default_profile: " + names[0] + "\n")
		first, err := parse(Options{File: "f"}, []byte(b.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		again, err := parse(Options{File: "f"}, first.YAML())
		if err != nil {
			t.Fatalf("%v\n%s", err, first.YAML())
		}
		if diff := cmp.Diff(first.resolved, again.resolved, protocmp.Transform()); diff != "" {
			t.Fatalf("%s\n%s", diff, first.YAML())
		}
	})
}

func TestLoadReadsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trimtab.yaml")
	if _, err := Load(Options{File: file}); err == nil {
		t.Error("a missing file loads")
	}
	if err := os.WriteFile(file, []byte("profiles: {default: {preset: safe}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := Load(Options{File: file})
	if err != nil || e.Profile("").Preset != "safe" {
		t.Errorf("%v %v", e, err)
	}
}

func TestTheDocumentedExampleLoads(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("docs/configuration.md has no example")
	}
	e := mustLoad(t, example)
	if e.Profile("careful").Level != store.Off || e.Profile("").Holdout.Share != 0.05 {
		t.Errorf("%+v", e.Profile("careful"))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"profiles: {a: {preset: safe}}", "a: &a [*a]", "- 1", "? {a: b}\n: c", "profiles: {a: {components: [{name: dedup}]}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse(Options{File: "f"}, []byte(text))
		if err != nil {
			return
		}
		if _, err := parse(Options{File: "f"}, e.YAML()); err != nil {
			t.Errorf("what is shown does not load: %v\n%s", err, e.YAML())
		}
	})
}

// Whatever the file's order, components run in the one in which they can work
// together; a preset with one more component too.
func TestComponentsRunInTheirOrder(t *testing.T) {
	for text, want := range map[string]string{
		"profiles: {p: {components: [{name: searchfold}, {name: mask}, {name: gutter}, {name: backref}, {name: textclean}]}}": "textclean backref gutter searchfold mask",
		"profiles: {p: {preset: safe, components: [{name: backref}]}}":                                                        "secretmask textclean format backref searchfold cachesplit",
	} {
		file := filepath.Join(t.TempDir(), "t.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := Load(Options{File: file})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range e.Profile("").Components {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
