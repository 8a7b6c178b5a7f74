// Package redact finds secrets in text and writes placeholders in their place. It
// is what the wire form (the component secretmask) and everything that writes text
// anywhere (the Store of texts) share: one detector, three tiers.
//
// Tier 1 are tokens that are known by their shape, tier 2 values that are known by
// what stands before them (a key, a header, a command), tier 3 values that look
// random. A text is read once from left to right; nothing but two bytes of it are
// looked at where no rule begins. A secret's value leaves no trace in a result but
// its place and its kind.
//
// A detector is immutable and safe for concurrent use; what it finds follows from
// the text and its options alone.
package redact
