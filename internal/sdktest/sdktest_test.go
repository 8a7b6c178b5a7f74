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
	s, err := provider.New(provider.Config{Keep: 1000}).Start("", false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all := Conversations(s.URL)
	zipped, err := provider.New(provider.Config{Keep: 1000, Gzip: true}).Start("", false)
	if err != nil {
		t.Fatal(err)
	}
	defer zipped.Close()
	for _, c := range Conversations(zipped.URL) {
		if c.Stream && !c.Stateful {
			all = append(all, c)
		}
	}
	outcomes, err := sdk.Run(t.Context(), all)
	if err != nil {
		t.Error(err)
	}
	received := append(s.Received(), zipped.Received()...)
	for i, o := range outcomes {
		t.Run(all[i].Name(), func(t *testing.T) {
			if o.Turns != 13 || o.Calls < 12 || o.Final != "Done after 12 rounds." {
				t.Fatalf("%d turns, %d calls, final %q", o.Turns, o.Calls, o.Final)
			}
			read := 0
			for k, got := range o.Usage {
				r := received[i*o.Turns+k].Usage
				if want := (Usage{Fresh: r.Fresh, Read: r.Read, Write: r.Write5m, Output: r.Output}); got != want {
					t.Errorf("turn %d: billed %+v, the SDK read %+v", k, want, got)
				}
				read += got.Read
			}
			if read == 0 {
				t.Error("nothing was read from the cache")
			}
		})
	}
}
