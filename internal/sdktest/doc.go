// Package sdktest drives a tool conversation of a dozen turns with the
// providers' official Python SDKs, against any address: what a user's agent
// does, and what it trips over.
//
// The SDKs are pinned in requirements.txt and installed, once, into a virtual
// environment under the checkout's .venv folder.
package sdktest
