package figures

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine is what the process runs on: cores, processor and kernel.
func Machine() string {
	cpu := runtime.GOARCH
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	kernel, err := exec.Command("uname", "-sr").Output()
	if err != nil {
		kernel = []byte(runtime.GOOS)
	}
	return fmt.Sprintf("%d cores (%s), %s", runtime.NumCPU(), cpu, bytes.TrimSpace(kernel))
}

// Begin and End are the lines around the block of a page that a target writes.
func Begin(target string) string { return "<!-- begin: written by make " + target + " -->" }

// End is the line after the block.
func End(target string) string { return "<!-- end: written by make " + target + " -->" }

// Replace puts a text into a page in place of the target's last one.
func Replace(page, target, text string) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(data), Begin(target))
	_, tail, ok2 := strings.Cut(rest, End(target))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no block of make %s", page, target)
	}
	return os.WriteFile(page, []byte(head+Begin(target)+"\n\n"+text+"\n"+End(target)+tail), 0o644)
}
