// Package corpus tells tests where recorded traffic is, which is no part of the
// repository.
package corpus
