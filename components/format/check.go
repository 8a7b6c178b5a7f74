package format

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// sameValues reads both documents with another scanner than the one that took the
// white space out, and says that they are the same but for it: the same tokens
// byte for byte, where a string may also hold the same document as the other.
func sameValues(before, after string) bool {
	a, b := decoder(before), decoder(after)
	for {
		kind := a.PeekKind()
		if kind != b.PeekKind() {
			return false
		}
		switch kind {
		case '{', '}', '[', ']':
			_, err1 := a.ReadToken()
			_, err2 := b.ReadToken()
			if err1 != nil || err2 != nil {
				return false
			}
		case 0:
			_, err1 := a.ReadToken()
			_, err2 := b.ReadToken()
			return errors.Is(err1, io.EOF) && errors.Is(err2, io.EOF)
		default:
			x, err1 := a.ReadValue()
			y, err2 := b.ReadValue()
			if err1 != nil || err2 != nil || !bytes.Equal(x, y) && (kind != '"' || !sameEmbedded(x, y)) {
				return false
			}
		}
	}
}

func decoder(s string) *jsontext.Decoder {
	return jsontext.NewDecoder(strings.NewReader(s), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// sameEmbedded says that two strings hold one document with white space and
// without.
func sameEmbedded(x, y []byte) bool {
	a, err1 := jsontext.AppendUnquote(nil, x)
	b, err2 := jsontext.AppendUnquote(nil, y)
	v, w := jsontext.Value(a), jsontext.Value(b)
	return err1 == nil && err2 == nil && v.Compact() == nil && w.Compact() == nil && bytes.Equal(v, w)
}
