// Package smartcrush shows only some objects of long JSON arrays in tool results: the
// first, the last, and those with a value that says that something went wrong. In
// place of the others stands a string that counts them, so that the text stays
// valid JSON: "[trimtab cut 12 items]".
//
// Everything else stays byte for byte. It looks at an array that is the whole
// document and at arrays one level down in an object, never at results that show
// files or searches, nor at failures.
package smartcrush
