// Product service: a small REST server with a searchable cold store behind it.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strings"
	"time"
)

type product struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Cost int    `json:"cost"`
}

func main() {
	cold := os.Getenv("COLD_STORE") != ""
	http.HandleFunc("GET /products", func(w http.ResponseWriter, r *http.Request) {
		if cold { // the store answers in 4 to 8 ms
			time.Sleep(4*time.Millisecond + time.Duration(rand.Int63n(int64(4*time.Millisecond))))
		}
		var out []product
		for _, id := range strings.Split(r.URL.Query().Get("ids"), ",") {
			out = append(out, product{id, "Product " + id, len(id)*100 + 99})
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(out)
	})
	fmt.Println("products on", os.Args[1])
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
