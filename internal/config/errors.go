package config

import (
	"fmt"
	"strings"
)

// Error is one thing that is wrong in a configuration, in one plain sentence.
type Error struct {
	File string // the file, or the environment variable or flag
	// Line and Column are 1-based; 0 if the value is in no file.
	Line, Column int
	Message      string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors is everything that is wrong in a configuration, in the order of the file.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// err returns e as an error, or nil if it is empty.
func (e Errors) err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// FromFlags says that all that is wrong was given on the command line.
func (e Errors) FromFlags() bool {
	for _, err := range e {
		if !strings.HasPrefix(err.File, "--") {
			return false
		}
	}
	return len(e) > 0
}
