// Package storetest is the contract suite of store implementations.
package storetest
