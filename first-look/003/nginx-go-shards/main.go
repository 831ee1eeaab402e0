package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

// depot PORT TIME: one of the depots, which looks a parcel up on its own disk.
func main() {
	d, err := time.ParseDuration(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/parcels/", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(d)
		fmt.Fprintln(w, "depot", os.Args[1], r.URL.Path)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
