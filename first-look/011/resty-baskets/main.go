// A shop's basket page: the prices come from the price service, through resty.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-resty/resty/v2"
)

type price struct {
	Article int     `json:"article"`
	Name    string  `json:"name"`
	Price   float64 `json:"price"`
}

var client *resty.Client

// most baskets hold one to four articles; every twelfth customer is a company with a standing order
func articles(basket int) []int {
	n := 1 + basket%4
	if basket%12 == 5 {
		n = 30 + basket%7
	}
	list := make([]int, n)
	for i := range list {
		list[i] = (basket*31 + i*17) % 5000
	}
	return list
}

func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func basket(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	var ids []string
	for _, a := range articles(id) {
		ids = append(ids, strconv.Itoa(a))
	}
	lines := []price{}
	res, err := client.R().SetResult(&lines).Get("/prices/" + strings.Join(ids, ","))
	if err == nil && res.IsError() {
		err = errors.New("prices: " + res.Status())
	}
	reply(w, lines, err)
}

func main() {
	client = resty.New().SetBaseURL(os.Getenv("PRICES")).SetTimeout(3 * time.Second).
		SetRetryCount(3). // resty's own waits: from 100 ms on
		AddRetryCondition(func(res *resty.Response, err error) bool {
			return err != nil || res.StatusCode() == http.StatusServiceUnavailable
		})
	client.GetClient().Transport.(*http.Transport).MaxIdleConnsPerHost = 50
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok")) })
	mux.HandleFunc("GET /basket/{id}", basket)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], mux))
}
