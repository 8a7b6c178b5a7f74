// Package trimtabv1 is the only definition of trimtab's configuration and of
// what it publishes as Envoy metadata.
//
// The messages are generated from the .proto files beside it. Every setting
// carries its default, its bounds and its environment variable as a [Rule];
// [Fill] and [Check] apply them, so that no other place repeats a default.
package trimtabv1
