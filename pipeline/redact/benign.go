package redact

import (
	"regexp"
	"strings"
)

var (
	number    = regexp.MustCompile(`^[-+]?[0-9][0-9_.,:/\-TZ+]*(?:[eE][-+]?[0-9]+)?[a-z%]{0,3}$`)
	onlyMask  = regexp.MustCompile(`^[*•x.\-_#X]{3,}$`)
	reference = regexp.MustCompile(`^(?:\$[\w({!]|![a-z]+ |\$\$|[A-Z][A-Z]*(?:_[A-Z]+)+$|\{\{|%[\w]+%|<|os\.|process\.env|ENV\[|env\.|secrets\.|vars\.|vault:|op://|arn:aws:|ref\+|!Ref|!Sub|file:/|/run/secrets)`)
	dummy     = regexp.MustCompile(`(?i)(?:change[_-]?me|example|placeholder|dummy|sample|your[_-]|todo|fixme|redacted|replace[_-]?(?:me|with)|insert[_-]|xxxx|hunter2|foobar|s3cr3t|\.\.\.|not[_-]?a[_-]?secret|fake|mock|\btest(?:ing)?$|^test)`)
)

// placeholder says that a value was masked before.
func placeholder(v string) bool { return strings.Contains(v, Start) }

// benign says that a value behind a key is known to be no secret: a mask, a number,
// a literal of a language, a reference to where the secret is, a dummy.
func benign(v string) bool {
	if placeholder(v) || onlyMask.MatchString(v) || number.MatchString(v) || reference.MatchString(v) || dummy.MatchString(v) {
		return true
	}
	switch strings.ToLower(strings.Trim(v, `.!;,`)) {
	case "true", "false", "null", "none", "nil", "undefined", "string", "required", "optional", "password", "secret", "token",
		"unauthorized", "forbidden", "disabled", "enabled", "default", "incorrect", "mismatch", "authentication":
		return true
	}
	return false
}

// benignToken is benign, for what stands behind the name of a scheme.
func benignToken(v string) bool {
	return benign(v) || mixed(v) < 2 || strings.ContainsAny(v, "{}<>$()")
}
