// Package provider is a scripted model provider for tests and for the demo: an
// HTTP handler that speaks Anthropic Messages, OpenAI Chat Completions and
// OpenAI Responses, as JSON and as server-sent events.
//
// It enforces the rules by which the real providers refuse a request, with the
// errors they give, bills with a simulator of their prompt caches, and records
// what it was sent. Its answers come from a script or, without one, are a loop
// of tool calls made from the request; the same request always gets the same
// answer. It contacts nobody.
package provider
