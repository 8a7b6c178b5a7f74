// Package tokens estimates how many tokens a text costs, cheaply and repeatably.
//
// The estimate is additive over lines, the same in every process, and versioned:
// the version is part of a conversation's generation, since gates depend on it.
// Exact counting costs 200 ms of CPU per megabyte, which no request can afford;
// the exact counter lives in the tests, which calibrate this one against it.
package tokens
