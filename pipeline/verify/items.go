package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Items checks a forwarded text in whose JSON items of arrays were left out against
// the text as it was received. In place of N items that follow each other stands the
// string "[trimtab cut N items]". Everything else must be equal, byte for byte,
// white space between tokens apart. The document may follow other lines, which must
// be the same too.
func Items(received, forwarded string) error {
	at := 0
	for ; at < len(received); at++ {
		if (at == 0 || received[at-1] == '\n') && jsontext.Value(received[at:]).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			break
		}
	}
	if at >= len(forwarded) || forwarded[:at] != received[:at] {
		return fmt.Errorf("%w: the lines before the document differ", ErrSource)
	}
	w := items{in: decoderOf(received[at:]), out: decoderOf(forwarded[at:])}
	if err := w.value(); err != nil {
		return err
	}
	_, err1 := w.in.ReadToken()
	_, err2 := w.out.ReadToken()
	if !errors.Is(err1, io.EOF) || !errors.Is(err2, io.EOF) {
		return fmt.Errorf("%w: something follows the document", ErrSource)
	}
	return nil
}

func decoderOf(s string) *jsontext.Decoder {
	return jsontext.NewDecoder(strings.NewReader(s), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// items walks both documents.
type items struct{ in, out *jsontext.Decoder }

var errDiffer = errors.New("verify: the documents differ")

// value walks one value, or one key.
func (w items) value() error {
	kind := w.out.PeekKind()
	if kind != w.in.PeekKind() {
		return errDiffer
	}
	if kind != '{' && kind != '[' {
		a, err1 := w.in.ReadValue()
		b, err2 := w.out.ReadValue()
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			return errDiffer
		}
		return nil
	}
	if err := w.bracket(); err != nil {
		return err
	}
	for w.out.PeekKind() != kind+2 { // the closing bracket in ASCII
		if w.out.PeekKind() == 0 {
			return errDiffer
		}
		if kind == '[' && w.out.PeekKind() == '"' {
			if err := w.item(); err != nil {
				return err
			}
			continue
		}
		if err := w.value(); err != nil {
			return err
		}
	}
	if w.in.PeekKind() != kind+2 {
		return ErrNumber // items are missing that nothing counts
	}
	return w.bracket()
}

func (w items) bracket() error {
	_, err1 := w.in.ReadToken()
	_, err2 := w.out.ReadToken()
	if err1 != nil || err2 != nil {
		return errDiffer
	}
	return nil
}

// item reads a string that is an item: it counts items of the other document, or is
// one of them.
func (w items) item() error {
	b, err := w.out.ReadValue()
	if err != nil {
		return errDiffer
	}
	n, ok := countedItems(string(b))
	if !ok {
		a, err := w.in.ReadValue()
		if err != nil || !bytes.Equal(a, b) {
			return errDiffer
		}
		return nil
	}
	for range n {
		if w.in.PeekKind() == ']' || w.in.SkipValue() != nil {
			return ErrShort
		}
	}
	return nil
}

// countedItems reads what stands for items.
func countedItems(s string) (n int, ok bool) {
	s, ok = strings.CutPrefix(s, `"[trimtab cut `)
	digits, unit, _ := strings.Cut(s, " ")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 1 && (unit == `items]"` || n == 1 && unit == `item]"`)
}
