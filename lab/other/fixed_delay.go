// A handler that sleeps for a constant time before it answers.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

func main() {
	port := flag.Int("port", 0, "port to listen on; 0 is a free one")
	delayMs := flag.Float64("delay-ms", 13, "length of the sleep")
	healthy := flag.Bool("healthy", false, "do not sleep")
	flag.Parse()
	delay := time.Duration(*delayMs * float64(time.Millisecond))
	cause := "fixed-delay"
	if *healthy {
		delay, cause = 0, "none"
	}
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("{\"listening\":%q,\"cause\":%q,\"healthy\":%t}\n", listener.Addr(), cause, *healthy)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			time.Sleep(delay)
		}
		io.WriteString(w, "hello\n")
	}
	log.Fatal(http.Serve(listener, http.HandlerFunc(handler)))
}
