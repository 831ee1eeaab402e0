// provider is a stand-in for a payment provider in another data centre: a charge takes 100 to 160 ms there.
package main

import (
	"math/rand"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/charge", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(100+rand.Intn(60)) * time.Millisecond)
		w.Header().Set("X-Receipt", "r-"+r.URL.Query().Get("order"))
		w.Write([]byte("charged\n"))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
