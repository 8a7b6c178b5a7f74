// Package config turns a file, environment variables and flags into the
// configuration that is in force, and says of each value where it came from.
//
// A value comes from, in falling order: a flag, an environment variable, the
// file, the preset, the default in the schema. What [Load] returns is immutable;
// a change of the file gives a new one through [Watcher].
package config
