package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

var (
	timing   *os.File
	timingMu sync.Mutex
)

func init() {
	if path := os.Getenv("TIMING_LOG"); path != "" {
		timing, _ = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	}
}

func note(what string, a, b time.Duration) {
	if timing == nil {
		return
	}
	timingMu.Lock()
	defer timingMu.Unlock()
	fmt.Fprintf(timing, "%s %.1f %.1f\n", what, float64(a.Microseconds())/1000, float64(b.Microseconds())/1000)
}
