// Package reader answers, from a forwarded body alone, what a reader of the
// transcript would want to know: what the text of line N of a result is, and
// which line has a text. It is written from the description of the marks and
// shares nothing with the product: it is the judge of the components that write
// them.
package reader
