// Command soak runs a real trimtab process and a real Envoy under load, injects
// faults, and writes a report into docs/reliability.md: `make soak`.
//
// It has two parts. The first holds many streams open and watches the process's
// memory. The second lets agents converse while the process is killed, stopped,
// drained and configured anew, while the provider refuses requests and clients
// leave. Each request is checked: it must arrive once, as it was sent or exactly as
// a process that never died would have rewritten it, and its answer must come back
// whole. Everything stays on loopback.
package main
