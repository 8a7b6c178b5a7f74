//go:build race

package components

// many is how many tiny results the hostile bodies have, and large how many
// larger ones: the race detector makes them take minutes, so that the full
// numbers are run without it.
const (
	many  = 10_000
	large = 1_000
	// checks is how many conversations each property is held against.
	checks = "12"
	// alone says that single components are held at all levels as well.
	alone = false
)
