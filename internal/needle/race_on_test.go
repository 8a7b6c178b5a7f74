//go:build race

package needle

// How many results are looked at: bodies are read whole, which is slow here.
const (
	needles  = 24
	failures = 24
)
