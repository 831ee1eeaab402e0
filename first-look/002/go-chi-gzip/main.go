package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

type Part struct {
	ID    int      `json:"id"`
	Name  string   `json:"name"`
	Price float64  `json:"price"`
	Tags  []string `json:"tags"`
}

func main() {
	var parts []Part
	for i := 0; i < 2500; i++ {
		parts = append(parts, Part{i, fmt.Sprintf("part %d of %d", i, i*7919%2500), float64(i*37%1000) / 8, []string{"m" + strconv.Itoa(i%12), "steel"}})
	}
	r := chi.NewRouter()
	r.Use(middleware.Compress(5))
	r.Get("/", func(w http.ResponseWriter, q *http.Request) { fmt.Fprintln(w, "ok") })
	r.Get("/parts", func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(parts)
	})
	r.Get("/parts/{id}", func(w http.ResponseWriter, q *http.Request) {
		id, err := strconv.Atoi(chi.URLParam(q, "id"))
		if err != nil || id < 0 || id >= len(parts) {
			http.NotFound(w, q)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(parts[id])
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), r))
}
