package envoytest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trimtab-io/trimtab/internal/envoytest"
	"github.com/trimtab-io/trimtab/internal/provider"
)

// canary is text that stands nowhere else.
func canary(r *rand.Rand) string {
	b := make([]byte, 24)
	for i := range b {
		b[i] = "abcdefghijkmnpqrstuvwxyz23456789"[r.IntN(32)]
	}
	return string(b)
}

// pieces are all stretches of n bytes of a text.
func pieces(text string, n int) []string {
	var list []string
	for i := 0; i+n <= len(text); i++ {
		list = append(list, text[i:i+n])
	}
	return list
}

// What an operator can see holds no piece of a conversation, at any level.
func TestNoTextIsShownAnywhere(t *testing.T) {
	for _, level := range []string{"off", "metadata", "everything"} {
		t.Run(level, func(t *testing.T) {
			rig := envoytest.Start(t, envoytest.Options{
				Root: root, Environ: append(slow, "TRIMTAB_LEVEL="+level, "TRIMTAB_PRESET=balanced", "TRIMTAB_LOG_LEVEL=debug"),
				Provider: provider.Config{Rounds: 1},
			})
			r := rand.New(rand.NewPCG(1, 2))
			var secrets []string
			word := func() string {
				w := canary(r)
				secrets = append(secrets, w)
				return w
			}
			client := envoytest.Client(t, false)
			for i := range 4 {
				text := file(word(), 4<<10)
				o := anthropic(word(), []string{text, text, file(word(), 2<<10)})
				o["system"] = "Remember " + word()
				o["stream"] = i%2 == 0
				if i == 3 {
					o["messages"] = word() // of the wrong shape
				}
				data, err := json.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				if i == 2 {
					data = append(data, word()...) // no JSON
				}
				if _, err := envoytest.Post(t.Context(), client, rig.URL()+"/v1/messages?key="+word(), data, true, "x-api-key", word(), "authorization", "Bearer "+word(), "x-trimtab-session", word()); err != nil {
					t.Fatal(err)
				}
			}
			awaitStat(t, rig, "four requests", func(s map[string]any) bool { return number(s["requests"]) == 4 })
			shown := map[string]string{"logs": rig.Logs()}
			for _, path := range []string{"/stats", "/metrics", "/config", "/readyz"} {
				resp, err := client.Get("http://" + rig.Admin() + path)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
				}
				shown[path] = string(body)
			}
			shown["access log"] = fmt.Sprint(rig.Access(t, 4))
			for where, text := range shown {
				for _, secret := range secrets {
					for _, piece := range pieces(secret, 8) {
						if strings.Contains(text, piece) {
							t.Errorf("%s holds %q", where, piece)
						}
					}
				}
			}
		})
	}
}

// A change of the configuration under traffic drops nothing and re-bills nobody.
func TestConfigurationChangesUnderTraffic(t *testing.T) {
	configuration := filepath.Join(t.TempDir(), "trimtab.yaml")
	preset := func(name string) {
		if err := os.WriteFile(configuration, []byte("profiles: {default: {preset: "+name+", limits: {deadline: 30s}}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	preset("conservative")
	rig := envoytest.Start(t, envoytest.Options{Root: root, File: configuration})
	ctx, cancel := context.WithCancel(t.Context())
	hangup := make(chan os.Signal)
	waited := make(chan error, 1)
	go func() { waited <- rig.Wait(ctx, hangup) }()
	client := envoytest.Client(t, true)
	sent := body(t, "/v1/messages", "pinned", 40<<10, true)
	for i := range 12 {
		r, err := envoytest.Post(t.Context(), client, rig.URL()+"/v1/messages", sent, true)
		if err != nil {
			t.Fatal(err)
		}
		complete(t, "/v1/messages", true, r)
		if i%3 == 2 {
			preset([]string{"off", "nonsense", "safe", "conservative"}[i/3])
			hangup <- os.Interrupt
		}
	}
	cancel()
	if err := <-waited; err != nil {
		t.Error(err)
	}
	all := rig.Provider.Received()
	for i, got := range all {
		if string(got.Body) != string(all[0].Body) {
			t.Errorf("request %d: a conversation under way is treated by another configuration", i)
		}
	}
	other := body(t, "/v1/messages", "new", 40<<10, true)
	if _, err := envoytest.Post(t.Context(), client, rig.URL()+"/v1/messages", other, true); err != nil {
		t.Fatal(err)
	}
	for _, entry := range rig.Access(t, 13) {
		if tt, _ := entry["trimtab"].(map[string]any); number(tt["prefix_violations"]) != 0 {
			t.Errorf("%v", tt)
		}
	}
}
