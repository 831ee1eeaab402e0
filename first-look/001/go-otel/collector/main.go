package main

import (
	"io"
	"log"
	"math/rand"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/v1/traces", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if rand.Float64() < 0.3 {
			time.Sleep(120 * time.Millisecond)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
