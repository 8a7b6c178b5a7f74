// Package figures puts measured figures into a page of the documentation, and says
// what machine they were measured on.
package figures
