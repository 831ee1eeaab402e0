package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/hashicorp/go-retryablehttp"
)

func main() {
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax = 3
	client.RetryWaitMin = 250 * time.Millisecond
	client.RetryWaitMax = 1 * time.Second
	stock := os.Getenv("STOCK_URL")

	r := chi.NewRouter()
	r.Get("/health", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") })
	r.Get("/product", func(w http.ResponseWriter, r *http.Request) {
		res, err := client.Get(stock + "/stock")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		io.Copy(w, res.Body)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], r))
}
