// Package replay runs recorded conversations through the pipeline offline and
// prices what came in against what went out, with a simulator of the provider's
// prompt cache.
//
// A conversation is stored once, in a compact form, and expanded to the request
// bodies that its client sent, one a turn. The engine sees them as if the
// provider had answered each, at the times they were recorded with. What is
// measured is measured from the bodies alone, by code that shares nothing with
// the engine.
package replay
