// stands for the supplier's service: prices at once, forecasts in 200 ms
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/price/{sku}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"sku":"%s","price":%d.99}`, r.PathValue("sku"), len(r.PathValue("sku"))*3)
	})
	http.HandleFunc("/forecast/{sku}", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(200 * time.Millisecond)
		fmt.Fprintf(w, `{"sku":"%s","weeks":[12,14,11,19]}`, r.PathValue("sku"))
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
