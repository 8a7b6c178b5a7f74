package figures

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n" + Begin("a") + "\nold\n" + End("a") + "\nafter " + Begin("b") + End("b"))
	for _, text := range []string{"new", "newer"} {
		if err := Replace(page, "a", text); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if want := "before\n" + Begin("a") + "\n\n" + text + "\n" + End("a") + "\nafter " + Begin("b") + End("b"); string(got) != want {
			t.Errorf("%s\nwant:\n%s", got, want)
		}
	}
	for name, text := range map[string]string{"no end": "x" + Begin("a"), "no beginning": End("a"), "of another target": Begin("b") + End("b"), "the wrong way round": End("a") + Begin("a")} {
		write(text)
		if err := Replace(page, "a", "new"); err == nil {
			t.Errorf("%s: no error", name)
		}
		if got, err := os.ReadFile(page); err != nil || string(got) != text {
			t.Errorf("%s: the page is changed: %v", name, err)
		}
	}
}
