// stands for the core banking system, which takes 120 ms for a list of bookings
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/bookings/{account}", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(120 * time.Millisecond)
		fmt.Fprintf(w, `[{"account":"%s","amount":-12.5},{"amount":100}]`, r.PathValue("account"))
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
