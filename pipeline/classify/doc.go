// Package classify says what a tool call is and what its result holds.
//
// A call is told by the segments of its tool's name, by its arguments and, for a
// shell, by its command line, which is lexed and unwrapped but never executed or
// changed. A result is told by its call and, line-anchored, by its text. Both are
// pure functions without shared state, linear in what they are given, and never
// fail: what is not understood is Other, and costs savings, never correctness.
package classify
