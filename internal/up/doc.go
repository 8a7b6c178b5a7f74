// Package up runs a trimtab process with an Envoy of its own in front of the
// providers: `trimtab up`, the demo and the end-to-end tests are this package.
package up
