package admin

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"strconv"
	"strings"
)

// minToken is the shortest token, in bytes, that can't be guessed.
const minToken = 16

// maxProfile is the longest that a profile may be taken for, in seconds.
const maxProfile = 300

// ReadToken returns the token in a file, without the blanks around it.
func ReadToken(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("admin_token_file: %w", err)
	}
	token := bytes.TrimSpace(data)
	if len(token) < minToken {
		return nil, fmt.Errorf("admin_token_file: %s has %d bytes; a token needs at least %d", file, len(token), minToken)
	}
	return token, nil
}

var errNoToken = errors.New("this needs a token, and none is configured: set admin_token_file")

// allowed says why a request may not do what needs the token; nil if it may. The
// file is read each time, so that a new token is in force at once.
func (s Sources) allowed(r *http.Request) error {
	e, _ := s.Config()
	if e.AdminTokenFile == "" {
		return errNoToken
	}
	want, err := ReadToken(e.AdminTokenFile)
	if err != nil {
		return errors.New("this needs a token, and the configured one can't be read")
	}
	given, ok := strings.CutPrefix(r.Header.Get("authorization"), "Bearer ")
	if !ok {
		_, given, _ = r.BasicAuth() // go tool pprof knows only URLs
	}
	a, b := sha256.Sum256(want), sha256.Sum256([]byte(strings.TrimSpace(given)))
	if subtle.ConstantTimeCompare(a[:], b[:]) != 1 {
		return errors.New("this needs the token of admin_token_file: Authorization: Bearer TOKEN, or TOKEN as a password")
	}
	return nil
}

// local says that a request came in on a loopback address.
func local(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	host, _, err := net.SplitHostPort(addr.String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// switches says that a profile does more than look: it turns sampling on for some
// time, or collects garbage first.
func switches(r *http.Request) bool {
	switch strings.TrimPrefix(r.URL.Path, "/debug/pprof/") {
	case "profile", "trace":
		return true
	}
	return r.FormValue("seconds") != "" || r.FormValue("gc") != ""
}

// profiles serves Go's profiles. They hold names and numbers of the program, never
// text of a request.
func (s Sources) profiles(mux *http.ServeMux) {
	for path, h := range map[string]http.HandlerFunc{
		"":        pprof.Index,
		"cmdline": pprof.Cmdline,
		"profile": pprof.Profile,
		"symbol":  pprof.Symbol,
		"trace":   pprof.Trace,
	} {
		mux.HandleFunc("GET /debug/pprof/"+path, func(w http.ResponseWriter, r *http.Request) {
			if switches(r) || !local(r) {
				if err := s.allowed(r); err != nil {
					w.Header().Set("www-authenticate", `Basic realm="trimtab"`)
					http.Error(w, err.Error(), http.StatusUnauthorized)
					return
				}
			}
			if v := r.FormValue("seconds"); v != "" {
				if n, err := strconv.ParseFloat(v, 64); err != nil || n <= 0 || n > maxProfile {
					http.Error(w, fmt.Sprintf("seconds must be above 0 and at most %d", maxProfile), http.StatusBadRequest)
					return
				}
			}
			h(w, r)
		})
	}
}
