// Package transcript locates the messages, content blocks, tool calls and tool
// results of a request body by byte offset, in every dialect, and never
// re-serialises any of it.
//
// Parse reads the body once. What it does not know it neither sees nor changes;
// what is not JSON, or not a shape it knows, it refuses with a reason, and the
// caller forwards the body as it came.
package transcript
