package redact

import "slices"

// shape is a token that begins with a literal and goes on with a run of a class.
// Lengths are those of the run; most 0 means no bound. The source of the lengths is
// what the issuers document, and gitleaks' rules where they do not.
type shape struct {
	kind        string
	literals    []string
	class       *class
	least, most int
	mixed       int // kinds of characters the run must have at least
}

// rules are all built-in rules, in an order that decides nothing.
func rules() []rule {
	alnum, dash, hex := set("A-Za-z0-9"), set("A-Za-z0-9_-"), set("0-9a-f")
	words := set("A-Za-z0-9_")
	shapes := []shape{
		{"gcp_api_key", []string{"AIza"}, dash, 35, 35, 2},
		{"google_oauth", []string{"ya29."}, dash, 30, 0, 2},
		{"google_oauth", []string{"GOCSPX-"}, dash, 28, 28, 0},
		{"github", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, alnum, 36, 251, 2},
		{"gitlab", []string{"glpat-", "gldt-", "glrt-", "glft-", "glsoat-", "glcbt-", "glptt-", "glimt-", "glagent-"}, dash, 20, 0, 2},
		{"openai", []string{"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"}, dash, 40, 0, 2},
		{"openrouter", []string{"sk-or-v1-"}, hex, 64, 64, 0},
		{"groq", []string{"gsk_"}, alnum, 52, 52, 2},
		{"huggingface", []string{"hf_"}, set("A-Za-z"), 34, 34, 2},
		{"replicate", []string{"r8_"}, alnum, 37, 37, 2},
		{"perplexity", []string{"pplx-"}, alnum, 48, 48, 2},
		{"xai", []string{"xai-"}, alnum, 80, 80, 2},
		{"slack", []string{"xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"}, set("A-Za-z0-9-"), 10, 0, 2},
		{"slack", []string{"xapp-"}, set("A-Za-z0-9-"), 20, 0, 2},
		{"stripe", []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_"}, alnum, 20, 0, 2},
		{"stripe", []string{"whsec_"}, set("A-Za-z0-9+/="), 32, 0, 2},
		{"square", []string{"sq0atp-", "sq0csp-", "sq0idp-", "sq0idb-"}, dash, 22, 0, 2},
		{"braintree", []string{"access_token$production$"}, set("0-9a-z$"), 20, 0, 2},
		{"shopify", []string{"shpat_", "shpca_", "shppa_", "shpss_"}, set("0-9a-fA-F"), 32, 32, 0},
		{"npm", []string{"npm_"}, alnum, 36, 36, 2},
		{"pypi", []string{"pypi-AgEIcHlwaS5vcmc"}, dash, 50, 0, 2},
		{"rubygems", []string{"rubygems_"}, hex, 48, 48, 0},
		{"cargo", []string{"cio"}, alnum, 32, 32, 3},
		{"dockerhub", []string{"dckr_pat_"}, dash, 27, 27, 2},
		{"nuget", []string{"oy2"}, set("a-z0-9"), 43, 43, 2},
		{"digitalocean", []string{"dop_v1_", "doo_v1_", "dor_v1_"}, hex, 64, 64, 0},
		{"heroku", []string{"HRKU-"}, set("A-Za-z0-9_-"), 36, 0, 2},
		{"vault", []string{"hvs.", "hvb.", "hvr."}, dash, 24, 0, 2},
		{"newrelic", []string{"NRAK-"}, set("A-Z0-9"), 27, 27, 2},
		{"sentry", []string{"sntrys_", "sntryu_"}, set("A-Za-z0-9_=+/-"), 40, 0, 2},
		{"grafana", []string{"glc_", "glsa_"}, set("A-Za-z0-9_=+/"), 32, 0, 2},
		{"linear", []string{"lin_api_"}, words, 40, 40, 2},
		{"notion", []string{"secret_"}, alnum, 43, 43, 3},
		{"notion", []string{"ntn_"}, alnum, 40, 0, 2},
		{"mailgun", []string{"key-"}, hex, 32, 32, 2},
		{"postman", []string{"PMAK-"}, set("0-9a-f-"), 50, 70, 2},
		{"age", []string{"AGE-SECRET-KEY-1"}, set("0-9A-Z"), 58, 58, 2},
		{"doppler", []string{"dp.st.", "dp.pt.", "dp.ct."}, set("A-Za-z0-9_.-"), 40, 0, 2},
	}
	var all []rule
	for _, s := range shapes {
		for _, l := range s.literals {
			all = append(all, rule{kind: s.kind, tier: Shaped, literal: l, find: s.find(len(l))})
		}
	}
	return slices.Concat(all, tokenRules(), keyRules(), pemRules())
}

func (s shape) find(prefix int) func(string, int) (int, int, bool) {
	return func(text string, at int) (int, int, bool) {
		n := s.class.run(text, at+prefix)
		end := at + prefix + n
		if n < s.least || s.most > 0 && n > s.most || !freeBefore(text, at) || !freeAfter(text, end) {
			return 0, 0, false
		}
		v := text[at+prefix : end]
		return at, end, mixed(v) >= s.mixed && !filler(v) && !testKey(text[at:end])
	}
}

// testKey says that a value is one that documentation prints.
func testKey(v string) bool {
	switch v {
	case "AKIAIOSFODNN7EXAMPLE", "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "sk_test_26PHem9AhJZvU623DfE1x4sd", "rk_test_4eC39HqLyjWDarjtT1zdp7dc":
		return true
	}
	return false
}

// filler says that a value is a dummy: a few characters again and again.
func filler(v string) bool {
	var seen class
	kinds := 0
	for i := range len(v) {
		if !seen[v[i]] {
			seen[v[i]] = true
			kinds++
		}
	}
	return kinds < 5
}
