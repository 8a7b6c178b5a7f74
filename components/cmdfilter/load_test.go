package cmdfilter

import (
	"strings"
	"testing"
)

// What is wrong in a document is said with its place, and with what is allowed.
func TestLoadIsStrict(t *testing.T) {
	const good = "family: x\nfilters:\n- id: x.y\n  about: what\n  match: {prog: p}\n  stages:\n"
	for _, tt := range []struct{ name, doc, want string }{
		{"no YAML", "a: [", "f.yaml: this is not YAML"},
		{"empty", "", "f.yaml: the document is empty"},
		{"two documents", "family: x\nfilters: []\n---\na: b\n", "second document"},
		{"unknown key", good + "  - fold: {re: '^a b$', what: w}\n  stage: 1\n", `f.yaml:8: filter x.y: unknown key "stage" in a filter; want one of about, delegate,`},
		{"unknown verb", good + "  - flod: {re: '^a', what: w}\n", `there is no stage "flod"; want one of drop, fold,`},
		{"key of another verb", good + "  - drop: {re: '^a', what: w, around: 2}\n", `unknown key "around" in drop; want one of from, min,`},
		{"twice", good + "  - drop: {re: '^a', what: w}\n  about: again\n", "about stands twice"},
		{"no what", good + "  - drop: {re: '^a'}\n", "what must say in 1 to 80"},
		{"bracket in what", good + "  - drop: {re: '^a', what: 'a]b'}\n", "without ]"},
		{"number in front", good + "  - drop: {re: '^a', what: '12 rows'}\n", "without a number in front"},
		{"no RE2", good + "  - drop: {re: '^(?=a)', what: w}\n", "is no RE2 expression"},
		{"tried on every line", good + "  - drop: {re: '.*', what: w}\n", "would be tried on every line"},
		{"open and trusted", good + "  - drop: {re: '^a', what: w, trusted: true}\n", "must cover the whole line"},
		{"negative", good + "  - fold: {re: '^a', what: w, min: -1}\n", "min must be a whole number from 1 to 100000"},
		{"a word", good + "  - fold: {re: '^a', what: w, min: many}\n", "min must be a whole number"},
		{"wrong on", good + "  - fold: {re: '^a', what: w, on: always}\n", `on must be ok, fail or any, not "always"`},
		{"no group", good + "  - group: {re: '^a', what: w}\n", "has no group (?P<at>...)"},
		{"verbatim with stages", good + "  - drop: {re: '^a', what: w}\n  verbatim: true\n", "can have neither stages nor delegate"},
		{"neither", "family: x\nfilters:\n- id: x.y\n  about: w\n  match: {prog: p}\n", "write verbatim: true if its text is to stay as it is"},
		{"blocks without the group of per", good + "  - blocks: {start: '^a', until: '^b', per: kind, what: w}\n", "has no group (?P<kind>...)"},
		{"blocks without the group of same", good + "  - blocks: {start: '^(?P<x>a)', while: '^b', same: [x, z], what: w}\n", "has no group (?P<z>...)"},
		{"blocks without an end", good + "  - blocks: {start: '^a', what: w}\n", "needs start and one of end, until and while"},
		{"trim in the middle", good + "  - trim: {re: 'ab', what: w}\n", "must begin with ^"},
		{"unknown mask", good + "  - dedupe: {mask: dates}\n", "mask must be of numbers, hex or paths"},
		{"no command", "family: x\nfilters:\n- id: x.y\n  about: w\n  match: {pipe_ok: true}\n  stages:\n  - drop: {re: '^a', what: w}\n", "names no command"},
		{"bad id", "family: x\nfilters:\n- id: XY\n  about: w\n  match: {prog: p}\n  stages:\n  - drop: {re: '^a', what: w}\n", "must be FAMILY.NAME"},
		{"alias", "family: &a x\nfilters:\n- id: x.y\n  about: *a\n  match: {prog: p}\n  stages:\n  - drop: {re: '^a', what: w}\n", "aliases are not allowed"},
		{"no family", "filters:\n- id: x.y\n  about: w\n  match: {prog: p}\n  stages:\n  - drop: {re: '^a', what: w}\n", "the document has no family"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, errs := Load("f.yaml", []byte(tt.doc))
			for _, err := range errs {
				if strings.Contains(err.Error(), tt.want) {
					return
				}
			}
			t.Errorf("got %v, want %q", errs, tt.want)
		})
	}
}
