package trimtabv1_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	trimtabv1 "github.com/trimtab-io/trimtab/proto/trimtab/v1"
)

// settings calls f with every field of the configuration.
func settings(f func(protoreflect.FieldDescriptor)) {
	files := []protoreflect.FileDescriptor{
		trimtabv1.File_trimtab_v1_config_proto, trimtabv1.File_trimtab_v1_components_proto,
	}
	for _, file := range files {
		for i := range file.Messages().Len() {
			fields := file.Messages().Get(i).Fields()
			for j := range fields.Len() {
				f(fields.Get(j))
			}
		}
	}
}

func TestEveryDefaultParses(t *testing.T) {
	seen := 0
	settings(func(fd protoreflect.FieldDescriptor) {
		r := trimtabv1.RuleOf(fd)
		if r.Default == nil {
			return
		}
		seen++
		v, err := trimtabv1.Parse(fd, r.GetDefault())
		if err != nil {
			t.Errorf("%s: %v", fd.FullName(), err)
			return
		}
		again, err := trimtabv1.Parse(fd, trimtabv1.Spell(fd, v))
		if err != nil || !again.Equal(v) {
			t.Errorf("%s: %v does not survive being written: %v", fd.FullName(), v, err)
		}
	})
	if seen < 20 {
		t.Fatalf("saw only %d defaults", seen)
	}
}

func TestScalarsKnowWhetherTheyWereSet(t *testing.T) {
	settings(func(fd protoreflect.FieldDescriptor) {
		if trimtabv1.IsScalar(fd) && !fd.HasPresence() && fd.Name() != "name" {
			t.Errorf("%s cannot tell unset from zero; make it optional", fd.FullName())
		}
	})
}

func TestFill(t *testing.T) {
	got := trimtabv1.Fill(&trimtabv1.Gutter{Every: proto.Uint32(20), Force: proto.Bool(false)})
	want := &trimtabv1.Gutter{MinLines: proto.Uint32(6), Every: proto.Uint32(20), Force: proto.Bool(false)}
	if !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	limits := trimtabv1.Fill(&trimtabv1.Limits{})
	if limits.GetMaxBodyBytes() != 32<<20 || limits.GetDeadline().AsDuration() != 1500*time.Millisecond {
		t.Errorf("limits: %v", limits)
	}
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		m    proto.Message
		want string
	}{
		"not allowed": {&trimtabv1.Gutter{Every: proto.Uint32(7)}, `every: "7" is not one of 2, 5, 10 or 20`},
		"too large":   {&trimtabv1.Backref{MaxChangedRatio: proto.Float64(1.5)}, "max_changed_ratio: 1.5 is out of range: from 0 to 1"},
		"in a section": {
			&trimtabv1.Profile{Limits: &trimtabv1.Limits{MaxBodyBytes: proto.Uint64(1)}},
			"max_body_bytes: 1 is out of range: from 1KiB to 1GiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := trimtabv1.Check(c.m)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if err := trimtabv1.Check(trimtabv1.Fill(&trimtabv1.Backref{})); err != nil {
		t.Errorf("the defaults break a rule: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "true", "32MiB", "1.5s", "off", "", "-1", "18446744073709551615GiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		settings(func(fd protoreflect.FieldDescriptor) {
			if !trimtabv1.IsScalar(fd) {
				return
			}
			v, err := trimtabv1.Parse(fd, text)
			if err != nil {
				return
			}
			if again, err := trimtabv1.Parse(fd, trimtabv1.Spell(fd, v)); err != nil || !again.Equal(v) {
				t.Errorf("%s: %q reads as %v and does not survive: %v", fd.FullName(), text, v, err)
			}
		})
	})
}
