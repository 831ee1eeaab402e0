package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/redis/go-redis/v9"
)

func main() {
	rdb := redis.NewClient(&redis.Options{Addr: os.Getenv("REDIS_ADDR"), PoolSize: 10})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("POST /score/{player}", func(w http.ResponseWriter, r *http.Request) {
		pipe := rdb.Pipeline()
		score := pipe.ZIncrBy(r.Context(), "scores", 3, r.PathValue("player"))
		pipe.Incr(r.Context(), "games")
		if _, err := pipe.Exec(r.Context()); err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		fmt.Fprintln(w, score.Val())
	})
	mux.HandleFunc("GET /top/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseInt(r.PathValue("n"), 10, 64)
		top, err := rdb.ZRevRangeWithScores(r.Context(), "scores", 0, n-1).Result()
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(top)
	})
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(rdb.PoolStats())
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}
