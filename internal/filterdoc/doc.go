// Package filterdoc writes docs/filters.md: every built-in filter with what it acts
// on, what it leaves out, and an output before and after. The page is written from
// the filters and their fixtures, and a test keeps it in step with them.
package filterdoc
