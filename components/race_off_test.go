//go:build !race

package components

// many is how many tiny results the hostile bodies have, and large how many
// larger ones.
const (
	many  = 100_000
	large = 8_000
	// checks is how many conversations each property is held against.
	checks = "100"
	// alone says that single components are held at all levels as well.
	alone = true
)
