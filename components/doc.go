// Package components is the list of all components. One folder below holds one
// component; nothing registers itself.
package components
