// A server with a mutex that every request takes, and a goroutine that sleeps under it.
//
//	mutex PORT MODE HOLD_MS PERIOD_MS
//
// The mode is "lock", or "beside" for the same sleep without the mutex. The profile of the mutex
// is at /debug/pprof/mutex.
package main

import (
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

var (
	mu     sync.Mutex
	served int
)

func millis(text string) time.Duration {
	value, err := strconv.Atoi(text)
	if err != nil {
		log.Fatal(err)
	}
	return time.Duration(value) * time.Millisecond
}

//go:noinline
func flushLocked(hold time.Duration) {
	mu.Lock()
	defer mu.Unlock()
	time.Sleep(hold)
}

func flusher(mode string, hold, period time.Duration) {
	for {
		time.Sleep(period)
		if mode == "lock" {
			flushLocked(hold)
		} else {
			time.Sleep(hold)
		}
	}
}

func handle(w http.ResponseWriter, _ *http.Request) {
	mu.Lock()
	served++
	mu.Unlock()
	_, _ = io.WriteString(w, "ok\n")
}

func main() {
	if len(os.Args) != 5 {
		log.Fatal("usage: mutex PORT MODE HOLD_MS PERIOD_MS")
	}
	runtime.SetMutexProfileFraction(1)
	go flusher(os.Args[2], millis(os.Args[3]), millis(os.Args[4]))
	http.HandleFunc("/", handle)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
