// Package cmdfilter leaves progress, advice and other boilerplate out of the
// output of commands it has a filter for, and says in a mark at each gap how many
// lines it left out. Filters are written in a small language, one file a family;
// AUTHORING.md is its manual.
//
// A filter is looked up by the program that a call runs, so that a result of an
// unknown command costs nothing. Lines are kept byte for byte or left out whole.
// The output of a command that failed stays as it is, unless a stage says that it
// is about noise around the failure; lines with words that report a failure stay
// in any case. There is no text of ours that claims success.
//
// It is the wrong component for files, searches and data, which it leaves alone.
package cmdfilter
