package main

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpuOf is the CPU time of a process so far; 0 is this one.
func cpuOf(pid int) (time.Duration, error) {
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != 0 {
		// The kernel's number for the CPU clock of another process: all bits of its
		// id turned, above three that say which clock.
		const scheduled = 2
		clock = int32(^pid)<<3 | scheduled
	}
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

// resident is how much memory a process has, and the most that it ever had, in bytes.
func resident(pid int) (now, most int64, err error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(line, ":")
		if name != "VmRSS" && name != "VmHWM" {
			continue
		}
		kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil {
			return 0, 0, err
		}
		if name == "VmRSS" {
			now = kb << 10
		} else {
			most = kb << 10
		}
	}
	if now == 0 || most == 0 {
		return 0, 0, errors.New("the kernel does not say how much memory a process has")
	}
	return now, most, nil
}

type number interface {
	~int | ~int64 | ~uint64 | ~float64
}

// median is the middle value, the lower of two; 0 of none.
func median[T number](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// ratios are the quotients of values of the same round.
func ratios[T number](a, b []T) []float64 {
	var out []float64
	for i := range min(len(a), len(b)) {
		out = append(out, float64(a[i])/float64(b[i]))
	}
	return out
}
