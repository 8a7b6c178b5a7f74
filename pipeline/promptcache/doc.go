// Package promptcache knows what the provider's prompt cache holds and what it
// costs: conversations and threads, the boundary of what was forwarded, when a
// cache is cold, the two digest chains that measure prefix purity, usage, prices,
// and a simulator of the providers' billing.
//
// The tracker keeps counts, times and digests in memory at every storage level,
// and nothing else.
package promptcache
