package sdktest

import (
	"testing"

	"github.com/trimtab-io/trimtab/internal/provider"
)

// The scripted provider is good enough for the SDKs: every kind of conversation
// runs to its end, and what the SDK reads of the bill is what was billed.
func TestScriptedProvider(t *testing.T) {
	if testing.Short() {
		t.Skip("installs the SDKs")
	}
	sdk, err := Setup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, gzip := range []bool{false, true} {
		s, err := provider.New(provider.Config{Gzip: gzip}).Start("", false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		for _, c := range Conversations(s.URL) {
			if gzip && (c.Stateful || !c.Stream) {
				continue
			}
			t.Run(c.Name(), func(t *testing.T) {
				before := len(s.Received())
				o, err := sdk.Run(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				if o.Turns != 13 || o.Calls < 12 || o.Final != "Done after 12 rounds." {
					t.Fatalf("%d turns, %d calls, final %q", o.Turns, o.Calls, o.Final)
				}
				read := 0
				for i, r := range s.Received()[before:] {
					u := Usage{Fresh: r.Usage.Fresh, Read: r.Usage.Read, Write: r.Usage.Write5m, Output: r.Usage.Output}
					if u != o.Usage[i] {
						t.Errorf("turn %d: billed %+v, the SDK read %+v", i, u, o.Usage[i])
					}
					read += u.Read
				}
				if read == 0 {
					t.Error("nothing was read from the cache")
				}
			})
		}
	}
}
