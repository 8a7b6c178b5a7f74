// Package heap sets how far the heap may grow between collections: far while it
// is small, since bodies come and go by the megabyte, and less the more is kept,
// so that resident memory stays near what is kept and a fixed room for work.
package heap
