package redact

import (
	"strings"
)

// keyRules are the keys of tier 2: what stands behind one is a secret unless it is
// known to be none.
func keyRules() []rule {
	names := []string{
		"apikey", "api_key", "api-key", "secret", "client_secret", "access_key", "access-key", "accesskey", "access_token", "access-token",
		"accesstoken", "auth_token", "auth-token", "authtoken", "refresh_token", "refreshtoken", "refresh-token", "password", "passwd", "pwd",
		"passphrase", "private_key", "privatekey", "private-key", "credential", "connection_string", "connectionstring", "conn_string",
		"connstring", "secretkey", "secret_key", "secret-key", "client-key-data",
	}
	var all []rule
	for _, n := range names {
		all = append(all, rule{kind: "secret_value", tier: Contextual, literal: n, fold: true, find: keyValue(len(n))})
	}
	for _, n := range []string{"_KEY=", "_TOKEN=", "_SECRET=", "_PASS=", "_PASSWORD=", "_PWD=", "_CREDENTIALS=", "_CREDENTIAL=", "_AUTH=", "_DSN="} {
		all = append(all, rule{kind: "env_value", tier: Contextual, literal: n, find: envValue(len(n))})
	}
	all = append(all, rule{kind: "netrc_password", tier: Contextual, literal: "password ", find: netrc})
	return all
}

// longestValue is the longest value, in bytes, that is looked for behind a key.
const longestValue = 512

// keyValue reads `key: value`, `key = "value"`, `"key": "value"`, `key := value` and
// `key => value` from the place of the key's last word on.
func keyValue(name int) func(string, int) (int, int, bool) {
	return func(text string, at int) (int, int, bool) {
		camel := at > 0 && text[at-1] >= 'a' && text[at-1] <= 'z' && text[at] >= 'A' && text[at] <= 'Z'
		if at > 0 && word(text[at-1]) && text[at-1] != '_' && !camel {
			return 0, 0, false // inside a word
		}
		i := at + name
		if i < len(text) && (text[i] == '"' || text[i] == '\'') {
			i++
		} else if i+1 < len(text) && text[i] == '\\' && text[i+1] == '"' {
			i += 2
		}
		i = skipBlank(text, i)
		n := operator(text, i)
		if n == 0 {
			return 0, 0, false
		}
		i = skipBlank(text, i+n)
		return value(text, i, camel)
	}
}

// operator is the length of what may stand between a key and its value.
func operator(text string, i int) int {
	rest := text[i:min(len(text), i+3)]
	switch {
	case strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, "=~"):
		return 0
	case strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, "=>"):
		return 2
	case strings.HasPrefix(rest, "::"):
		return 0
	case strings.HasPrefix(rest, "="), strings.HasPrefix(rest, ":"):
		return 1
	}
	return 0
}

func skipBlank(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

var bareStop = set(" \t\r\n\"'`,;&#\\")

// value reads a value, in quotes or bare.
func value(text string, i int, quotedOnly bool) (from, to int, ok bool) {
	if i >= len(text) {
		return 0, 0, false
	}
	quote := byte(0)
	switch {
	case text[i] == '"', text[i] == '\'', text[i] == '`':
		quote = text[i]
		i++
	case text[i] == '\\' && i+1 < len(text) && text[i+1] == '"':
		quote = '\\' // a quote inside JSON text
		i += 2
	case quotedOnly:
		return 0, 0, false
	}
	from = i
	for to = from; to < len(text) && to-from <= longestValue; to++ {
		c := text[to]
		if quote != 0 && (c == quote || c == '\n') || quote == 0 && bareStop[c] {
			break
		}
	}
	v := text[from:to]
	if len(v) < 8 || len(v) > longestValue || benign(v) {
		return 0, 0, false
	}
	if quote == 0 && (code(v) || mixed(v) < 2) {
		return 0, 0, false
	}
	return from, to, true
}

// code says that a bare value is an expression of a program rather than a text.
func code(v string) bool {
	if strings.ContainsAny(v, "()[]{}<>|*") {
		return true
	}
	for i := range len(v) {
		if v[i] >= '0' && v[i] <= '9' {
			return false
		}
	}
	return true // a name, a chain of names, a type
}

// envValue reads a line of an environment: NAME_KEY=value with a name in capitals.
func envValue(name int) func(string, int) (int, int, bool) {
	return func(text string, at int) (int, int, bool) {
		start := at
		for start > 0 && (word(text[start-1]) && (text[start-1] < 'a' || text[start-1] > 'z')) {
			start--
		}
		line := strings.TrimLeft(text[strings.LastIndexByte(text[:start], '\n')+1:start], " \t0123456789\u2192:|")
		if line != "" && line != "export " && line != "ENV " && line != "set " {
			return 0, 0, false
		}
		from := at + name
		to := from
		for to < len(text) && text[to] != '\n' && text[to] != '\r' && to-from <= longestValue {
			to++
		}
		v := strings.Trim(text[from:to], " \t")
		if q := len(v); q > 1 && (v[0] == '"' || v[0] == '\'') && v[q-1] == v[0] {
			from, v = from+1, v[1:q-1]
		}
		from += strings.Index(text[from:to], v)
		to = from + len(v)
		if v == "" || benign(v) || plainValue(v) {
			return 0, 0, false
		}
		return from, to, true
	}
}

// plainValue says that a value of an environment is no secret by its form: a path,
// or a URL without a password in it.
func plainValue(v string) bool {
	return strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "~/") ||
		strings.Contains(v, "://") && !strings.Contains(v, "@")
}

// netrc reads the password of a machine.
func netrc(text string, at int) (from, to int, ok bool) {
	before := text[max(0, at-400):at]
	i := strings.LastIndex(before, "machine ")
	if i < 0 || !strings.Contains(before[i:], "login ") {
		return 0, 0, false
	}
	from = at + len("password ")
	for to = from; to < len(text) && text[to] > ' '; to++ {
	}
	return from, to, to-from >= 3 && !benign(text[from:to])
}
