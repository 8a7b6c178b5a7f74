package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// expression makes a find function of an expression that is anchored at the place
// of the literal, or back bytes before it. Group 1 is the value, or all of it is.
// It reads at most reach bytes.
func expression(re string, back int, harmless func(string) bool) func(string, int) (int, int, bool) {
	const reach = 2048
	e := regexp.MustCompile(`^(?:` + re + `)`)
	return func(text string, at int) (int, int, bool) {
		start := at - back
		if start < 0 {
			return 0, 0, false
		}
		m := e.FindStringSubmatchIndex(text[start:min(len(text), start+reach)])
		if m == nil {
			return 0, 0, false
		}
		from, to := m[0], m[1]
		if len(m) > 3 && m[2] >= 0 {
			from, to = m[2], m[3]
		}
		v := text[start+from : start+to]
		return start + from, start + to, !filler(v) && !testKey(v) && (harmless == nil || !harmless(v))
	}
}

// bounded is like expression, for tokens that no word may touch.
func bounded(re string, back int) func(string, int) (int, int, bool) {
	find := expression(re, back, nil)
	return func(text string, at int) (int, int, bool) {
		from, to, ok := find(text, at)
		return from, to, ok && freeBefore(text, at-back) && freeAfter(text, to)
	}
}

// tokenRules are the tokens of tier 1 whose shape is more than a run, and those
// that are known by what is directly around them.
func tokenRules() []rule {
	var all []rule
	add := func(kind string, tier Tier, find func(string, int) (int, int, bool), literals ...string) {
		for _, l := range literals {
			all = append(all, rule{kind: kind, tier: tier, literal: l, find: find})
		}
	}
	folded := func(kind string, tier Tier, find func(string, int) (int, int, bool), literals ...string) {
		for _, l := range literals {
			all = append(all, rule{kind: kind, tier: tier, literal: l, fold: true, find: find})
		}
	}
	awsID := bounded(`A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}`, 0)
	add("aws_access_key_id", Shaped, func(text string, at int) (int, int, bool) {
		from, to, ok := awsID(text, at)
		return from, to, ok && !strings.Contains(text[from:to], "EXAMPLE")
	}, "AKIA", "ASIA", "ABIA", "ACCA")
	folded("aws_secret", Shaped, awsSecret, "aws_secret", "awssecret", "secretaccesskey")
	add("github", Shaped, bounded(`github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`, 0), "github_pat_")
	add("anthropic", Shaped, bounded(`sk-ant-(?:api|admin|oat|ort)\d{2}-[A-Za-z0-9_-]{80,200}`, 0), "sk-ant-")
	add("anthropic", Contextual, bounded(`sk-ant-[A-Za-z0-9_-]{20,200}`, 0), "sk-ant-")
	add("openai", Shaped, bounded(`sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}`, 0), "sk-")
	bare := bounded(`sk-[A-Za-z0-9]{20,100}`, 0)
	add("openai", Contextual, func(text string, at int) (int, int, bool) {
		from, to, ok := bare(text, at)
		return from, to, ok && shannon(text[from:to]) >= 3.5
	}, "sk-")
	add("slack_webhook", Shaped, expression(`hooks\.slack\.com/(?:services|workflows)/T\w+/[AB]\w+/(\w{20,80})`, 0, nil), "hooks.slack.com/")
	add("discord", Shaped, discord, ".")
	add("telegram", Shaped, telegram, ":AA")
	add("azure_storage_key", Shaped, expression(`AccountKey=([A-Za-z0-9+/]{86}==)`, 0, nil), "AccountKey=")
	add("azure_sas", Shaped, expression(`sig=([A-Za-z0-9%]{40,120})`, 0, func(v string) bool { return mixed(v) < 3 }), "sig=")
	add("azure_client_secret", Shaped, bounded(`[\w~.-]{3}8Q~[\w~.-]{31,34}`, 3), "8Q~")
	add("cloudflare", Shaped, bounded(`v1\.0-[0-9a-f]{24}-[0-9a-f]{146}`, 0), "v1.0-")
	add("terraform_cloud", Shaped, bounded(`[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}`, 14), ".atlasv1.")
	add("sendgrid", Shaped, bounded(`SG\.[\w-]{22}\.[\w-]{43}`, 0), "SG.")
	add("twilio", Contextual, bounded(`SK[0-9a-f]{32}`, 0), "SK")
	add("jwt", Shaped, jwt, "eyJ")
	add("url_credentials", Shaped, urlCredentials, "://")
	header := expression(`(?i)authorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer|token)\s+)([^\s"'\\]{8,1000})`, 0, benignToken)
	folded("authorization", Shaped, header, "authorization")
	folded("cookie", Shaped, expression(`(?i)set-cookie:\s*[\w.-]*sess\w*=([^;\s]{16,1000})`, 0, benign), "set-cookie:")
	user := expression(`(?:-u|--user)[ =]["']?[^\s:"']{1,64}:([^\s"']{3,200})`, 0, benign)
	add("basic_auth", Shaped, func(text string, at int) (int, int, bool) {
		line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
		if !strings.Contains(line, "curl") {
			return 0, 0, false
		}
		return user(text, at)
	}, "-u ", "--user")
	return all
}

var (
	secretValue  = regexp.MustCompile(`(?:^|[^A-Za-z0-9/+=])([A-Za-z0-9/+]{40})(?:$|[^A-Za-z0-9/+=])`)
	awsKeyEnding = regexp.MustCompile(`^(?i)(?:aws_?secret(?:_?access)?_?key(?:_?id)?|secretaccesskey)`)
)

// awsSecret finds the 40 characters behind a name of AWS's secret key, within three
// lines.
func awsSecret(text string, at int) (from, to int, ok bool) {
	m := awsKeyEnding.FindStringIndex(text[at:min(len(text), at+32)])
	if m == nil {
		return 0, 0, false
	}
	start, end := at+m[1], at+m[1]
	for range 3 {
		i := strings.IndexByte(text[end:min(len(text), start+512)], '\n')
		if i < 0 {
			end = min(len(text), start+512)
			break
		}
		end += i + 1
	}
	v := secretValue.FindStringSubmatchIndex(text[start:end])
	if v == nil {
		return 0, 0, false
	}
	s := text[start+v[2] : start+v[3]]
	return start + v[2], start + v[3], shannon(s) >= 4 && !strings.Contains(s, "EXAMPLE")
}

// discord finds a bot's token by its two dots.
func discord(text string, at int) (from, to int, ok bool) {
	if at+8 > len(text) || text[at+7] != '.' || at < 24 {
		return 0, 0, false
	}
	for n := 24; n <= 26 && n <= at; n++ {
		from = at - n
		if c := text[from]; (c == 'M' || c == 'N' || c == 'O') && freeBefore(text, from) {
			if m := discordToken.FindStringIndex(text[from:min(len(text), from+160)]); m != nil && mixed(text[from:at]) == 3 {
				return from, from + m[1], true
			}
		}
	}
	return 0, 0, false
}

var discordToken = regexp.MustCompile(`^[MNO][A-Za-z\d_-]{23,25}\.[\w-]{6}\.[\w-]{27,64}`)

// telegram finds a bot's token by what stands behind the bot's number.
func telegram(text string, at int) (from, to int, ok bool) {
	from = at
	for from > 0 && text[from-1] >= '0' && text[from-1] <= '9' {
		from--
	}
	n := base64url.run(text[:min(len(text), at+80)], at+1)
	return from, at + 1 + n, at-from >= 8 && at-from <= 10 && n == 35 && freeBefore(text, from) && mixed(text[at+1:at+1+n]) >= 2
}

// jwt finds a signed token: two objects and a signature, all base64url.
func jwt(text string, at int) (from, to int, ok bool) {
	if !freeBefore(text, at) {
		return 0, 0, false
	}
	var end [3]int
	i := at
	for k := range end {
		n := base64url.run(text, i)
		i += n
		end[k] = i
		if k == 2 || i >= len(text) || text[i] != '.' {
			break
		}
		i++
	}
	if end[1] == 0 || end[0]-at < 10 {
		return 0, 0, false
	}
	head, err := base64.RawURLEncoding.DecodeString(text[at:end[0]])
	if err != nil || !strings.Contains(string(head), `"alg"`) || text[end[0]] != '.' {
		return 0, 0, false
	}
	unsigned := strings.Contains(strings.ToLower(string(head)), `"none"`)
	switch {
	case end[2]-end[1] > 16:
		return at, end[2], true
	case unsigned && end[1]-end[0] > 8:
		return at, max(end[1], end[2]), true
	}
	return 0, 0, false
}

// urlCredentials finds the password between a URL's user and its host.
func urlCredentials(text string, at int) (from, to int, ok bool) {
	scheme := at
	for scheme > 0 && schemeByte[text[scheme-1]] {
		scheme--
	}
	if at-scheme < 2 || at-scheme > 21 {
		return 0, 0, false
	}
	i := at + 3
	user := i
	for i < len(text) && i-user <= 64 && !urlStop[text[i]] {
		i++
	}
	if i >= len(text) || text[i] != ':' || i == user || i-user > 64 {
		return 0, 0, false
	}
	from = i + 1
	for to = from; to < len(text) && to-from <= 128; to++ {
		c := text[to]
		if c == '@' {
			v := text[from:to]
			return from, to, len(v) >= 3 && !benign(v)
		}
		if c <= ' ' || c == '/' || c == '\'' || c == '"' || c == '<' || c == '>' || c == '`' {
			return 0, 0, false
		}
	}
	return 0, 0, false
}

var (
	base64url  = set("A-Za-z0-9_-")
	schemeByte = set("a-z0-9+.A-Z-")
	urlStop    = set("/:@'\"<> \t\r\n`\\")
)
