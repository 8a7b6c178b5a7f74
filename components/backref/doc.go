// Package backref replaces lines of a tool result that already stand, in full,
// earlier in the same request by a reference to them: a file read again, a range
// inside one already read, the same diff, what a write put into a file. Nothing
// is hidden and nothing is kept: what is pointed at is in the model's context,
// and it is looked up in the request itself on every turn.
//
// It is the wrong component where the provider drops earlier content by itself;
// it switches itself off there.
package backref
