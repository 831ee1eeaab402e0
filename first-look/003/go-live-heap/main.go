package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime/metrics"
	"strconv"
)

// A catalogue held in memory as people do: products in maps of pointers.
type product struct {
	name *string
	next *product
	tags []*string
}

var catalogue []map[int]*product

func load(n int) {
	for s := 0; s < 64; s++ {
		m := make(map[int]*product, n/64)
		var last *product
		for i := 0; i < n/64; i++ {
			name := "product " + strconv.Itoa(i)
			p := &product{name: &name, next: last, tags: []*string{&name, &name}}
			m[i], last = p, p
		}
		catalogue = append(catalogue, m)
	}
}

type row struct {
	Name  *string
	Price *int
}

func search(w http.ResponseWriter, r *http.Request) {
	rows := make([]*row, 0)
	m := catalogue[len(r.URL.Path)%64]
	for i := 0; i < 30000; i++ {
		if p := m[i%len(m)]; p != nil {
			price := i * 7
			rows = append(rows, &row{p.name, &price})
		}
	}
	json.NewEncoder(w).Encode(rows[len(rows)-20:])
}

func stats(w http.ResponseWriter, r *http.Request) {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/mark/assist:cpu-seconds"}, {Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/user:cpu-seconds"}, {Name: "/gc/cycles/total:gc-cycles"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	for _, x := range s {
		if x.Value.Kind() == metrics.KindFloat64 {
			fmt.Fprintln(w, x.Name, x.Value.Float64())
		} else {
			fmt.Fprintln(w, x.Name, x.Value.Uint64())
		}
	}
}

func main() {
	n, _ := strconv.Atoi(os.Getenv("PRODUCTS"))
	load(n)
	http.HandleFunc("/search/", search)
	http.HandleFunc("/stats", stats)
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok\n")) })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
