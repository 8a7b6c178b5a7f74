package componenttest

import (
	"reflect"
	"strings"
)

// Leaks walks everything that can be reached from v, unexported fields included,
// and returns the first string or byte slice that holds any 8-byte piece of one
// of the canaries, with the path to it; "" if there is none. Closures and
// channels can't be looked into.
func Leaks(v any, canaries ...string) string {
	w := walker{seen: map[visit]bool{}, pieces: map[string]bool{}}
	for _, c := range canaries {
		for i := 0; i+8 <= len(c); i++ {
			w.pieces[c[i:i+8]] = true
		}
	}
	w.walk(reflect.ValueOf(v), "root", 0)
	return w.found
}

// HasPiece says that text holds any 8-byte piece of a canary.
func HasPiece(text string, canary string) bool {
	for i := 0; i+8 <= len(canary); i++ {
		if strings.Contains(text, canary[i:i+8]) {
			return true
		}
	}
	return false
}

type visit struct {
	at  uintptr
	typ reflect.Type
}

type walker struct {
	seen   map[visit]bool
	pieces map[string]bool
	found  string
}

func (w *walker) text(s, path string) {
	for i := 0; i+8 <= len(s); i++ {
		if w.pieces[s[i:i+8]] {
			w.found = path
			return
		}
	}
}

func (w *walker) walk(v reflect.Value, path string, depth int) {
	if w.found != "" || !v.IsValid() || depth > 60 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.text(v.String(), path)
	case reflect.Pointer, reflect.Map, reflect.Slice:
		w.reference(v, path, depth)
	case reflect.Interface:
		w.walk(v.Elem(), path, depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			w.walk(v.Field(i), path+"."+v.Type().Field(i).Name, depth+1)
		}
	case reflect.Array:
		w.elements(v, path, depth)
	default:
	}
}

func (w *walker) reference(v reflect.Value, path string, depth int) {
	if v.IsNil() {
		return
	}
	if v.Kind() != reflect.Slice || v.Len() > 0 {
		k := visit{v.Pointer(), v.Type()}
		if w.seen[k] {
			return
		}
		w.seen[k] = true
	}
	switch v.Kind() {
	case reflect.Pointer:
		w.walk(v.Elem(), path, depth+1)
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			w.walk(it.Key(), path+"[key]", depth+1)
			w.walk(it.Value(), path+"[value]", depth+1)
		}
	default:
		w.elements(v, path, depth)
	}
}

func (w *walker) elements(v reflect.Value, path string, depth int) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b := make([]byte, v.Len())
		for i := range b {
			b[i] = byte(v.Index(i).Uint())
		}
		w.text(string(b), path)
		return
	}
	switch v.Type().Elem().Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Bool, reflect.Float64:
		return // numbers alone hold no text
	default:
	}
	for i := range v.Len() {
		w.walk(v.Index(i), path+"[]", depth+1)
	}
}
