// A server that serves its profiles, and has a lead in them or none.
//
//	profiled PORT MODE
//
// The mode is "hot" (one function computes), "lock" (all requests work under one mutex) or
// "healthy" (work is spread over several functions, none of which stands out, and requests mostly
// sleep).
package main

import (
	"hash/crc32"
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
	mu    sync.Mutex
	table [4096]byte
	total uint32
)

//go:noinline
func scramble(rounds int) uint32 {
	sum := uint32(1)
	for i := 0; i < rounds; i++ {
		sum = sum*1664525 + uint32(table[i%len(table)]) + 1013904223
	}
	return sum
}

//go:noinline
func countLocked(rounds int) uint32 {
	mu.Lock()
	defer mu.Unlock()
	total += scramble(rounds)
	return total
}

//go:noinline
func render(value uint32) string {
	text := ""
	for i := 0; i < 20; i++ {
		text += strconv.Itoa(int(value) + i)
	}
	return text
}

func handle(mode string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		var value uint32
		switch mode {
		case "hot":
			value = scramble(1_500_000)
		case "lock":
			value = countLocked(1_000_000)
		default:
			time.Sleep(5 * time.Millisecond)
			value = crc32.ChecksumIEEE(table[:])
		}
		_, _ = io.WriteString(w, render(value))
	}
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: profiled PORT MODE")
	}
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(10_000)
	http.HandleFunc("/", handle(os.Args[2]))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
