package extproc

import "testing"

func TestSignedBodiesAreKnown(t *testing.T) {
	for name, c := range map[string]struct {
		h    headers
		want bool
	}{
		"a key":                    {headers{"authorization": "Bearer sk-1", "x-api-key": "k"}, false},
		"AWS, signed body":         {headers{"authorization": "AWS4-HMAC-SHA256 Credential=x", "x-amz-content-sha256": "ab12"}, true},
		"AWS, no body hash header": {headers{"authorization": "AWS4-HMAC-SHA256 Credential=x"}, true},
		"AWS, unsigned payload":    {headers{"authorization": "AWS4-HMAC-SHA256 Credential=x", "x-amz-content-sha256": "UNSIGNED-PAYLOAD"}, false},
		"a digest":                 {headers{"content-digest": "sha-256=:x:"}, true},
		"an MD5":                   {headers{"content-md5": "x"}, true},
		"an HTTP signature":        {headers{"signature-input": `sig1=("content-digest")`}, true},
	} {
		if got := c.h.signed(); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
