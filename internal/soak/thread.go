package main

import "runtime"

// lockThread keeps the goroutine on its thread for good: the kernel ends a child
// with the thread that started it.
func lockThread() { runtime.LockOSThread() }
