// Package envoytest runs the product against a real Envoy in tests: `trimtab
// up`'s own code in front of the scripted provider. When a test fails it shows
// what Envoy and the server said.
package envoytest
