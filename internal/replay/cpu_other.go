//go:build !linux

package replay

import "time"

// threadCPU can't be told here: CPU figures are zero.
func threadCPU() time.Duration { return 0 }
