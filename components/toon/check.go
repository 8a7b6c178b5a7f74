package toon

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// tableMark is the first line of a table.
var tableMark = regexp.MustCompile(`^\[trimtab table of ([0-9]+) objects: ([^\]]+)\]$`)

// sameValues reads a table by itself and an array with another scanner than the one
// that wrote the table, and says that they are the same: the same keys in their
// order, and the same bytes in every value.
func sameValues(array, written string) bool {
	lines := strings.Split(written, "\n")
	m := tableMark.FindStringSubmatch(lines[0])
	if m == nil || m[1] != strconv.Itoa(len(lines)-1) {
		return false
	}
	keys := strings.Split(m[2], ",")
	d := jsontext.NewDecoder(strings.NewReader(array), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if !token(d, '[') {
		return false
	}
	for _, line := range lines[1:] {
		if !token(d, '{') {
			return false
		}
		rest, more := line, true
		for _, key := range keys {
			if !more {
				return false
			}
			var cell []byte
			cell, rest, more = nextCell(rest)
			name, err := d.ReadValue()
			if err != nil || string(name) != `"`+key+`"` {
				return false
			}
			value, err := d.ReadValue()
			if err != nil || !bytes.Equal(value, cell) {
				return false
			}
		}
		if more || !token(d, '}') {
			return false
		}
	}
	return token(d, ']')
}

func token(d *jsontext.Decoder, kind jsontext.Kind) bool {
	if d.PeekKind() != kind {
		return false
	}
	_, err := d.ReadToken()
	return err == nil
}

// nextCell reads a cell as the JSON value that it stands for. more says that another
// one follows.
func nextCell(row string) (value []byte, rest string, more bool) {
	if strings.HasPrefix(row, `"`) {
		end := 1
		for end < len(row) && row[end] != '"' {
			if row[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(row))
		if end == len(row) {
			return []byte(row), "", false
		}
		if row[end] != ',' {
			return nil, "", false
		}
		return []byte(row[:end]), row[end+1:], true
	}
	cell, rest, more := strings.Cut(row, ",")
	switch {
	case cell == "":
		return []byte("null"), rest, more
	case cell == "true", cell == "false", jsontext.Value(cell).Kind() == '0' && jsontext.Value(cell).IsValid():
		return []byte(cell), rest, more
	}
	return []byte(`"` + cell + `"`), rest, more
}
