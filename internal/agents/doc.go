// Package agents runs real coding agents through Envoy and trimtab against the
// scripted provider: Claude Code, Codex, opencode and aider, each in the version
// that is pinned here. They are not needed to build trimtab, and `make test-tools`
// installs them.
//
// The agents run in a network namespace that has the loopback interface alone, with
// keys that are none, in a home of their own that ends with the test.
package agents
