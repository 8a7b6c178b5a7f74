// Command bench measures how fast trimtab is and how much memory it takes, and
// writes the figures into docs/performance.md: `make bench`.
//
// Through a real Envoy it compares a trimtab process with a server of Envoy's
// protocol that does nothing, in the same body modes, by turns: on another machine,
// or a busy one, the milliseconds change and the ratios hardly do. Without Envoy it
// measures the CPU time of the engine and of each component of the catalogue, so a
// new component has a row as soon as it is listed there. A figure that misses its
// target is printed as missed and is no error. Everything stays on loopback.
package main
