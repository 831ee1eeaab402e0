// Tariff lists of a parcel shop: kept in ttlcache, fetched from the carrier's service when they have run out.
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/bmizerany/pat"
	"github.com/jellydator/ttlcache/v3"
)

type zone struct {
	Zone  int       `json:"zone"`
	Price []float64 `json:"price"`
}

var (
	origin string
	client = &http.Client{Timeout: 3 * time.Second}
)

func load(c *ttlcache.Cache[string, []zone], country string) *ttlcache.Item[string, []zone] {
	res, err := client.Get(origin + "/tariffs/" + country)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	var list []zone
	if err != nil || json.Unmarshal(body, &list) != nil {
		return nil
	}
	return c.Set(country, list, ttlcache.DefaultTTL)
}

func main() {
	origin = os.Getenv("CARRIER")
	ttl, err := time.ParseDuration(os.Getenv("TARIFF_TTL"))
	if err != nil {
		log.Fatal(err)
	}
	// one load for a key at a time: who comes meanwhile waits for it
	loader := ttlcache.NewSuppressedLoader[string, []zone](ttlcache.LoaderFunc[string, []zone](load), nil)
	cache := ttlcache.New(
		ttlcache.WithTTL[string, []zone](ttl),
		ttlcache.WithDisableTouchOnHit[string, []zone](),
		ttlcache.WithLoader[string, []zone](loader),
	)
	if os.Getenv("PRELOAD") == "true" {
		for _, c := range []string{"de", "fr", "it", "at"} {
			cache.Get(c)
		}
	}
	mux := pat.New()
	mux.Get("/health", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok")) }))
	answer := func(w http.ResponseWriter, r *http.Request, f func([]zone) any) {
		item := cache.Get(r.URL.Query().Get(":country"))
		if item == nil {
			http.Error(w, "no tariffs", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(f(item.Value()))
	}
	mux.Get("/quote/:country/:grams", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		grams, _ := strconv.Atoi(r.URL.Query().Get(":grams"))
		answer(w, r, func(list []zone) any { return list[grams%len(list)].Price[grams%40] })
	}))
	mux.Get("/list/:country", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, func(list []zone) any { return list })
	}))
	mux.Get("/stats", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { json.NewEncoder(w).Encode(cache.Metrics()) }))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], mux))
}
