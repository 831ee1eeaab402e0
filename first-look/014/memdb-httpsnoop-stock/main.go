// The stock book of a parts dealer: go-memdb (HashiCorp's in-memory database,
// as Nomad and Consul keep their state in it) behind net/http.
//
// GET  /lots/{id}     reads one lot (a read transaction, no lock)
// POST /take/{id}     takes one piece off a lot (a write transaction)
// POST /forecast/{n}  works out the demand of one warehouse and stores it with
//                     its lots; FORECAST=inside works it out inside the write
//                     transaction, FORECAST=before beforehand
package main

import (
	"fmt"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/felixge/httpsnoop"
	"github.com/hashicorp/go-memdb"
)

type lot struct {
	ID        int
	Warehouse int
	Pieces    int
	Demand    float64
}

const (
	lots       = 2000
	warehouses = 10
)

var (
	inside = os.Getenv("FORECAST") == "inside"
	trace  = os.Getenv("TRACE") == "1"
	db     *memdb.MemDB
)

func open() *memdb.MemDB {
	d, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		"lot": {Name: "lot", Indexes: map[string]*memdb.IndexSchema{
			"id":        {Name: "id", Unique: true, Indexer: &memdb.IntFieldIndex{Field: "ID"}},
			"warehouse": {Name: "warehouse", Indexer: &memdb.IntFieldIndex{Field: "Warehouse"}},
		}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	txn := d.Txn(true)
	for i := 0; i < lots; i++ {
		if err := txn.Insert("lot", &lot{ID: i, Warehouse: i % warehouses, Pieces: 100000}); err != nil {
			log.Fatal(err)
		}
	}
	txn.Commit()
	return d
}

// begin opens the write transaction: go-memdb lets in one writer at a time.
func begin(what string) *memdb.Txn {
	t0 := time.Now()
	txn := db.Txn(true)
	if trace {
		log.Printf("%s writer-wait %.1f", what, ms(time.Since(t0)))
	}
	return txn
}

// smooth is Holt's double exponential smoothing over a made history of sales,
// with the best pair of weights found by trying a grid of them.
func smooth(seed int) float64 {
	const days = 365
	best, forecast := math.Inf(1), 0.0
	for a := 1; a < 40; a++ {
		for b := 1; b < 20; b++ {
			alpha, beta := float64(a)/40, float64(b)/20
			level, trend, wrong := 10.0, 0.0, 0.0
			for day := 0; day < days; day++ {
				sold := 10 + float64((day*7+seed*13)%11)
				d := sold - (level + trend)
				wrong += d * d
				before := level
				level = alpha*sold + (1-alpha)*(level+trend)
				trend = beta*(level-before) + (1-beta)*trend
			}
			if wrong < best {
				best, forecast = wrong, level+trend
			}
		}
	}
	return forecast
}

func warehouseDemand(n int) map[int]float64 {
	demand := map[int]float64{}
	group := 0.0
	for id := n; id < lots; id += warehouses {
		if id/warehouses%4 == 0 { // four lots make one article group
			group = smooth(id)
		}
		demand[id] = group
	}
	return demand
}

func take(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		http.Error(w, "bad lot", http.StatusBadRequest)
		return
	}
	txn := begin("take")
	defer txn.Abort()
	row, err := txn.First("lot", "id", id%lots)
	if err != nil || row == nil {
		http.NotFound(w, r)
		return
	}
	next := *row.(*lot)
	next.Pieces--
	if err := txn.Insert("lot", &next); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	txn.Commit()
	fmt.Fprintf(w, `{"lot":%d,"pieces":%d}`+"\n", next.ID, next.Pieces)
}

func read(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	row, err := db.Txn(false).First("lot", "id", id%lots)
	if err != nil || row == nil {
		http.NotFound(w, r)
		return
	}
	l := row.(*lot)
	fmt.Fprintf(w, `{"lot":%d,"pieces":%d,"demand":%.1f}`+"\n", l.ID, l.Pieces, l.Demand)
}

func forecast(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.PathValue("n"))
	n %= warehouses
	go func() { // the answer does not wait for the work
		t0 := time.Now()
		var demand map[int]float64
		if !inside {
			demand = warehouseDemand(n)
		}
		txn := begin("forecast")
		held := time.Now()
		if inside {
			demand = warehouseDemand(n)
		}
		for id, d := range demand {
			row, err := txn.First("lot", "id", id)
			if err != nil || row == nil {
				continue
			}
			next := *row.(*lot)
			next.Demand = d
			if err := txn.Insert("lot", &next); err != nil {
				log.Print(err)
			}
		}
		txn.Commit()
		if trace {
			log.Printf("forecast all %.1f held %.1f", ms(time.Since(t0)), ms(time.Since(held)))
		}
	}()
	w.WriteHeader(http.StatusAccepted)
}

func main() {
	db = open()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /lots/{id}", read)
	mux.HandleFunc("POST /take/{id}", take)
	mux.HandleFunc("POST /forecast/{n}", forecast)
	logged := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := httpsnoop.CaptureMetrics(mux, w, r)
		if trace {
			log.Printf("%s %d request %.1f", r.URL.Path, m.Code, ms(m.Duration))
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), logged))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
