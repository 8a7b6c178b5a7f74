package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manual is what docs/configuration.md says of each section's keys: the judge of the
// parser. What the manual does not allow must not load.
type manual map[string]map[string]entry

type entry struct {
	section  bool
	texts    []string // the values that are allowed; nil: any
	number   bool
	whole    bool
	min, max float64
}

var (
	tableRow = regexp.MustCompile("^\\| `([a-z_]+)` \\| ([^|]*) \\|")
	between  = regexp.MustCompile(`^(whole number|number), (-?[0-9.]+) to (-?[0-9.]+)$`)
)

func readManual(t testing.TB) manual {
	t.Helper()
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	m, section := manual{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "## The file":
			section = "."
		case strings.HasPrefix(line, "## `"):
			section = strings.Trim(line, "# `")
		case strings.HasPrefix(line, "### `"):
			section = "component " + strings.Trim(line, "# `")
		case strings.HasPrefix(line, "## "):
			section = ""
		}
		if section == "" {
			continue
		}
		if m[section] == nil {
			m[section] = map[string]entry{}
		}
		row := tableRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		e := entry{section: row[2] == "section" || strings.HasPrefix(row[2], "profiles ") || strings.HasPrefix(row[2], "list ")}
		if b := between.FindStringSubmatch(row[2]); b != nil {
			e.number, e.whole = true, b[1] == "whole number"
			e.min, _ = strconv.ParseFloat(b[2], 64)
			e.max, _ = strconv.ParseFloat(b[3], 64)
		} else if strings.HasPrefix(row[2], "`") {
			for v := range strings.SplitSeq(row[2], ", ") {
				e.texts = append(e.texts, strings.Trim(v, "`"))
			}
		}
		m[section][row[1]] = e
	}
	if len(m["."]) < 8 || len(m["profiles.NAME"]) < 8 || len(m["component backref"]) < 5 {
		t.Fatalf("the manual can't be read: %v", m)
	}
	return m
}

// check says what in a section the manual does not allow.
func (m manual) check(section string, v any, also ...string) error {
	fields, ok := v.(map[string]any)
	if !ok {
		if v == nil {
			return nil
		}
		return fmt.Errorf("%s is %T", section, v)
	}
	for key, value := range fields {
		e, known := m[section][key]
		if !known {
			if slices.Contains(also, key) {
				continue
			}
			return fmt.Errorf("%s has no key %q", section, key)
		}
		if err := e.check(value); err != nil {
			return fmt.Errorf("%s.%s: %w", section, key, err)
		}
	}
	return nil
}

func (e entry) check(v any) error {
	if e.section || v == nil {
		return nil
	}
	text := fmt.Sprint(v)
	if f, ok := v.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if e.texts != nil && !slices.Contains(e.texts, text) {
		return fmt.Errorf("%q is none of %q", text, e.texts)
	}
	if e.number {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n < e.min || n > e.max || e.whole && n != float64(int64(n)) {
			return fmt.Errorf("%q is no number from %v to %v", text, e.min, e.max)
		}
	}
	return nil
}

// file says what in a whole file the manual does not allow.
func (m manual) file(root map[string]any) error {
	if err := m.check(".", root); err != nil {
		return err
	}
	for _, section := range []string{"trusted_headers", "process", "log"} {
		if err := m.check(section, root[section]); err != nil {
			return err
		}
	}
	profiles, _ := root["profiles"].(map[string]any)
	for _, p := range profiles {
		if err := m.check("profiles.NAME", p); err != nil {
			return err
		}
		profile, _ := p.(map[string]any)
		for _, section := range []string{"storage", "limits", "expand", "cache", "holdout"} {
			if err := m.check("profiles.NAME."+section, profile[section]); err != nil {
				return err
			}
		}
		components, _ := profile["components"].([]any)
		for _, c := range components {
			settings, _ := c.(map[string]any)
			name := fmt.Sprint(settings["name"])
			if slices.Contains([]string{"dedup", "reread_stub", "reread_delta", "repeat_delta"}, name) {
				name = "backref"
			}
			if m["component "+name] == nil {
				return fmt.Errorf("there is no component %q", name)
			}
			if err := m.check("component "+name, settings, "name"); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestTheJudgeRefuses(t *testing.T) {
	m := readManual(t)
	for _, text := range []string{
		"surprise: 1", "profiles: {a: {preset: best}}", "profiles: {a: {mode: off}}", "profiles: {a: {holdout: {share: 2}}}",
		"profiles: {a: {components: [{name: gutter, every: 3}]}}", "profiles: {a: {components: [{name: summarize}]}}", "log: {level: loud}",
		"profiles: {a: {components: [{name: backref, min_lines: 1}]}}", "profiles: {a: {components: [{name: backref, minlines: 4}]}}",
	} {
		var root map[string]any
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		if m.file(root) == nil {
			t.Errorf("the judge takes %s", text)
		}
		if _, err := parse(Options{File: "f"}, []byte(text)); err == nil {
			t.Errorf("the parser takes %s", text)
		}
	}
}

// FuzzManual: what loads is allowed by the manual.
func FuzzManual(f *testing.F) {
	m := readManual(f)
	for _, s := range []string{
		"profiles: {a: {preset: safe, mode: observe, storage: {level: off}, limits: {max_body_bytes: 1MiB, deadline: 1s}, exclude: ['mcp__*']}}",
		"profiles:\n  default:\n    components:\n      - {name: gutter, every: 20}\n      - {name: dedup, min_lines: 9}\n    holdout: {share: 0.05, seed: s}\n",
		"default_profile: b\nprofiles: {a: {}, b: {preset: \"off\"}}\ntrusted_headers: {session: true}\nlog: {format: json}\n",
		"process: {max_bytes_in_flight: 64MiB, drain_timeout: 5s}\nadmin: 127.0.0.1:0\nadmin_token_file: /t\n",
		"profiles: {a: &x {preset: balanced}, b: *x}\ndefault_profile: a\n",
		"profiles: {a: {components: [{name: mask, cold_only: no}, {name: cachesplit, markers: [x]}]}}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parse(Options{File: "f"}, []byte(text)); err != nil {
			return
		}
		var root map[string]any
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatalf("loads, and is no YAML: %v\n%s", err, text)
		}
		if err := m.file(root); err != nil {
			t.Fatalf("loads, and the manual does not allow it: %v\n%s", err, text)
		}
	})
}
