// Header and body in two writes without TCP_NODELAY, which Go would set by default: Nagle's
// algorithm holds the second until the client acknowledges the first.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
)

const body = "hello\n"

func serve(conn *net.TCPConn, healthy bool) {
	defer conn.Close()
	if err := conn.SetNoDelay(healthy); err != nil {
		return
	}
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(body))
	reader := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		for _, part := range []string{head, body} {
			if _, err := io.WriteString(conn, part); err != nil {
				return
			}
		}
		if request.Close {
			return
		}
	}
}

func main() {
	port := flag.Int("port", 0, "port to listen on; 0 is a free one")
	healthy := flag.Bool("healthy", false, "set TCP_NODELAY")
	flag.Parse()
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: *port}
	listener, err := net.ListenTCP("tcp4", address)
	if err != nil {
		log.Fatal(err)
	}
	cause := "delayed-ack"
	if *healthy {
		cause = "none"
	}
	fmt.Printf("{\"listening\":%q,\"cause\":%q,\"healthy\":%t}\n", listener.Addr(), cause, *healthy)
	for {
		conn, err := listener.AcceptTCP()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn, *healthy)
	}
}
