// Package mask cuts old tool results down to a one-line note, on turns on which
// the provider's cache has expired and the whole transcript is written again
// anyway.
//
// Do not use it where an agent can't run a tool again: what is cut is not kept.
package mask
