// Package document finds the JSON document in the text of a tool result, and walks
// valid JSON by byte offsets.
package document
