// Package admin is what an operator looks at: health, metrics, statistics that
// explain every zero, and the configuration in force. It is served on an address
// of its own, loopback unless configured, and never shows text of a request.
package admin
