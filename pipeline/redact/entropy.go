package redact

import (
	"strings"
)

// random finds values that look random: hexadecimal of 32 to 128 digits and base64
// of 32 to 128 characters, where nothing says that they are sums or data.
func (d *Detector) random(text string) []Match {
	var found []Match
	for i := 0; i < len(text); {
		n := base64Any.run(text, i)
		if n == 0 {
			i++
			continue
		}
		from, to := i, i+n
		i = to
		if n < 32 || n > 128 || known(text, from, to) {
			continue
		}
		v := text[from:to]
		if looksRandom(v) && !d.allowed(v) {
			found = append(found, Match{from, to, "high_entropy"})
		}
	}
	return found
}

var (
	base64Any = set("A-Za-z0-9+/_-")
	lowerHex  = set("0-9a-f")
	upperHex  = set("0-9A-F")
)

func looksRandom(v string) bool {
	if lowerHex.run(v, 0) == len(v) || upperHex.run(v, 0) == len(v) {
		return shannon(v) >= 3 && mixed(v) >= 2
	}
	// Words are found in paths and names, and have few changes of kind.
	return shannon(v) >= 4.3 && mixed(v) == 3 && changes(v)*4 >= len(v)
}

// changes counts where letters and digits, and cases, change.
func changes(v string) (n int) {
	kind := func(c byte) int {
		switch {
		case c >= 'a' && c <= 'z':
			return 1
		case c >= 'A' && c <= 'Z':
			return 2
		case c >= '0' && c <= '9':
			return 3
		}
		return 0
	}
	for i := 1; i < len(v); i++ {
		if kind(v[i]) != kind(v[i-1]) {
			n++
		}
	}
	return n
}

// known says that what stands around a value says what it is: a checksum, a commit,
// the data of an image, a part of a path.
func known(text string, from, to int) bool {
	start := strings.LastIndexByte(text[:from], '\n') + 1
	before := strings.ToLower(text[max(start, from-120):from])
	for _, w := range []string{"sha1", "sha256", "sha512", "sha-", "md5", "integrity", "commit", "@sha", "checksum", "digest", "hash", "etag", "base64,", "index ", "blob", "tree ", "parent ", "object", "revision", "nonce", "uuid"} {
		if strings.Contains(before, w) {
			return true
		}
	}
	if len(text[from:to]) == 40 || len(text[from:to]) == 64 {
		if lowerHex.run(text, from) >= to-from { // a sum of git or SHA-256 at the start of a line
			return from == start || text[from-1] == ' ' || text[from-1] == '/'
		}
	}
	return from > 0 && (text[from-1] == '/' || text[from-1] == '.') || to < len(text) && text[to] == '/'
}
