package toon

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/document"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// Gates of toon.
const (
	GateFile    pipeline.Gate = "file_read"
	GateShape   pipeline.Gate = "not_json_shaped"
	GateMark    pipeline.Gate = "mark_in_text"
	GateParse   pipeline.Gate = "json_parse_failed"
	GateUniform pipeline.Gate = "not_uniform_object_array"
	GateDense   pipeline.Gate = "already_dense"
	GateContent pipeline.Gate = "content_would_change"
)

// wording is the version of the table's form.
const wording = 1

// Component writes tables. It holds nothing but its settings.
type Component struct {
	settings *trimtabv1.Toon
}

var _ pipeline.Pure = (*Component)(nil)

// New makes the component.
func New(settings *trimtabv1.Toon) (*Component, error) {
	if err := trimtabv1.Check(settings); err != nil {
		return nil, fmt.Errorf("toon: %w", err)
	}
	return &Component{settings: settings}, nil
}

// Describe implements pipeline.Component.
func (c *Component) Describe() pipeline.Description {
	return pipeline.Description{
		Name:      "toon",
		Summary:   "Writes JSON arrays of objects with the same keys as tables.",
		Stability: "experimental",
		Keeps:     pipeline.KeepsNothing,
		AtLevel:   [3]pipeline.Behaviour{pipeline.Works, pipeline.Works, pipeline.Works},
		Reason:    "The table follows from the received text alone, so there is nothing to remember.",
		Where:     "nowhere",
		Decided:   "docs/decisions/0002",
		Config:    c.settings,
		Wording:   wording,
		Gates: []pipeline.GateDoc{
			{Name: GateFile, Says: "the result shows a file, whose text an edit may have to match"},
			{Name: GateShape, Says: "no JSON array begins the text or a line after a short preamble"},
			{Name: GateMark, Says: "the text already has a line that looks like a mark"},
			{Name: GateParse, Says: "what looks like an array is not one whole document up to the end of the text"},
			{Name: GateUniform, Says: "the array is not one of enough objects with the same plain keys, in the same order, and without nested values"},
			{Name: GateDense, Says: "the table would not be shorter"},
			{Name: GateContent, Says: "a second reading of the table sees other values, so it is left alone"},
		},
	}
}

// Rewrite implements pipeline.Pure.
func (c *Component) Rewrite(b pipeline.Block, _ pipeline.Prefix) (pipeline.Edit, pipeline.Gate) {
	if b.Class.Call.ShowsFile() {
		return pipeline.Edit{}, GateFile
	}
	from, to, shaped := document.Find(b.Text, "[", false)
	switch {
	case to == 0 && shaped:
		return pipeline.Edit{}, GateParse
	case to == 0:
		return pipeline.Edit{}, GateShape
	case pipeline.HasMark(b.Received):
		return pipeline.Edit{}, GateMark
	}
	t := table{text: b.Text}
	t.pieces.Keep(0, from)
	start := len(t.pieces)
	if !t.write(from, to, int(c.settings.GetMinRows())) {
		return pipeline.Edit{}, GateUniform
	}
	written := t.pieces[start:].Text(b.Text)
	switch {
	case len(written) >= to-from || tokens.Estimate(written) >= tokens.Estimate(b.Text[from:to]):
		return pipeline.Edit{}, GateDense
	case !sameValues(b.Text[from:to], written):
		return pipeline.Edit{}, GateContent
	}
	t.pieces.Keep(to, len(b.Text)) // white space at most
	return pipeline.Edit{Pieces: t.pieces}, ""
}

// table collects pieces.
type table struct {
	text   string
	pieces pipeline.Pieces
}

// write writes the array [from, to), which is valid JSON. It is false if that is no
// table.
func (t *table) write(from, to, least int) bool {
	var keys []string
	mark := len(t.pieces)
	rows := 0
	for i := document.Skip(t.text, from+1); i < to-1; i = document.Skip(t.text, i) {
		if t.text[i] != '{' {
			return false
		}
		if rows > 0 {
			t.pieces.Literal("\n")
		}
		n := 0
		for i = document.Skip(t.text, i+1); t.text[i] != '}'; i = document.Skip(t.text, i) {
			if n > 0 {
				i = document.Skip(t.text, i+1) // behind the comma
				t.pieces.Literal(",")
			}
			end := document.StringEnd(t.text, i)
			key := t.text[i+1 : end-1]
			switch {
			case rows == 0 && !plainKey(key, keys):
				return false
			case rows == 0:
				keys = append(keys, key)
			case n >= len(keys) || keys[n] != key:
				return false
			}
			i = document.Skip(t.text, document.Skip(t.text, end)+1) // behind the colon
			end = document.ValueEnd(t.text, i)
			if !t.cell(i, end) {
				return false
			}
			i = end
			n++
		}
		if n == 0 || n != len(keys) {
			return false
		}
		rows++
		if i = document.Skip(t.text, i+1); t.text[i] == ',' {
			i++
		}
	}
	if rows < least {
		return false
	}
	var head pipeline.Pieces
	head.Literal(pipeline.MarkStart + "table of " + strconv.Itoa(rows) + " objects: ")
	at := from
	for i, key := range keys {
		if i > 0 {
			head.Literal(",")
		}
		at += strings.Index(t.text[at:], `"`+key+`"`) // the first object has them in order
		head.Keep(at+1, at+1+len(key))
		at += len(key) + 2
	}
	head.Literal("]\n")
	t.pieces = slices.Concat(t.pieces[:mark], head, t.pieces[mark:])
	return true
}

// plainKey says that a key may stand in a mark, and is not there already.
func plainKey(key string, before []string) bool {
	for _, k := range before {
		if k == key {
			return false
		}
	}
	for i := range len(key) {
		c := key[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("_-.$@/", c) < 0 {
			return false
		}
	}
	return key != ""
}

// cell writes a value: nothing for null, a string without its quotes if it can't be
// taken for anything else. It is false for what is nested.
func (t *table) cell(from, end int) bool {
	v := t.text[from:end]
	switch {
	case v[0] == '{' || v[0] == '[':
		return false
	case v == "null":
	case v[0] == '"' && bare(v[1:len(v)-1]):
		t.pieces.Keep(from+1, end-1)
	default:
		t.pieces.Keep(from, end)
	}
	return true
}

// bare says that a string needs no quotes: it is not empty, has no character that
// means something in a row, and reads as no number and no word of JSON.
func bare(s string) bool {
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || s[0] == '[' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == ',' || c == '"' || c == '\\' {
			return false
		}
	}
	if _, err := strconv.ParseBool(s); err == nil || strings.EqualFold(s, "null") {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err != nil
}
