package toon

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trimtab-io/trimtab/pipeline"
	"github.com/trimtab-io/trimtab/pipeline/tokens"
	"github.com/trimtab-io/trimtab/pipeline/transcript"
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
	from, to, gate := document(b.Text)
	switch {
	case gate != "":
		return pipeline.Edit{}, gate
	case pipeline.HasMark(b.Received):
		return pipeline.Edit{}, GateMark
	}
	t := table{text: b.Text}
	t.keep(0, from)
	start := len(t.pieces)
	if !t.write(from, to, int(c.settings.GetMinRows())) {
		return pipeline.Edit{}, GateUniform
	}
	written := spell(t.pieces[start:], b.Text)
	switch {
	case len(written) >= to-from || tokens.Estimate(written) >= tokens.Estimate(b.Text[from:to]):
		return pipeline.Edit{}, GateDense
	case !sameValues(b.Text[from:to], written):
		return pipeline.Edit{}, GateContent
	}
	t.keep(to, len(b.Text)) // white space at most
	return pipeline.Edit{Pieces: t.pieces}, ""
}

// maxPreamble is how many lines may stand before a document, as a client's header
// and an echoed command do.
const maxPreamble = 10

// document finds the array that begins one of the first lines and is the rest of the
// text, but for white space at the end.
func document(text string) (from, to int, gate pipeline.Gate) {
	gate = GateShape
	to = len(strings.TrimRight(text, " \t\r\n"))
	if to == 0 || text[to-1] != ']' {
		return 0, 0, gate
	}
	for range maxPreamble + 1 {
		if text[from] == '[' {
			if transcript.Valid([]byte(text[from:to])) {
				return from, to, ""
			}
			gate = GateParse
		}
		i := strings.IndexByte(text[from:to], '\n')
		if i < 0 {
			break
		}
		from += i + 1
	}
	return 0, 0, gate
}

// table collects pieces.
type table struct {
	text   string
	pieces []pipeline.Piece
}

func (t *table) keep(from, to int) {
	if from < to {
		t.pieces = append(t.pieces, pipeline.Piece{Kind: pipeline.Keep, From: from, To: to})
	}
}

func (t *table) literal(s string) {
	t.pieces = append(t.pieces, pipeline.Piece{Kind: pipeline.Literal, Text: s})
}

// write writes the array [from, to), which is valid JSON. It is false if that is no
// table.
func (t *table) write(from, to, least int) bool {
	s := scanner{t.text, from + 1}
	var keys []string
	mark := len(t.pieces)
	rows := 0
	for s.skip(); s.at < to-1; s.skip() {
		if t.text[s.at] != '{' {
			return false
		}
		s.at++
		if rows > 0 {
			t.literal("\n")
		}
		n := 0
		for s.skip(); t.text[s.at] != '}'; s.skip() {
			if n > 0 {
				s.at++ // the comma
				s.skip()
				t.literal(",")
			}
			from, end := s.value()
			key := t.text[from+1 : end-1]
			switch {
			case rows == 0 && !plainKey(key, keys):
				return false
			case rows == 0:
				keys = append(keys, key)
			case n >= len(keys) || keys[n] != key:
				return false
			}
			s.skip()
			s.at++ // the colon
			s.skip()
			from, end = s.value()
			if !t.cell(from, end) {
				return false
			}
			n++
		}
		s.at++
		if n == 0 || n != len(keys) {
			return false
		}
		rows++
		if s.skip(); t.text[s.at] == ',' {
			s.at++
		}
	}
	if rows < least {
		return false
	}
	head := []pipeline.Piece{{Kind: pipeline.Literal, Text: pipeline.MarkStart + "table of " + strconv.Itoa(rows) + " objects: "}}
	at := from
	for i, key := range keys {
		if i > 0 {
			head = append(head, pipeline.Piece{Kind: pipeline.Literal, Text: ","})
		}
		at += strings.Index(t.text[at:], `"`+key+`"`) // the first object has them in order
		head = append(head, pipeline.Piece{Kind: pipeline.Keep, From: at + 1, To: at + 1 + len(key)})
		at += len(key) + 2
	}
	head = append(head, pipeline.Piece{Kind: pipeline.Literal, Text: "]\n"})
	t.pieces = append(t.pieces[:mark], append(head, t.pieces[mark:]...)...)
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
		t.keep(from+1, end-1)
	default:
		t.keep(from, end)
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

// scanner walks a valid document.
type scanner struct {
	text string
	at   int
}

// skip goes to the next byte that is no white space.
func (s *scanner) skip() {
	for strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// value goes behind the value that begins here; of a nested one only the first byte
// is looked at.
func (s *scanner) value() (from, end int) {
	from = s.at
	switch s.text[s.at] {
	case '"':
		for s.at++; s.text[s.at] != '"'; s.at++ {
			if s.text[s.at] == '\\' {
				s.at++
			}
		}
		s.at++
	case '{', '[':
		s.at++
	default:
		for strings.IndexByte(",]} \t\r\n", s.text[s.at]) < 0 {
			s.at++
		}
	}
	return from, s.at
}

// spell writes pieces out.
func spell(pieces []pipeline.Piece, text string) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
		if p.Kind == pipeline.Keep {
			b.WriteString(text[p.From:p.To])
		}
	}
	return b.String()
}
