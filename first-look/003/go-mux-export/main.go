package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/gorilla/mux"
)

type entry struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

type board struct {
	mu      sync.RWMutex
	entries []entry
}

func main() {
	b := &board{}
	for i := 0; i < 9000; i++ {
		b.entries = append(b.entries, entry{i, strings.Repeat(fmt.Sprint("entry ", i, " "), 80)})
	}
	direct := os.Getenv("EXPORT") == "direct"
	r := mux.NewRouter()
	r.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {})
	r.HandleFunc("/entry/{id:[0-9]+}", func(w http.ResponseWriter, r *http.Request) {
		var id int
		fmt.Sscan(mux.Vars(r)["id"], &id)
		b.mu.Lock()
		defer b.mu.Unlock()
		e := &b.entries[id%len(b.entries)]
		e.Text = strings.ToUpper(e.Text[:1]) + e.Text[1:]
		json.NewEncoder(w).Encode(map[string]int{"saved": e.ID})
	}).Methods("PUT")
	// the whole board, one JSON object a line
	r.HandleFunc("/export", func(w http.ResponseWriter, r *http.Request) {
		enc := json.NewEncoder(w)
		b.mu.RLock()
		list := b.entries
		if direct {
			defer b.mu.RUnlock()
		} else {
			list = append([]entry(nil), b.entries...)
			b.mu.RUnlock()
		}
		for _, e := range list {
			enc.Encode(e)
		}
	}).Methods("GET")
	log.Fatal(http.ListenAndServe(os.Args[1], r))
}
