package cmdfilter

import (
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/pipeline"
)

const lookups = `family: x
filters:
- id: x.run
  about: w
  match: {prog: npm, sub: run}
  delegate: '^> (?P<cmd>\S.*)$'
- id: x.jest
  about: w
  match: [{prog: jest, not_flags: [-t, -NUM]}, {output: '^PASS \S+\.test\.ts'}]
  require: '^Tests: '
  stages:
  - fold: {re: '^PASS \S+$', what: passing files}
- id: x.kube
  about: w
  match: {prog: kubectl, sub: get pods, value_flags: -n, pipe_ok: true}
  stages:
  - drop: {re: '^\S+ +(?P<a>\d+)/(?P<b>\d+) +Running', same: [a, b], what: healthy pods}
- id: x.rest
  about: w
  match: {any: true}
  stages:
  - dedupe: {}
`

func TestLookup(t *testing.T) {
	filters, errs := Load("x", []byte(lookups))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	set := NewSet(filters)
	tests := strings.Repeat("PASS src/some/path/to/a.test.ts\n", 40)
	pods := strings.Repeat("web-1a2b3c4d5e6f   2/2   Running\n", 40) + "db-0   1/2   Running\n"
	same := strings.Repeat("the same line again\n", 60)
	for _, tt := range []struct {
		command, text, filter string
		gate                  pipeline.Gate
	}{
		{"jest", tests + "Tests: 40\n", "x.jest", ""},
		{"npx jest --ci", tests + "Tests: 40\n", "x.jest", ""},
		{"jest", tests, "x.jest", GateProof},
		{"jest -t name", tests + "Tests: 40\n", "", GateNoFilter},
		{"jest -5", tests + "Tests: 40\n", "", GateNoFilter},
		{"jest --help", tests + "Tests: 40\n", "", GateNoFilter},
		{"jest | tail -50", tests + "Tests: 40\n", "", GatePiped},
		{"jest | tee log", tests + "Tests: 40\n", "x.jest", ""},
		{"jest | grep PASS", tests + "Tests: 40\n", "", GateKind},
		{"npm run unit", "> app@1 unit\n> jest --ci\n\n" + tests + "Tests: 40\n", "x.jest", ""},
		{"npm run unit", tests + "Tests: 40\n", "x.jest", ""},
		{"npm run unit", same, "", GateNoFilter},
		{"npm test", tests + "Tests: 40\n", "", GateNoFilter},
		{"./ci.sh", tests + "Tests: 40\n", "x.jest", ""},
		{"./ci.sh", same, "x.rest", ""},
		{"curl -s x", same, "", GateNoFilter},
		{"cat log", tests + "Tests: 40\n", "", GateKind},
		{"kubectl -n prod get pods", pods, "x.kube", ""},
		{"kubectl -n prod get pods | head -50", pods, "x.kube", ""},
		{"kubectl get nodes", pods, "", GateNoFilter},
		{"jest; jest", tests + "Tests: 40\n", "", GateSeveral},
		{"'unbalanced", same, "x.rest", ""},
		{"jest", "PASS a.test.ts\nTests: 1\n", "x.jest", GateSmall},
		{"jest", "[trimtab x]\n" + tests + "Tests: 40\n", "x.jest", GateMark},
	} {
		got := set.forward(tt.command, tt.text, false)
		filter := ""
		if len(got.filters) > 0 {
			filter = got.filters[0].ID
		}
		if filter != tt.filter || got.gate != tt.gate {
			t.Errorf("%s: filter %q, gate %q; want %q, %q", tt.command, filter, got.gate, tt.filter, tt.gate)
		}
	}
	if got := set.forward("kubectl get pods", pods, false); !strings.HasSuffix(got.text, "\ndb-0   1/2   Running\n") {
		t.Errorf("the pod that is not ready is missing: %q", got.text)
	}
}
