// Package store keeps what outlives an exchange: facts, from which no text can
// be read back, and texts. They are two stores behind one, so that the compiler
// keeps the promise of the storage levels: where no text may be kept there is no
// Texts value to hold.
package store
