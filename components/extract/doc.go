// Package extract takes noise out of the output of commands that is noise beyond
// doubt: blocks of lines that are printed again and again without anything between
// them, lines that are nothing but a progress bar, and runs of blank lines.
//
// Each gap is marked where it is. Repeated blocks are counted exactly, so that the
// text can be put together again from the marks; a row of numbers with a percent
// sign is data unless there is a bar in it or the terminal drew over it. Results of
// reads, searches and data are never touched, nor is the output of a failure.
package extract
