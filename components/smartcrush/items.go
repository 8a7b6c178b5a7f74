package smartcrush

import (
	"strings"

	"github.com/trimtab-io/trimtab/pipeline/document"
)

// arraysOf lists the items of the array that is the document [from, to), or of each
// array that is the value of a field of the object that it is. The document is
// valid.
func arraysOf(text string, from, to int) [][]span {
	if text[from] == '[' {
		return [][]span{elements(text, from, to)}
	}
	var out [][]span
	for _, v := range elements(text, from, to) {
		if text[v.from] == '[' {
			out = append(out, elements(text, v.from, v.to))
		}
	}
	return out
}

// elements are the values one level down in the array or object [from, to), without
// keys.
func elements(text string, from, to int) []span {
	var out []span
	object := text[from] == '{'
	for i := document.Skip(text, from+1); i < to-1; {
		if object {
			i = document.Skip(text, document.Skip(text, document.ValueEnd(text, i))+1) // the key and the colon
		}
		end := document.ValueEnd(text, i)
		out = append(out, span{i, end})
		if i = document.Skip(text, end); text[i] == ',' {
			i = document.Skip(text, i+1)
		}
	}
	return out
}

// maxSaid bounds how much of a string is looked at: a long text that mentions an
// error reports none.
const maxSaid = 200

// reports says that an item has a value that reports an error: a string that says
// so, or anything but nothing under a key that does. "failures": 0 is none.
func (c *Component) reports(item string) bool {
	object := make([]bool, 0, 16)  // by depth: whether it is an object
	failing, isKey := false, false // the key names failures; a key is next
	for i := 0; i < len(item); {
		switch b := item[i]; b {
		case '{', '[':
			if failing && item[document.Skip(item, i+1)] != b+2 {
				return true
			}
			object = append(object, b == '{')
			failing, isKey = false, b == '{'
			i++
		case '}', ']':
			object = object[:len(object)-1]
			failing, isKey = false, false
			i++
		case ',':
			failing, isKey = false, len(object) > 0 && object[len(object)-1]
			i++
		case '"':
			end := document.StringEnd(item, i)
			s := item[i+1 : end-1]
			i = end
			if isKey {
				failing, isKey = failureKey(s), false
				continue
			}
			if c.reporter.In(s[:min(len(s), maxSaid)]) || s != "" && failing {
				return true
			}
		case ':', ' ', '\t', '\r', '\n':
			i++
		default:
			end := document.ValueEnd(item, i)
			if failing && !nothing(item[i:end]) {
				return true
			}
			i = end
		}
	}
	return false
}

// failureKey says that a key names failures.
func failureKey(key string) bool {
	if len(key) < 4 || len(key) > 64 {
		return false
	}
	for i := range len(key) - 3 {
		for _, w := range [...]string{"error", "fail", "exception", "panic", "fatal", "traceback"} {
			if key[i]|0x20 == w[0] && i+len(w) <= len(key) && strings.EqualFold(key[i:i+len(w)], w) {
				return true
			}
		}
	}
	return false
}

// nothing says that a literal or a number is null, false or 0.
func nothing(s string) bool {
	return s == "null" || s == "false" || strings.Trim(s, "-0.") == ""
}
