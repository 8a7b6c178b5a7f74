package store

import "fmt"

// Level says what may be kept after an exchange has ended.
type Level uint8

// The storage levels. Off keeps counts, times and digests in memory; Metadata
// also facts, from which no text can be read back; Everything also texts.
const (
	Off Level = iota
	Metadata
	Everything
)

// ParseLevel reads a level's name.
func ParseLevel(s string) (Level, error) {
	for _, l := range []Level{Off, Metadata, Everything} {
		if l.String() == s {
			return l, nil
		}
	}
	return Off, fmt.Errorf("storage level %q: want off, metadata or everything", s)
}

func (l Level) String() string {
	switch l {
	case Off:
		return "off"
	case Metadata:
		return "metadata"
	default:
		return "everything"
	}
}
