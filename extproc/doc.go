// Package extproc is the external-processing server that Envoy calls: one gRPC
// stream is one exchange of a request and its answer.
//
// It decides at the request headers whether Envoy should hand over the body,
// hands the body to the engine, sends the result, and reads from the answer what
// the provider billed. Each message of Envoy is answered in time, whatever
// happens: a failure lets the request go on as it came. The base mode of the
// filter is headers only; every body mode is an answer of this server, since only
// then does the original stay in Envoy.
//
// The package knows Envoy and no component. Metrics leave it through [Observer].
package extproc
