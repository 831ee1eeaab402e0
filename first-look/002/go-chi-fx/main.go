package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"

	"github.com/go-chi/chi/v5"
)

type Rates struct {
	mu     sync.Mutex
	values map[string]float64
}

func (r *Rates) Get(currency string) (float64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.values[currency]
	return v, ok
}

func (r *Rates) Refresh(source, currency string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	resp, err := http.Get(source + "/rate/" + currency)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct{ Rate float64 }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	io.Copy(io.Discard, resp.Body)
	r.values[currency] = answer.Rate
	return nil
}

func main() {
	rates := &Rates{values: map[string]float64{"USD": 1.08, "GBP": 0.86, "CHF": 0.95, "SEK": 11.4, "JPY": 161}}
	source := os.Getenv("SOURCE")
	r := chi.NewRouter()
	r.Get("/", func(w http.ResponseWriter, q *http.Request) { fmt.Fprintln(w, "ok") })
	r.Get("/convert/{currency}", func(w http.ResponseWriter, q *http.Request) {
		v, ok := rates.Get(chi.URLParam(q, "currency"))
		if !ok {
			http.NotFound(w, q)
			return
		}
		fmt.Fprintf(w, "%.2f\n", 100*v)
	})
	r.Post("/refresh/{currency}", func(w http.ResponseWriter, q *http.Request) {
		if err := rates.Refresh(source, chi.URLParam(q, "currency")); err != nil {
			http.Error(w, err.Error(), 502)
			return
		}
		w.WriteHeader(204)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), r))
}
