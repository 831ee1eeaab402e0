// collector stands for the error tracker's ingest: it takes an envelope in 70 to 150 ms.
package main

import (
	"io"
	"math/rand"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		time.Sleep(time.Duration(70+rand.Intn(80)) * time.Millisecond)
		w.Write([]byte(`{"id":"0"}`))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
