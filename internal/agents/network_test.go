package agents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"unsafe"
)

// alone is set in the process that has no network but the loopback interface.
const alone = "TRIMTAB_AGENTS_ALONE"

// TestMain runs the tests in a network namespace of their own: whatever an agent
// tries, it reaches nobody.
func TestMain(m *testing.M) {
	if os.Getenv("TRIMTAB_AGENTS") == "" {
		os.Exit(m.Run())
	}
	if os.Getenv(alone) == "" {
		os.Exit(inNamespace())
	}
	if err := raiseLoopback(); err != nil {
		fmt.Fprintln(os.Stderr, "the loopback interface of the namespace:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// inNamespace runs this process again, without a network.
func inNamespace() int {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), alone+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "agents run only without a network, and no network namespace can be made here:", err)
		return 1
	}
	return 0
}

// raiseLoopback brings the loopback interface up, which a new namespace has down.
func raiseLoopback() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := struct { // ifreq
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}
