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

func note(what, which string, d time.Duration) {
	if timing == nil {
		return
	}
	timingMu.Lock()
	defer timingMu.Unlock()
	fmt.Fprintf(timing, "%s %s %.1f\n", what, which, float64(d.Microseconds())/1000)
}
