package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gorilla/mux"
)

var printers chan struct{}

// label renders one shipping label; the label printer service answers in 30 ms.
func label(w http.ResponseWriter, r *http.Request) {
	printers <- struct{}{}
	defer func() { <-printers }()
	time.Sleep(30 * time.Millisecond)
	json.NewEncoder(w).Encode(map[string]string{"id": mux.Vars(r)["id"], "label": "PDF"})
}

func main() {
	n, _ := strconv.Atoi(os.Getenv("PRINTERS"))
	printers = make(chan struct{}, n)
	m := mux.NewRouter()
	m.HandleFunc("/labels/{id}", label)
	m.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok\n")) })
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), m)
}
