package redact

import (
	"regexp"
	"strings"
)

// pemRules find private keys as files hold them.
func pemRules() []rule {
	return []rule{
		{kind: "private_key", tier: Shaped, literal: "-----BEGIN ", find: pem},
		{kind: "private_key", tier: Shaped, literal: "Private-Lines:", find: putty},
	}
}

var pemHead = regexp.MustCompile(`^-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----`)

// pem finds what stands between the two lines of a key. The lines of base64 may have
// gutters of line numbers, and line breaks may be escapes, as in JSON. A key without
// an end goes on as long as what follows is made of base64.
func pem(text string, at int) (from, to int, ok bool) {
	m := pemHead.FindStringSubmatchIndex(text[at:min(len(text), at+100)])
	if m == nil {
		return 0, 0, false
	}
	from = at + m[1]
	end := "-----END " + text[at+m[2]:at+m[3]] + "-----"
	const longest = 64 << 10
	if i := strings.Index(text[from:min(len(text), from+longest)], end); i >= 0 {
		return from, from + i, secretBody(text[from : from+i])
	}
	to = from
	for to < len(text) && to-from < longest && pemByte[text[to]] {
		to++
	}
	return from, to, secretBody(text[from:to])
}

// secretBody says that there is more between the lines than a placeholder.
func secretBody(s string) bool {
	n := 0
	for i := range len(s) {
		if word(s[i]) || s[i] == '+' || s[i] == '/' {
			n++
		}
	}
	return n >= 24 && !strings.Contains(s, Start) && !filler(s)
}

// pemByte is what a key's lines are made of: base64, gutters, escapes and headers.
var pemByte = set("A-Za-z0-9+/= \n\r\t\\:,|\u2192-")

// putty finds the private lines of PuTTY's key files.
func putty(text string, at int) (from, to int, ok bool) {
	if !strings.Contains(text[:at], "PuTTY-User-Key-File-") {
		return 0, 0, false
	}
	i := strings.IndexByte(text[at:], '\n')
	if i < 0 {
		return 0, 0, false
	}
	from = at + i + 1
	to = from
	for to < len(text) && pemByte[text[to]] && !strings.HasPrefix(text[to:], "\nPrivate-") {
		to++
	}
	return from, to, secretBody(text[from:to])
}
