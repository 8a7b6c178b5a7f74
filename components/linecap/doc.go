// Package linecap leaves out whole lines that a log has already shown word for
// word, and the middle of very long lines. It acts on the output of commands that
// do something and log it, never on what shows files, searches, differences or
// data, nor on text that looks like them, nor on the output of a failure.
//
// A mark behind the first of equal lines counts the others; a mark before the first
// line that was shortened counts those that were, and each says where and how many
// characters are missing: head...[123 characters cut]...tail. verify.Cuts adds all
// of it up.
package linecap
