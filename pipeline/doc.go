// Package pipeline decides which spans of a request change, and proves that the
// rest does not.
//
// Data flows one way: bytes, transcript, edits, bytes. The law it keeps is
// prefix purity: the bytes forwarded for a message that was already forwarded
// never change, unless a recorded, priced decision says so. See
// docs/how-it-works.md.
package pipeline
