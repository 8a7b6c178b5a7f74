// Command configdoc writes docs/configuration.md from the configuration schema:
// comments, defaults, bounds and environment variables all come from there.
package main
