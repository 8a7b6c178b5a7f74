// Package searchfold states long, repeated path prefixes of search results and
// file lists once: a directory that many lines begin with in a mark, and a path
// that follows itself as a heading over its rows. Both have an exact inverse.
//
// It is the wrong component for sources and diffs, whose lines only look like
// rows by accident; it leaves those alone.
package searchfold
