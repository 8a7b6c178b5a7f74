package extproc

import "testing"

func TestTraceOf(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, c := range []struct {
		name, parent, want string
	}{
		{"kept", "00-" + id + "-00f067aa0ba902b7-01", id},
		{"not kept", "00-" + id + "-00f067aa0ba902b7-00", ""},
		{"kept, with more flags", "00-" + id + "-00f067aa0ba902b7-03", id},
		{"a later version", "01-" + id + "-00f067aa0ba902b7-01-more", id},
		{"too many parts", "00-" + id + "-00f067aa0ba902b7-01-more", ""},
		{"no version", "ff-" + id + "-00f067aa0ba902b7-01", ""},
		{"no trace", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", ""},
		{"no span", "00-" + id + "-0000000000000000-01", ""},
		{"upper case", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", ""},
		{"no hexadecimal", "00-zzf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", ""},
		{"short", "00-4bf9-00f067aa0ba902b7-01", ""},
		{"nonsense", "text of somebody", ""},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := traceOf("", c.parent); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := traceOf("00-"+id+"-00f067aa0ba902b7-01", "00-11111111111111111111111111111111-00f067aa0ba902b7-01"); got != id {
		t.Errorf("%q: the stream's own comes first", got)
	}
}
