// Package demo replays one conversation of a coding agent over HTTP, against a
// scripted provider, and prints turn by turn what it costs with trimtab in
// between and what it would have cost without.
//
// The conversation, conversation.json, is in the compact form of package replay.
// It was recorded while fixing a bug of a small program that was written for
// this purpose: the outputs in it are what the commands really printed.
package demo
