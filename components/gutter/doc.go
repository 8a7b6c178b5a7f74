// Package gutter shows only some of the line numbers in front of the lines of a
// file: the first, the last and every tenth. The others follow from counting, so
// nothing is lost.
//
// It is the wrong component where an agent edits by line number, since a
// miscount would change the wrong line; it switches itself off there.
package gutter
