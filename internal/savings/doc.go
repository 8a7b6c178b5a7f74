// Command savings writes the figures of docs/savings.md: it replays recorded
// conversations through presets at storage levels and prints what `trimtab replay`
// says of them as tables.
//
//	go run ./internal/savings CONVERSATIONS
package main
