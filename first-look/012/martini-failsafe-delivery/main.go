// Delivery quotes: martini in front of a carrier's service, which a failsafe-go bulkhead protects.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/go-martini/martini"
)

var (
	carrier = os.Getenv("CARRIER")
	client  = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	calls   failsafe.Executor[string]
)

func quote(parcel int) (string, error) {
	return calls.Get(func() (string, error) {
		resp, err := client.Get(fmt.Sprintf("%s/quote/%d", carrier, parcel))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	})
}

func main() {
	limit, err := strconv.Atoi(os.Getenv("CARRIER_CALLS"))
	if err != nil {
		limit = 2
	}
	calls = failsafe.With[string](bulkhead.NewBuilder[string](uint(limit)).WithMaxWaitTime(3 * time.Second).Build())
	martini.Env = martini.Prod
	router := martini.NewRouter()
	m := martini.New()
	m.Use(martini.Recovery())
	m.MapTo(router, (*martini.Routes)(nil))
	m.Action(router.Handle)
	router.Get("/health", func() string { return "ok" })
	router.Get("/delivery/:parcel", func(p martini.Params) (int, string) {
		id, _ := strconv.Atoi(p["parcel"])
		q, err := quote(id)
		if err != nil {
			return 503, err.Error()
		}
		return 200, q
	})
	// an order of many parcels: one quote for each, all asked at once
	router.Get("/order/:id", func(p martini.Params) (int, string) {
		id, _ := strconv.Atoi(p["id"])
		quotes := make([]string, 16)
		var wait sync.WaitGroup
		for i := range quotes {
			wait.Add(1)
			go func() {
				defer wait.Done()
				quotes[i], _ = quote(id*16 + i)
			}()
		}
		wait.Wait()
		body, _ := json.Marshal(quotes)
		return 200, string(body)
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[1], m))
	os.Exit(1)
}
