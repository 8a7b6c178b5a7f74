//go:build race

package replay

// raceEnabled shortens what runs over the whole corpus.
const raceEnabled = true
