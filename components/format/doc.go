// Package format takes the white space out of JSON in tool results: pretty-printed
// documents, alone or behind a few lines of preamble, and documents that stand as
// text in a field of another. Keys, their order, numbers, escapes and doubled keys
// stay byte for byte; the line breaks between the first levels of a document stay
// too, so that it can still be read and referred to by line.
//
// It is the wrong component for results whose layout is the point. Files that were
// read are never touched: an edit has to find the text that was shown.
package format
