// Baskets in Redis through a redigo pool; a checkout asks the payment partner.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

var (
	pool    *redis.Pool
	partner = os.Getenv("PARTNER")
	client  = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
)

func fail(w http.ResponseWriter, err error) { http.Error(w, err.Error(), 503) }

func basket(w http.ResponseWriter, r *http.Request) {
	conn := pool.Get()
	defer conn.Close()
	id, _ := strconv.Atoi(r.PathValue("id"))
	items, err := redis.StringMap(conn.Do("HGETALL", fmt.Sprintf("basket:%d", id%2000)))
	if err != nil {
		fail(w, err)
		return
	}
	json.NewEncoder(w).Encode(items)
}

// the baskets of a whole company: 30 of them in one pipeline
func company(w http.ResponseWriter, r *http.Request) {
	conn := pool.Get()
	defer conn.Close()
	id, _ := strconv.Atoi(r.PathValue("id"))
	for i := 0; i < 30; i++ {
		conn.Send("HGETALL", fmt.Sprintf("basket:%d", (id*30+i)%2000))
	}
	conn.Flush()
	all := make([]map[string]string, 0, 30)
	for i := 0; i < 30; i++ {
		items, err := redis.StringMap(conn.Receive())
		if err != nil {
			fail(w, err)
			return
		}
		all = append(all, items)
	}
	json.NewEncoder(w).Encode(all)
}

func checkout(w http.ResponseWriter, r *http.Request) {
	conn := pool.Get()
	defer conn.Close()
	id, _ := strconv.Atoi(r.PathValue("id"))
	key := fmt.Sprintf("basket:%d", id%2000)
	n, err := redis.Int(conn.Do("HLEN", key))
	if err != nil {
		fail(w, err)
		return
	}
	resp, err := client.Get(fmt.Sprintf("%s/authorise/%d", partner, n))
	if err != nil {
		fail(w, err)
		return
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	conn.Do("HSET", "paid", key, n)
	fmt.Fprintf(w, `{"paid":%d}`, n)
}

func main() {
	size, err := strconv.Atoi(os.Getenv("REDIS_POOL"))
	if err != nil {
		size = 10
	}
	pool = &redis.Pool{
		MaxActive: size, MaxIdle: size, Wait: true,
		Dial: func() (redis.Conn, error) { return redis.Dial("tcp", os.Getenv("REDIS")) },
	}
	conn := pool.Get()
	for b := 0; b < 2000; b++ {
		for i := 0; i < 6; i++ {
			conn.Send("HSET", fmt.Sprintf("basket:%d", b), fmt.Sprintf("article-%d", b*7+i), i+1)
		}
	}
	if _, err := conn.Do(""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	conn.Close()
	http.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") })
	http.HandleFunc("GET /basket/{id}", basket)
	http.HandleFunc("GET /company/{id}", company)
	http.HandleFunc("POST /checkout/{id}", checkout)
	http.HandleFunc("GET /pool", func(w http.ResponseWriter, r *http.Request) { json.NewEncoder(w).Encode(pool.Stats()) })
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
	os.Exit(1)
}
