package redact

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trimtab-io/trimtab/internal/corpus"
)

const (
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

// random is a made-up value: no test holds a real secret, nor the text of one.
func random(seed string, n int, alphabet string) string {
	sum := sha256.Sum256([]byte(seed))
	r := rand.New(rand.NewChaCha8(sum))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// kindCase are, for each kind, made-up secrets that have to be found, as the text
// before the value, the value, and the text behind it; and what only looks like one.
type kindCase struct {
	kind   string
	tier   Tier
	found  [][3]string
	missed []string
}

func kindCases(t *testing.T) []kindCase {
	t.Helper()
	all := letters + digits
	hex := "0123456789abcdef"
	tok := func(n int) string { return random(t.Name(), n, all) }
	three := func(v func(seed string) string) [][3]string {
		return [][3]string{{"found ", v("a"), " here"}, {"k=\"", v("b"), "\"\n"}, {"", v("c"), ""}}
	}
	run := func(prefix string, n int, alphabet string) func(string) string {
		return func(seed string) string {
			return prefix + "aB3x9"[:min(5, n)] + random(seed+prefix, n-min(5, n), alphabet)
		}
	}
	hexRun := func(prefix string, n int) func(string) string {
		return func(seed string) string { return prefix + random(seed+prefix, n, hex) }
	}
	pemBody := "\n" + random("pem", 64, all) + "\n" + random("pem2", 64, all) + "\n"
	jwtHead := "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
	return []kindCase{
		{"aws_access_key_id", Shaped, three(func(s string) string { return "AKIA" + random(s, 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") }), []string{"AKIAIOSFODNN7EXAMPLE", "AKIA123", "xAKIA" + random("m", 16, "ABCDEF234567"), "AKIA" + random("m", 17, "ABCDEF234567")}},
		{"aws_secret", Shaped, [][3]string{{"aws_secret_access_key = ", random("s1", 40, all), "\n"}, {`"SecretAccessKey": "`, random("s2", 40, all), `"`}, {"AWS_SECRET_ACCESS_KEY:\n  ", random("s3", 40, all), "\n"}}, []string{"aws_secret_access_key = short", "aws_secret_access_key\n\n\n\n" + random("far", 40, all), "aws_secret_access_key = " + strings.Repeat("a", 40)}},
		{"gcp_api_key", Shaped, three(run("AIza", 35, all)), []string{"AIza" + tok(34), "AIza" + tok(36), "xAIza" + tok(35)}},
		{"google_oauth", Shaped, three(run("ya29.", 60, all)), []string{"ya29." + tok(20), "aya29." + tok(40), "ya29." + strings.Repeat("x", 40)}},
		{"github", Shaped, append(three(run("ghp_", 36, all)), [3]string{"", "github_pat_" + tok(22) + "_" + tok(59), ""}), []string{"ghp_" + tok(20), "ghp_" + strings.Repeat("x", 36), "ghx_" + tok(36)}},
		{"gitlab", Shaped, three(run("glpat-", 20, all)), []string{"glpat-" + tok(10), "glpat-xxxxxxxxxxxxxxxxxxxx", "xglpat-" + tok(20)}},
		{"anthropic", Shaped, three(run("sk-ant-api03-", 95, all)), []string{"sk-ant-api03-short", "sk-ant-xyz", "ask-ant-api03-" + tok(95)}},
		{"openai", Shaped, append(three(run("sk-proj-", 60, all)), [3]string{"", "sk-" + tok(20) + "T3BlbkFJ" + tok(20), ""}), []string{"sk-proj-short", "sk-learn", "task-proj-" + tok(60)}},
		{"openrouter", Shaped, three(hexRun("sk-or-v1-", 64)), []string{"sk-or-v1-" + random("x", 63, hex), "sk-or-v1-zz", "sk-or-v1-" + strings.Repeat("0", 64)}},
		{"groq", Shaped, three(run("gsk_", 52, all)), []string{"gsk_" + tok(51), "gsk_" + tok(53), "xgsk_" + tok(52)}},
		{"huggingface", Shaped, three(func(s string) string { return "hf_aB" + random(s, 32, letters) }), []string{"hf_" + random("n", 33, letters), "hf_hub_download", "hf_" + strings.Repeat("a", 34)}},
		{"replicate", Shaped, three(run("r8_", 37, all)), []string{"r8_" + tok(36), "r8_" + tok(38), "xr8_" + tok(37)}},
		{"perplexity", Shaped, three(run("pplx-", 48, all)), []string{"pplx-" + tok(47), "pplx-70b-online", "xpplx-" + tok(48)}},
		{"xai", Shaped, three(run("xai-", 80, all)), []string{"xai-" + tok(79), "xai-grok", "xai-" + tok(81)}},
		{"slack", Shaped, three(run("xoxb-1234567890-", 24, all)), []string{"xoxb-", "xoxz-1234567890-abc", "axoxb-1234567890-abcdefgh"}},
		{"slack_webhook", Shaped, [][3]string{{"https://hooks.slack.com/services/T0AB12/B0CD34/", tok(24), ""}, {"curl hooks.slack.com/services/T1/B1/", tok(24), " x"}, {"\"https://hooks.slack.com/workflows/T1/A1/", tok(24), "\""}}, []string{"https://hooks.slack.com/services/", "hooks.slack.com/services/T1/B1/short", "hooks.slack.com/x/T1/B1/" + tok(24)}},
		{"discord", Shaped, three(func(s string) string { return "MaB3" + random(s, 20, all) + ".Gh1_x2." + random(s+"z", 30, all) }), []string{"example.com.something", "M" + tok(23) + ".abc." + tok(30), "a.b.c.d.e.f.g"}},
		{"telegram", Shaped, three(func(s string) string { return "123456789:AA" + "x9B" + random(s, 30, all) }), []string{"123:AA" + tok(33), "123456789:AA" + tok(20), "12:30:AAB"}},
		{"stripe", Shaped, three(run("sk_live_", 24, all)), []string{"sk_live_short", "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "pk_live_" + tok(24)}},
		{"square", Shaped, three(run("sq0atp-", 22, all)), []string{"sq0atp-short", "sq0xxx-" + tok(22), "asq0atp-" + tok(22)}},
		{"braintree", Shaped, three(func(s string) string { return "access_token$production$ab12$" + random(s, 32, hex) }), []string{"access_token$production$", "access_token$sandbox$" + tok(30), "xaccess_token$production$ab12$" + random("q", 32, hex)}},
		{"shopify", Shaped, three(hexRun("shpat_", 32)), []string{"shpat_" + random("x", 31, hex), "shpat_zz", "shpxx_" + random("x", 32, hex)}},
		{"npm", Shaped, three(run("npm_", 36, all)), []string{"npm_config_registry", "npm_" + tok(35), "npm_" + strings.Repeat("a", 36)}},
		{"pypi", Shaped, three(run("pypi-AgEIcHlwaS5vcmc", 60, all)), []string{"pypi-AgEIcHlwaS5vcmc", "pypi-attestations", "xpypi-AgEIcHlwaS5vcmc" + tok(60)}},
		{"rubygems", Shaped, three(hexRun("rubygems_", 48)), []string{"rubygems_" + random("x", 47, hex), "rubygems_org", "xrubygems_" + random("x", 48, hex)}},
		{"cargo", Shaped, three(run("cio", 32, all)), []string{"cio" + strings.Repeat("abc", 10) + "de", "cio" + tok(31), "precio" + tok(32)}},
		{"dockerhub", Shaped, three(run("dckr_pat_", 27, all)), []string{"dckr_pat_" + tok(26), "dckr_pat_" + tok(28), "xdckr_pat_" + tok(27)}},
		{"nuget", Shaped, three(func(s string) string { return "oy2a1" + random(s, 41, "abcdefghijklmnopqrstuvwxyz0123456789") }), []string{"oy2" + strings.Repeat("a", 43), "oy2abc", "xoy2" + random("x", 43, hex)}},
		{"azure_storage_key", Shaped, [][3]string{{"AccountKey=", random("1", 86, all) + "==", ";"}, {"x;AccountKey=", random("2", 86, all) + "==", ""}, {"\"AccountKey=", random("3", 86, all) + "==", "\""}}, []string{"AccountKey=abc==", "AccountKey=" + tok(86), "AccountKey=" + strings.Repeat("a", 86) + "=="}},
		{"azure_sas", Shaped, [][3]string{{"?sv=1&sig=", "aB3" + random("1", 45, all), "&x"}, {"sig=", "aB3" + random("2", 45, all), ""}, {"&sig=", "aB3" + random("3", 45, all), "\""}}, []string{"sig=abc", "sig=" + strings.Repeat("a", 44), "sig=" + random("x", 44, hex)}},
		{"azure_client_secret", Shaped, three(func(s string) string { return "aB3" + "8Q~" + random(s, 34, all) }), []string{"8Q~", "a8Q~" + tok(5), "aB38Q~" + tok(20)}},
		{"digitalocean", Shaped, three(hexRun("dop_v1_", 64)), []string{"dop_v1_" + random("x", 63, hex), "dop_v2_" + random("x", 64, hex), "xdop_v1_" + random("x", 64, hex)}},
		{"cloudflare", Shaped, three(func(s string) string { return "v1.0-" + random(s, 24, hex) + "-" + random(s+"2", 146, hex) }), []string{"v1.0-beta", "v1.0-" + random("x", 24, hex), "v1.0-2-3"}},
		{"heroku", Shaped, three(run("HRKU-", 40, all)), []string{"HRKU-1", "HRKU-" + strings.Repeat("A", 40), "xHRKU-" + tok(40)}},
		{"vault", Shaped, three(run("hvs.", 40, all)), []string{"hvs.go", "hvs." + tok(10), "xhvs." + tok(40)}},
		{"terraform_cloud", Shaped, three(func(s string) string { return random(s, 14, all) + ".atlasv1." + random(s+"2", 64, all) }), []string{"x.atlasv1.y", tok(14) + ".atlasv2." + tok(64), tok(5) + ".atlasv1." + tok(64)}},
		{"newrelic", Shaped, three(func(s string) string { return "NRAK-A1" + random(s, 25, "ABCDEFGHIJ0123456789") }), []string{"NRAK-" + random("x", 26, "ABC012345"), "NRAK-", "NRAK-" + random("x", 28, "ABCDEF0123")}},
		{"sentry", Shaped, three(run("sntrys_", 60, all)), []string{"sntrys_x", "sntryz_" + tok(60), "xsntrys_" + tok(60)}},
		{"grafana", Shaped, three(run("glsa_", 40, all)), []string{"glsa_x", "glsa_" + strings.Repeat("_", 40), "xglsa_" + tok(40)}},
		{"linear", Shaped, three(run("lin_api_", 40, all)), []string{"lin_api_x", "lin_api_" + tok(41), "xlin_api_" + tok(40)}},
		{"notion", Shaped, three(run("secret_", 43, all)), []string{"secret_key_of_the_application_name_is_short", "secret_" + tok(42), "ntn_x"}},
		{"sendgrid", Shaped, three(func(s string) string { return "SG." + random(s, 22, all) + "." + random(s+"2", 43, all) }), []string{"SG.x.y", "SG." + tok(22) + "." + tok(42), "xSG." + tok(22) + "." + tok(43)}},
		{"mailgun", Shaped, three(hexRun("key-", 32)), []string{"key-value", "key-" + random("x", 31, hex), "monkey-" + random("x", 32, hex)}},
		{"postman", Shaped, three(func(s string) string { return "PMAK-" + random(s, 24, hex) + "-" + random(s+"2", 34, hex) }), []string{"PMAK-1", "PMAK-zz", "xPMAK-" + random("x", 59, hex)}},
		{"age", Shaped, three(func(s string) string { return "AGE-SECRET-KEY-1A2" + random(s, 56, "ABCDEFGHJK023456789") }), []string{"AGE-SECRET-KEY-1", "age1qqq", "AGE-SECRET-KEY-1" + strings.Repeat("Q", 58)}},
		{"doppler", Shaped, three(run("dp.st.", 43, all)), []string{"dp.st.x", "dp.xx." + tok(43), "xdp.st." + tok(43)}},
		{"private_key", Shaped, [][3]string{{"-----BEGIN RSA PRIVATE KEY-----", pemBody, "-----END RSA PRIVATE KEY-----\n"}, {`{"private_key": "-----BEGIN PRIVATE KEY-----`, strings.ReplaceAll(pemBody, "\n", `\n`), `-----END PRIVATE KEY-----\n"}`}, {"     1\t-----BEGIN OPENSSH PRIVATE KEY-----", strings.ReplaceAll(pemBody, "\n", "\n     2\t"), ""}}, []string{"-----BEGIN PUBLIC KEY-----" + pemBody, "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN CERTIFICATE-----" + pemBody}},
		{"jwt", Shaped, three(func(s string) string { return jwtHead + ".eyJ" + random(s, 40, all) + "." + random(s+"2", 43, all) }), []string{"eyJ", "eyJhbGciOiJIUzI1NiJ9", "x" + jwtHead + ".eyJabcdefgh." + tok(43)}},
		{"url_credentials", Shaped, [][3]string{{"postgres://app:", "s9fK2lm1", "@db:5432/x"}, {"DATABASE_URL=mysql://u:", "p4$$w0rd", "@h/x\n"}, {"redis://default:", "zzyzx123", "@cache"}}, []string{"https://example.com:8080/@x", "postgres://user:${PASSWORD}@db", "postgres://user:****@db", "http://a:b"}},
		{"authorization", Shaped, [][3]string{{"Authorization: Bearer ", tok(32), "\n"}, {"authorization: token ", tok(40), ""}, {`-H "Authorization: Basic `, "dXNlcjpwYXNzdzByZDEyMw", `"`}}, []string{"Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "authorization header missing"}},
		{"cookie", Shaped, [][3]string{{"Set-Cookie: sessionid=", tok(32), "; Path=/"}, {"set-cookie: my_session=", tok(20), ""}, {"< set-cookie: sess=", tok(24), "\r\n"}}, []string{"Set-Cookie: theme=dark", "set-cookie: sess=short", "cookie: x"}},
		{"basic_auth", Shaped, [][3]string{{"curl -u admin:", "s9fK2lm1", " https://x"}, {"$ curl --user joe:", "q8w7e6r5", " x"}, {"curl -s -u 'joe:", "q8w7e6r5", "' x"}}, []string{"sort -u a:b", "curl -u joe https://x", "curl -u joe:$PASS x"}},
		{"twilio", Contextual, three(hexRun("SK", 32)), []string{"SK" + random("x", 31, hex), "TASK" + random("x", 32, hex), "SKU"}},
		{"secret_value", Contextual, [][3]string{{`password: "`, "correct horse 9", `"`}, {"client_secret = ", "x8sK2mQ9vL", "\n"}, {`"apiKey": "`, "x8sK2mQ9vL", `",`}, {`{\"password\": \"`, "x8sK2mQ9vL", `\"}`}}, []string{`token == ""`, "input_cost_per_token: 1.4e-06", "api_key: os.environ/OPENAI_API_KEY", "password: *****", "password: string", "apiKey: serverEnv.getKey()", "const password = await readPassword(prompt)", "passwords: many", `password: "changeme"`, "secret := config.Secret"}},
		{"env_value", Contextual, [][3]string{{"STRIPE_KEY=", "abc", "\n"}, {"export DB_PASSWORD=", "letmein", "\n"}, {"X=1\nMY_TOKEN='", "some words", "'\n"}}, []string{"SSH_AUTH=/tmp/x.sock", "A_KEY=true", "MAX_TOKEN=4096", "if x_KEY=1", "SENTRY_DSN=https://sentry.io/1"}},
		{"netrc_password", Contextual, [][3]string{{"machine api.x.com login joe password ", "q8w7", "\n"}, {"machine a\n  login b\n  password ", "zz9zz", ""}, {"machine h login l password ", "q1ab2", " "}}, []string{"the password is long", "enter password now", "machine x password y"}},
		{"high_entropy", Entropy, [][3]string{{"id ", "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3", ""}, {"v=", "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3", "\n"}, {"x ", random("h", 48, hex), " y"}}, []string{"sha256:" + random("h", 64, hex), "commit " + random("h", 40, hex), "/usr/share/AbC1/" + strings.Repeat("abcd", 10), "internationalizationAndLocalizationSupport"}},
	}
}

// The acceptance tests of secrets, by their names.
func TestSecrets(t *testing.T) {
	t.Run("T_kinds_matrix", kindsMatrix)
	t.Run("T_fp_corpus", func(t *testing.T) {
		t.Run("reported", falsePositives)
		t.Run("recorded", recordedOutputs)
	})
}

// recordedOutputs holds the detector against recorded outputs of commands, in which
// there are no secrets: no token of tier 1 is seen there, and few values behind keys.
func recordedOutputs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "outputs"), "*/*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no outputs")
	}
	d, size, contextual := New(Options{}), 0, 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		size += len(b)
		if found := d.Find(string(b), Shaped); len(found) > 0 {
			t.Errorf("%s: %v", f, found)
		}
		contextual += len(d.Find(string(b), Contextual))
	}
	if contextual*(1<<20) > size {
		t.Errorf("%d values behind keys in %d bytes", contextual, size)
	}
	t.Logf("%d bytes, %d values behind keys", size, contextual)
}

// Three of each kind are found whole, at their place and at their tier, and what
// only looks like one is not.
func kindsMatrix(t *testing.T) {
	d := New(Options{})
	tested := map[string]bool{}
	for _, c := range kindCases(t) {
		tested[c.kind] = true
		t.Run(c.kind, func(t *testing.T) {
			for _, f := range c.found {
				text := f[0] + f[1] + f[2]
				want := Match{len(f[0]), len(f[0]) + len(f[1]), c.kind}
				found := d.Find(text, c.tier)
				if len(found) != 1 || found[0] != want {
					t.Errorf("%q: found %v, want %v", text, found, want)
				}
				if below := d.Find(text, c.tier-1); len(below) > 0 && below[0].Kind == c.kind && c.kind != "openai" && c.kind != "anthropic" {
					t.Errorf("%q: found at a lower tier: %v", text, below)
				}
				masked := d.Text(text, c.tier)
				if masked != f[0]+Placeholder(c.kind)+f[2] || d.Text(masked, c.tier) != masked {
					t.Errorf("%q became %q and then %q", text, masked, d.Text(masked, c.tier))
				}
				for i := 0; i+8 <= len(f[1]); i++ {
					if strings.Contains(strings.ReplaceAll(masked, Placeholder(c.kind), ""), f[1][i:i+8]) {
						t.Errorf("%q is left in %q", f[1][i:i+8], masked)
						break
					}
				}
			}
			if len(c.found) < 3 || len(c.missed) < 3 {
				t.Error("a kind has three cases of each sort")
			}
			for _, m := range c.missed {
				for _, f := range d.Find(m, c.tier) {
					if f.Kind == c.kind {
						t.Errorf("%q: found %v", m, f)
					}
				}
			}
		})
	}
	kinds, _ := Kinds()
	for _, k := range kinds {
		if !tested[k] {
			t.Errorf("no case for %s", k)
		}
	}
}

// What users of the field reported as masked by mistake is not touched by any tier
// that is on by default.
func falsePositives(t *testing.T) {
	d := New(Options{})
	for _, text := range []string{
		"func Login(password string, token Token) error {", `if token == "" { return }`, `"input_cost_per_token": 1.4e-06,`,
		"api_key: os.environ/AZURE_API_KEY", "password = *****", "Password: ********", "const apiKey = process.env.API_KEY",
		"token: ${{ secrets.GITHUB_TOKEN }}", "secret: <your-secret>", "interface Props { password?: string; accessToken: Promise<string> }",
		"sha512-" + random("i", 86, letters+digits) + "==", "data:image/png;base64," + random("i", 200, letters+digits),
		"commit " + random("c", 40, "0123456789abcdef"), "https://user@host/path", "git@github.com:o/r.git", "time: 12:30:00",
		"client.apiKey = apiKey", "self.password = password", "passwordHash := bcrypt.Hash(pw)", "export const SECRET = getSecret('x')",
		"max_tokens: 4096", "tokenizer: gpt2", "-----BEGIN CERTIFICATE-----", "x-api-key: {apiKey}", "secretKeyRef:\n  name: db-credentials",
	} {
		if found := d.Find(text, Contextual); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// A colour's escape sequence before a token is no part of a word.
func TestColouredSecret(t *testing.T) {
	secret := "ghp_aB3" + random("colour", 33, letters+digits)
	if got := New(Options{}).Text("\x1b[1;33m"+secret+"\x1b[0m", Shaped); strings.Contains(got, secret) {
		t.Errorf("%q", got)
	}
}

// Own patterns, and values that are allowed by expression or by their sum.
func TestOptions(t *testing.T) {
	sum := sha256.Sum256([]byte("corp-1111-aaaa"))
	d := New(Options{
		Patterns:    []Pattern{{"corp", regexp.MustCompile(`corp-\d{4}-[a-z]{4}`)}, {"ticket", regexp.MustCompile(`ticket=(\w+)`)}},
		Allow:       []*regexp.Regexp{regexp.MustCompile(`^corp-0000-`)},
		AllowHashes: [][sha256.Size]byte{sum},
	})
	got := d.Text("corp-1234-abcd corp-0000-abcd corp-1111-aaaa ticket=xyz9", Shaped)
	if want := "[REDACTED:corp] corp-0000-abcd corp-1111-aaaa ticket=[REDACTED:ticket]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if d.Text(got, Shaped) != got {
		t.Errorf("it changed again: %q", d.Text(got, Shaped))
	}
}

// Whatever the text, matches are in order and within it, and masking again changes
// nothing.
func TestFindProperties(t *testing.T) {
	d := New(Options{})
	pieces := []string{"password", "=", ": ", "\"", "'", "\n", " ", "sk-ant-", "AKIA", "://", "@", ":", "eyJ", ".", "-----BEGIN RSA PRIVATE KEY-----", "token", "_KEY=", "x8sK2mQ9vL", "abc", "aws_secret_access_key", "é", "\\", "{", "}", "12345678"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), "")
		if rapid.Bool().Draw(t, "any") {
			text += rapid.String().Draw(t, "more")
		}
		tier := Tier(rapid.IntRange(0, 3).Draw(t, "tier"))
		at := 0
		for _, m := range d.Find(text, tier) {
			if m.From < at || m.To <= m.From || m.To > len(text) {
				t.Fatalf("%q: %v", text, m)
			}
			at = m.To
		}
		once := d.Text(text, tier)
		if again := d.Text(once, tier); again != once {
			t.Fatalf("%q became %q and then %q", text, once, again)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	d := New(Options{})
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "\tif err := s.token(ctx, key%d, opts.Secret); err != nil { // see https://example.com/docs/%d\n", i, i)
	}
	for tier := Shaped; tier <= Entropy; tier++ {
		b.Run(fmt.Sprint(tier), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				d.Find(text.String(), tier)
			}
		})
	}
}
