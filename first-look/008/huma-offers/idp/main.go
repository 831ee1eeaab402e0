// stands for the partners' identity provider: checks a client secret and issues tokens of eleven seconds
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/{partner}/token", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(180 * time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"%s-%d","token_type":"Bearer","expires_in":11}`, r.PathValue("partner"), time.Now().UnixNano())
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
