package main

import (
	"fmt"
	"runtime"

	"github.com/trimtab-io/trimtab/envoy"
)

type versionCommand struct{}

// Run prints the versions.
func (versionCommand) Run(a *app) error {
	_, err := fmt.Fprintf(a.stdout, "trimtab %s (%s %s/%s), for Envoy %s and newer\n",
		version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, envoy.MinVersion)
	return err
}
