// Package textclean removes what a terminal consumes instead of showing: colour
// and cursor sequences, titles, and the earlier states of lines that were drawn
// again, such as progress bars. What a terminal would have shown stays, byte for
// byte.
//
// It is the wrong component for output whose escape sequences are the point, for
// example when a program that writes them is being debugged.
package textclean
