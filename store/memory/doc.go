// Package memory keeps facts and texts in the process's own memory, bounded by
// entries, bytes and time.
package memory
