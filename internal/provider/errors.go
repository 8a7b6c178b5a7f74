package provider

import (
	"net/http"

	"github.com/trimtab-io/trimtab/pipeline/promptcache"
)

// apiError is an error as the providers return it.
type apiError struct {
	status  int
	message string
	param   string // OpenAI: the member that is wrong
	code    string // OpenAI
}

func (e *apiError) Error() string { return e.message }

func badRequest(param, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, message: message, param: param}
}

// refuse turns the first broken rule into the provider's error.
func (ex *exchange) refuse(found []Violation) error {
	ex.record.Violations = found
	if len(found) == 0 {
		return nil
	}
	v := found[0]
	err := badRequest(v.Where, v.Message)
	if ex.wire == promptcache.WireResponses && v.Rule == "encrypted_content" {
		err.code = "invalid_encrypted_content"
	}
	return err
}

var anthropicErrorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
	404: "not_found_error", 405: "invalid_request_error", 413: "request_too_large",
	429: "rate_limit_error", 529: "overloaded_error",
}

var openAIErrorTypes = map[int]string{
	401: "authentication_error", 429: "rate_limit_exceeded", 500: "server_error", 503: "server_error",
}

// fail answers with an error in the wire's shape.
func (ex *exchange) fail(err error) {
	e, ok := err.(*apiError) //nolint:errorlint // never wrapped
	if !ok {
		e = &apiError{status: http.StatusInternalServerError, message: err.Error()}
	}
	if e.status == http.StatusTooManyRequests {
		ex.w.Header().Set("Retry-After", "1")
	}
	if ex.wire == promptcache.WireAnthropic || ex.wire == "" {
		typ := anthropicErrorTypes[e.status]
		if typ == "" {
			typ = "api_error"
		}
		ex.json(e.status, object{
			{"type", "error"},
			{"error", object{{"type", typ}, {"message", e.message}}},
			{"request_id", ex.id("req_", "error")},
		})
		return
	}
	typ := openAIErrorTypes[e.status]
	if typ == "" {
		typ = "invalid_request_error"
	}
	ex.json(e.status, object{{"error", object{
		{"message", e.message}, {"type", typ}, {"param", nullable(e.param)}, {"code", nullable(e.code)},
	}}})
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}
