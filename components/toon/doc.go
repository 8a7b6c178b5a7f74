// Package toon writes a JSON array of objects that all have the same keys as a
// table: the keys once, and one row for each object. Numbers, strings and keys are
// the bytes of the document; only brackets, repeated keys and needless quotes go.
//
// It declines what it would have to escape anew: keys that are no plain names,
// objects of other keys or in another order, nested values, and documents that are
// a part of others.
package toon
