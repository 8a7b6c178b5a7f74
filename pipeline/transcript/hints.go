package transcript

import (
	"encoding/json"
	"strings"
)

// sessionOf finds the session in Anthropic's metadata.user_id: a JSON object's
// session_id, or what follows _session_. Any other
// user id is no session: one user has many conversations.
func sessionOf(userID string) string {
	if strings.HasPrefix(userID, "{") && len(userID) <= 1024 {
		var o struct {
			SessionID string `json:"session_id"`
		}
		if json.Unmarshal([]byte(userID), &o) == nil {
			return usable(o.SessionID)
		}
		return ""
	}
	if _, s, ok := strings.Cut(userID, "_session_"); ok {
		return usable(s)
	}
	return ""
}

// usable accepts ids of up to 128 characters of [A-Za-z0-9._:-], not only dots.
func usable(id string) string {
	if len(id) == 0 || len(id) > 128 || strings.Trim(id, ".") == "" {
		return ""
	}
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._:-", c) >= 0:
		default:
			return ""
		}
	}
	return id
}

// hints finds the first user text, without system reminders.
func (p *parser) hints() {
	h := &p.t.Hints
	h.TaskID, h.PromptCacheKey = usable(h.TaskID), usable(h.PromptCacheKey)
	for _, m := range p.t.Messages {
		if m.Role != "user" {
			continue
		}
		for _, b := range m.Blocks {
			if b.Text.Len() < 2 {
				continue
			}
			raw := p.body[b.Text.Start+1 : b.Text.End-1]
			if strings.HasPrefix(strings.TrimSpace(string(raw[:min(len(raw), 64)])), "<system-reminder>") {
				continue
			}
			h.FirstUser = raw
			return
		}
	}
}
