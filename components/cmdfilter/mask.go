package cmdfilter

import "github.com/cespare/xxhash/v2"

// mask says which parts of lines do not tell them apart.
type mask uint8

const (
	maskNumbers mask = 1 << iota // digits, with what stands between them in times
	maskHex                      // words of hexadecimal digits of eight and more
	maskPaths                    // words with a slash
)

func maskNames() []string { return []string{"numbers", "hex", "paths"} }

// masked writes a line without what its mask covers: each such part is one NUL.
func (m mask) masked(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		j := i
		switch {
		case !wordByte(s[i]):
			dst = append(dst, s[i])
			i++
			continue
		default:
			for j < len(s) && wordByte(s[j]) {
				j++
			}
		}
		dst = m.word(dst, s[i:j])
		i = j
	}
	return dst
}

// wordByte says that a byte may stand in a path, a number or a time.
func wordByte(c byte) bool {
	return letter(c) || c >= '0' && c <= '9' || c == '/' || c == '.' || c == '_' || c == '-' || c == ':' || c >= 0x80
}

func (m mask) word(dst []byte, w string) []byte {
	if m&maskPaths != 0 {
		for i := range len(w) {
			if w[i] == '/' {
				return append(dst, 0)
			}
		}
	}
	if m&maskHex != 0 && len(w) >= 8 && hexWord(w) {
		return append(dst, 0)
	}
	if m&maskNumbers == 0 {
		return append(dst, w...)
	}
	for i := 0; i < len(w); {
		if w[i] < '0' || w[i] > '9' {
			dst = append(dst, w[i])
			i++
			continue
		}
		for i < len(w) && (w[i] >= '0' && w[i] <= '9' || (w[i] == '.' || w[i] == ':') && i+1 < len(w) && w[i+1] >= '0' && w[i+1] <= '9') {
			i++
		}
		dst = append(dst, 0)
	}
	return dst
}

func hexWord(w string) bool {
	for i := range len(w) {
		c := w[i] | 0x20
		if (c < 'a' || c > 'f') && (w[i] < '0' || w[i] > '9') && w[i] != '-' {
			return false
		}
	}
	return true
}

// key is a digest of a line as its mask leaves it. Buf is reused.
func (m mask) key(buf []byte, s string) (uint64, []byte) {
	if m == 0 {
		return xxhash.Sum64String(s), buf
	}
	buf = m.masked(buf[:0], s)
	return xxhash.Sum64(buf), buf
}
