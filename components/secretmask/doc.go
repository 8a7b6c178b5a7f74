// Package secretmask puts a placeholder in the place of each secret in a tool
// result, before any other component sees the text. What it takes for a secret is
// pipeline/redact's affair; this is its form on the wire.
//
// It is the wrong component where an agent has to handle the secret itself: it sees
// a placeholder, and an edit that quotes one does not apply.
package secretmask
