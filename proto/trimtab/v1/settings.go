package trimtabv1

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

const durationName = protoreflect.FullName("google.protobuf.Duration")

// RuleOf returns the rule of a setting, or an empty one. The caller must not
// change it.
func RuleOf(fd protoreflect.FieldDescriptor) *Rule {
	if r, ok := proto.GetExtension(fd.Options(), E_Rule).(*Rule); ok && r != nil {
		return r
	}
	return &Rule{}
}

// IsScalar says that a setting is one value: a scalar or a duration, and not a
// list, a map or a section.
func IsScalar(fd protoreflect.FieldDescriptor) bool {
	if fd.IsList() || fd.IsMap() {
		return false
	}
	return fd.Message() == nil || fd.Message().FullName() == durationName
}

// Fill sets every absent scalar of m that has a default, in m itself and in the
// sections that are present. Lists and absent sections stay as they are.
func Fill[M proto.Message](m M) M {
	fill(m.ProtoReflect())
	return m
}

func fill(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !IsScalar(fd) {
			continue
		}
		r := RuleOf(fd)
		if r.Default == nil || m.Has(fd) {
			continue
		}
		v, err := Parse(fd, r.GetDefault())
		if err != nil {
			// A default that breaks its own rule; TestEveryDefaultParses finds it.
			panic(fmt.Sprintf("default of %s: %v", fd.FullName(), err))
		}
		m.Set(fd, v)
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.Message() != nil && !fd.IsList() && !fd.IsMap() && !IsScalar(fd) {
			fill(v.Message())
		}
		return true
	})
}

// Check returns the first value of m, or of a section in it, that breaks its
// rule. Lists and maps of sections are not entered.
func Check(m proto.Message) error { return check(m.ProtoReflect()) }

func check(m protoreflect.Message) error {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !m.Has(fd) || fd.IsList() || fd.IsMap() {
			continue
		}
		if !IsScalar(fd) {
			if err := check(m.Get(fd).Message()); err != nil {
				return err
			}
			continue
		}
		if err := inBounds(fd, m.Get(fd)); err != nil {
			return fmt.Errorf("%s: %w", fd.Name(), err)
		}
	}
	return nil
}

// Parse reads a scalar setting as it is written in YAML or in an environment
// variable, and checks its bounds. The error is one plain sentence without the
// setting's name.
func Parse(fd protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	v, err := parse(fd, text)
	if err != nil {
		return v, err
	}
	return v, inBounds(fd, v)
}

func parse(fd protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	none := protoreflect.Value{}
	switch fd.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text), nil
	case protoreflect.BoolKind:
		switch text {
		case "true":
			return protoreflect.ValueOfBool(true), nil
		case "false":
			return protoreflect.ValueOfBool(false), nil
		}
		return none, fmt.Errorf("%q is not true or false", text)
	case protoreflect.Uint32Kind:
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return none, fmt.Errorf("%q is not a whole number from 0 up", text)
		}
		return protoreflect.ValueOfUint32(uint32(n)), nil
	case protoreflect.Uint64Kind:
		n, err := parseCount(text, RuleOf(fd).GetBytes())
		return protoreflect.ValueOfUint64(n), err
	case protoreflect.DoubleKind:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return none, fmt.Errorf("%q is not a number", text)
		}
		return protoreflect.ValueOfFloat64(f), nil
	case protoreflect.EnumKind:
		for _, name := range Allowed(fd) {
			if name == text {
				return protoreflect.ValueOfEnum(enumNumber(fd.Enum(), name)), nil
			}
		}
		return none, fmt.Errorf("%q is not one of %s", text, List(Allowed(fd)))
	case protoreflect.MessageKind:
		d, err := time.ParseDuration(text)
		if err != nil {
			return none, fmt.Errorf("%q is not a duration such as 500ms, 30s or 5m", text)
		}
		return protoreflect.ValueOfMessage(durationpb.New(d).ProtoReflect()), nil
	}
	return none, fmt.Errorf("settings of kind %s have no text form", fd.Kind())
}

func parseCount(text string, bytes bool) (uint64, error) {
	digits, unit := text, uint64(1)
	if bytes {
		for i, suffix := range []string{"KiB", "MiB", "GiB"} {
			if d, ok := strings.CutSuffix(text, suffix); ok {
				digits, unit = strings.TrimSpace(d), 1<<(10*(i+1))
			}
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n > math.MaxUint64/unit {
		if bytes {
			return 0, fmt.Errorf("%q is not a number of bytes such as 1048576 or 1MiB", text)
		}
		return 0, fmt.Errorf("%q is not a whole number from 0 up", text)
	}
	return n * unit, nil
}

func inBounds(fd protoreflect.FieldDescriptor, v protoreflect.Value) error {
	r := RuleOf(fd)
	text := Spell(fd, v)
	if allowed := r.GetAllowed(); len(allowed) > 0 && !slices.Contains(allowed, text) {
		return fmt.Errorf("%q is not one of %s", text, List(allowed))
	}
	n, ok := number(fd, v)
	if !ok || (r.Min == nil || n >= r.GetMin()) && (r.Max == nil || n <= r.GetMax()) {
		return nil
	}
	lo, hi := bound(fd, r.GetMin()), bound(fd, r.GetMax())
	switch {
	case r.Min == nil:
		return fmt.Errorf("%s is out of range: at most %s", text, hi)
	case r.Max == nil:
		return fmt.Errorf("%s is out of range: at least %s", text, lo)
	}
	return fmt.Errorf("%s is out of range: from %s to %s", text, lo, hi)
}

func number(fd protoreflect.FieldDescriptor, v protoreflect.Value) (float64, bool) {
	switch fd.Kind() {
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return float64(v.Uint()), true
	case protoreflect.DoubleKind:
		return v.Float(), true
	case protoreflect.MessageKind:
		return duration(v.Message()).Seconds(), true
	}
	return 0, false
}

func duration(m protoreflect.Message) time.Duration {
	if d, ok := m.Interface().(*durationpb.Duration); ok {
		return d.AsDuration()
	}
	return 0
}

// bound writes a bound the way its setting is written.
func bound(fd protoreflect.FieldDescriptor, n float64) string {
	switch {
	case fd.Kind() == protoreflect.MessageKind:
		return time.Duration(n * float64(time.Second)).String()
	case RuleOf(fd).GetBytes():
		return bytesText(uint64(n))
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

func bytesText(n uint64) string {
	for i, suffix := range []string{"GiB", "MiB", "KiB"} {
		if unit := uint64(1) << (10 * (3 - i)); n > 0 && n%unit == 0 {
			return strconv.FormatUint(n/unit, 10) + suffix
		}
	}
	return strconv.FormatUint(n, 10)
}

// Spell writes a scalar setting's value as it is written in YAML; Parse reads
// it back.
func Spell(fd protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch fd.Kind() {
	case protoreflect.EnumKind:
		if d := fd.Enum().Values().ByNumber(v.Enum()); d != nil {
			return enumName(fd.Enum(), d)
		}
		return strconv.Itoa(int(v.Enum()))
	case protoreflect.MessageKind:
		return duration(v.Message()).String()
	case protoreflect.DoubleKind:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case protoreflect.Uint64Kind:
		if RuleOf(fd).GetBytes() {
			return bytesText(v.Uint())
		}
	}
	return v.String()
}

// Allowed lists the values that a setting may have, if they are few; the value
// of an enum that stands for "absent" is not one of them.
func Allowed(fd protoreflect.FieldDescriptor) []string {
	switch fd.Kind() {
	case protoreflect.EnumKind:
		var names []string
		values := fd.Enum().Values()
		for i := range values.Len() {
			if v := values.Get(i); v.Number() != 0 {
				names = append(names, enumName(fd.Enum(), v))
			}
		}
		return names
	case protoreflect.BoolKind:
		return []string{"true", "false"}
	}
	return RuleOf(fd).GetAllowed()
}

// enumName drops the enum's own name from a value's: STORAGE_OFF of Storage is off.
func enumName(e protoreflect.EnumDescriptor, v protoreflect.EnumValueDescriptor) string {
	unset := string(e.Values().ByNumber(0).Name())
	prefix := strings.TrimSuffix(unset, "UNSPECIFIED")
	return strings.ToLower(strings.TrimPrefix(string(v.Name()), prefix))
}

func enumNumber(e protoreflect.EnumDescriptor, name string) protoreflect.EnumNumber {
	values := e.Values()
	for i := range values.Len() {
		if v := values.Get(i); enumName(e, v) == name {
			return v.Number()
		}
	}
	return 0
}

// List writes alternatives as one reads them: a, b or c.
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Bounds are a setting's smallest and largest value as they are written in
// YAML; empty if it has none.
func Bounds(fd protoreflect.FieldDescriptor) (lo, hi string) {
	r := RuleOf(fd)
	if r.Min == nil || r.Max == nil {
		return "", ""
	}
	return bound(fd, r.GetMin()), bound(fd, r.GetMax())
}
