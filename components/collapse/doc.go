// Package collapse is the last resort against very large results of commands: it
// shows their head, their tail and every line that reports something with the lines
// around it, and marks each gap at its place with the number of lines. Of a single
// line that is too long it shows both ends.
//
// It works on the output of commands that did not fail and that show no file, no
// search and no data. How much it shows follows from its settings alone, never from
// the model's window or from the rest of the request, so that a result is cut in the
// same way on every turn.
package collapse
