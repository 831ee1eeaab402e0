// Postal addresses, normalised by the geocoder; its hiccups are tried again.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/avast/retry-go/v4"
	"gopkg.in/macaron.v1"
)

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func normalise(address string) (string, error) {
	return retry.DoWithData(func() (string, error) {
		res, err := client.Get(os.Getenv("GEOCODER") + "/normalise/" + address)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode != 200 {
			err = fmt.Errorf("geocoder: %s", res.Status)
		}
		return string(b), err
	}, retry.Attempts(8))
}

func main() {
	macaron.Env = macaron.PROD
	m := macaron.New()
	m.Get("/", func() string { return "ok\n" })
	m.Get("/address/:id", func(ctx *macaron.Context) (int, string) {
		s, err := normalise(ctx.Params(":id"))
		if err != nil {
			return 502, err.Error()
		}
		return 200, s
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], m))
}
