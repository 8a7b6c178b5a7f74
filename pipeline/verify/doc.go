// Package verify decodes what the reversible components wrote: references,
// thinned-out gutters, grouped rows and shortened paths, all marks of a block
// together, back to the text those components were given.
//
// It is written from the description of the marks and shares no code with the
// components that write them, so that a mistake on one side is found by the
// other. It needs the texts of earlier results and arguments as received, which
// are in the same request.
package verify
