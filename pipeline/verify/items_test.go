package verify

import "testing"

func TestItems(t *testing.T) {
	const in = "header\n{\"a\": [1, {\"b\": 2}, \"x\", 4], \"n\": 1.50}\n"
	for _, tt := range []struct {
		name, out string
		ok        bool
	}{
		{"nothing", in, true},
		{"other white space", "header\n{\"a\":[1,{\"b\":2},\"x\",4],\"n\":1.50}", true},
		{"a gap", "header\n{\"a\": [1, \"[trimtab cut 2 items]\", 4], \"n\": 1.50}\n", true},
		{"at the end", "header\n{\"a\": [1, \"[trimtab cut 3 items]\"], \"n\": 1.50}\n", true},
		{"one", "header\n{\"a\": [\"[trimtab cut 1 item]\", {\"b\": 2}, \"x\", 4], \"n\": 1.50}\n", true},
		{"too few", "header\n{\"a\": [1, \"[trimtab cut 1 item]\", 4], \"n\": 1.50}\n", false},
		{"too many", "header\n{\"a\": [1, \"[trimtab cut 4 items]\"], \"n\": 1.50}\n", false},
		{"not counted", "header\n{\"a\": [1, {\"b\": 2}], \"n\": 1.50}\n", false},
		{"another number", "header\n{\"a\": [1, {\"b\": 2}, \"x\", 4], \"n\": 1.5}\n", false},
		{"another header", "Header\n{\"a\": [1, {\"b\": 2}, \"x\", 4], \"n\": 1.50}\n", false},
		{"a missing field", "header\n{\"a\": [1, {\"b\": 2}, \"x\", 4]}\n", false},
		{"something behind it", in + "1", false},
		{"cut off", "header\n{\"a\": [1, {\"b\": 2}", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := Items(in, tt.out); (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}
