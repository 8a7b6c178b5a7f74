// Package cachesplit splits a large system block in two before the part that
// changes from session to session, so that the breakpoint covers only what
// stays the same and the next session can read it from the provider's cache.
//
// It is of no use where every session's system prompt is the same, or different
// from its first line.
package cachesplit
