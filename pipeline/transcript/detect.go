package transcript

import "strings"

// Detect says from the path alone, without its query, which dialect a request
// may have. anthropicVersion says that the anthropic-version header is present,
// which decides for paths that are nobody's. Parse has the last word.
func Detect(path string, anthropicVersion bool) Dialect {
	path = strings.TrimSuffix(path, "/")
	switch {
	case strings.HasSuffix(path, "/v1/messages"), strings.HasSuffix(path, "/v1/messages/count_tokens"):
		return Anthropic
	case strings.HasSuffix(path, "/chat/completions"):
		return OpenAIChat
	case strings.HasSuffix(path, "/responses"):
		return OpenAIResponses
	case strings.HasSuffix(path, ":rawPredict"), strings.HasSuffix(path, ":streamRawPredict"):
		return Anthropic
	case strings.Contains(path, "/model/") && (strings.HasSuffix(path, "/invoke") || strings.HasSuffix(path, "/invoke-with-response-stream")):
		return Anthropic
	case anthropicVersion && strings.HasSuffix(path, "/messages"):
		return Anthropic
	}
	return None
}

// CountsTokens says that the request asks how many tokens a message has, and
// sends nothing to a model.
func CountsTokens(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, "/"), "/count_tokens")
}
