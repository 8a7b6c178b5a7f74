// Package envoy is everything that an operator puts into Envoy: the one
// definition of the trimtab filter, a complete configuration around it, and a
// way to find, check, start and end an Envoy.
//
// The filter is defined once, as a message ([Filter]). The configuration that
// `trimtab up` runs, the files in deploy/examples and what `trimtab envoy`
// prints are all made from it, so that they cannot drift apart.
package envoy

//go:generate sh -c "go run ../cmd/trimtab envoy config > ../deploy/examples/envoy.yaml"
