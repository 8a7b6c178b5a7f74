// Package layout holds tests about the repository as a whole: which package may
// import which, and which folders and files there have to be. It has no code.
package layout
