// Goroutines that wait in every way that is told apart, for as long as its input is open.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

var (
	mu    sync.Mutex
	table sync.RWMutex
	queue = make(chan int)
	group sync.WaitGroup
)

//go:noinline
func holdsTheLock() {
	mu.Lock()
	defer mu.Unlock()
	time.Sleep(time.Hour)
}

//go:noinline
func wantsTheLock() {
	mu.Lock()
	defer mu.Unlock()
}

//go:noinline
func wantsTheTable() {
	table.RLock()
	defer table.RUnlock()
}

//go:noinline
func sends() { queue <- 1 }

//go:noinline
func selects() {
	select {
	case <-make(chan int):
	case <-make(chan string):
	case <-time.After(time.Hour):
	}
}

//go:noinline
func receivesForATime() {
	select {
	case <-make(chan int):
	case <-time.After(time.Hour):
	}
}

//go:noinline
func waitsForTimeOrEnd() {
	select {
	case <-make(chan struct{}):
	case <-time.After(time.Hour):
	}
}

//go:noinline
func waitsForTimer() { <-time.After(time.Hour) }

//go:noinline
func waitsForGroup() {
	group.Add(1)
	group.Wait()
}

//go:noinline
func reads(connection net.Conn) { _, _ = connection.Read(make([]byte, 1)) }

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	dialled, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		panic(err)
	}
	table.Lock()
	go holdsTheLock()
	time.Sleep(50 * time.Millisecond)
	for _, f := range []func(){
		wantsTheLock, wantsTheTable, sends, selects, receivesForATime, waitsForTimeOrEnd, waitsForTimer, waitsForGroup,
	} {
		go f()
	}
	go reads(dialled)
	time.Sleep(50 * time.Millisecond)
	fmt.Println(dialled.LocalAddr())
	_, _ = io.Copy(io.Discard, bufio.NewReader(os.Stdin))
}
