//go:build !race

package needle

// How many results are looked at.
const (
	needles  = 200
	failures = 120
)
