// Package service puts the parts of one trimtab process together: the
// configuration, the engine with its components and store, the server that Envoy
// calls, and the admin server. It holds no logic of its own beyond their order
// at start, reload and end.
package service
