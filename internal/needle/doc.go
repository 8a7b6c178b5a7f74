// Package needle holds the tests that nothing an agent needs is hidden: a fact
// planted anywhere in a recorded tool result is still there when it is forwarded,
// or a mark at the gap counts what was cut, and the lines of a failure survive
// every preset. It has no code of the product's.
package needle
