// Package dependence writes docs/data-dependence.md: what each component and
// each feature keeps, and what it does at each storage level. The rows of
// components come from their own descriptions; a test runs every cell.
package dependence
