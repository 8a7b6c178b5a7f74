package store_test

import (
	"reflect"
	"testing"

	"github.com/trimtab-io/trimtab/store"
	"github.com/trimtab-io/trimtab/store/memory"
)

// Where no text may be kept there is no value to hold one.
func TestAtNeverGivesMoreThanTheLevel(t *testing.T) {
	s := store.Store{Level: store.Everything, Facts: memory.NewFacts(memory.FactsOptions{}), Texts: memory.NewTexts(memory.TextsOptions{})}
	for _, c := range []struct {
		have, ask    store.Level
		facts, texts bool
	}{
		{store.Everything, store.Off, false, false},
		{store.Everything, store.Metadata, true, false},
		{store.Everything, store.Everything, true, true},
		{store.Metadata, store.Everything, true, false},
		{store.Off, store.Everything, false, false},
	} {
		s.Level = c.have
		if got := s.At(c.ask); (got.Facts != nil) != c.facts || (got.Texts != nil) != c.texts {
			t.Errorf("%s of %s: facts %v, texts %v", c.ask, c.have, got.Facts != nil, got.Texts != nil)
		}
	}
}

// Facts can't carry text: no method of the interface takes or returns a string
// or a byte slice, and a fact is numbers.
func TestFactsCarryNoText(t *testing.T) {
	var walk func(typ reflect.Type, where string)
	walk = func(typ reflect.Type, where string) {
		switch typ.Kind() {
		case reflect.String:
			t.Errorf("%s carries a string", where)
		case reflect.Slice:
			if typ.Elem().Kind() == reflect.Uint8 {
				t.Errorf("%s carries bytes", where)
			}
			walk(typ.Elem(), where)
		case reflect.Struct:
			if typ.PkgPath() == "time" {
				return
			}
			for i := range typ.NumField() {
				walk(typ.Field(i).Type, where+"."+typ.Field(i).Name)
			}
		}
	}
	f := reflect.TypeFor[store.Facts]()
	for i := range f.NumMethod() {
		m := f.Method(i)
		for j := range m.Type.NumIn() {
			walk(m.Type.In(j), m.Name)
		}
		for j := range m.Type.NumOut() {
			walk(m.Type.Out(j), m.Name)
		}
	}
}

func TestKeysDependOnTheSecretAndOnTheBorders(t *testing.T) {
	a, b := store.NewKeyer([]byte("a")), store.NewKeyer([]byte("b"))
	if a.Key([]byte("x")) == b.Key([]byte("x")) {
		t.Error("the secret does not matter")
	}
	if a.Key([]byte("xy"), []byte("z")) == a.Key([]byte("x"), []byte("yz")) {
		t.Error("the borders between parts do not matter")
	}
}

func TestParseLevel(t *testing.T) {
	for _, l := range []store.Level{store.Off, store.Metadata, store.Everything} {
		if got, err := store.ParseLevel(l.String()); err != nil || got != l {
			t.Errorf("%s: %v, %v", l, got, err)
		}
	}
	if _, err := store.ParseLevel("some"); err == nil {
		t.Error("an unknown level is accepted")
	}
}
