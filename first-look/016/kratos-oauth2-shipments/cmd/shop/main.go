// shop tells customers where their parcels are. Kratos serves HTTP; the
// carrier's API is asked with a client of golang.org/x/oauth2.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"os"
	"time"

	"github.com/go-kratos/kratos/v2"
	klog "github.com/go-kratos/kratos/v2/log"
	"github.com/go-kratos/kratos/v2/middleware/recovery"
	"github.com/go-kratos/kratos/v2/transport/http"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

var timing = os.Getenv("SHOP_TIMING") != ""

// freshToken asks for a new token at each call; the reuse source above it keeps it.
type freshToken struct{ cfg *clientcredentials.Config }

func (f freshToken) Token() (*oauth2.Token, error) {
	t0 := time.Now()
	tok, err := f.cfg.Token(context.Background())
	if timing {
		log.Printf("token fetched in %v", time.Since(t0))
	}
	return tok, err
}

type shipment struct {
	ID     string   `json:"id"`
	State  string   `json:"state"`
	Depot  string   `json:"depot"`
	Events []string `json:"events"`
}

func main() {
	carrier := os.Getenv("CARRIER_URL")
	early, err := time.ParseDuration(os.Getenv("TOKEN_EARLY_EXPIRY"))
	if err != nil {
		log.Fatal(err)
	}
	cfg := &clientcredentials.Config{
		ClientID: "shop", ClientSecret: "kR7-secret",
		TokenURL: carrier + "/oauth/token", AuthStyle: oauth2.AuthStyleInHeader,
	}
	tokens := oauth2.ReuseTokenSourceWithExpiry(nil, freshToken{cfg}, early)
	base := nethttp.DefaultTransport.(*nethttp.Transport).Clone()
	base.MaxIdleConnsPerHost = 64
	client := &nethttp.Client{
		Transport: &oauth2.Transport{Source: tokens, Base: base},
		Timeout:   5 * time.Second,
	}
	if _, err := tokens.Token(); err != nil {
		log.Fatal(err)
	}

	srv := http.NewServer(
		http.Address("127.0.0.1:"+os.Getenv("PORT")),
		http.Middleware(recovery.Recovery()),
	)
	r := srv.Route("/")
	r.GET("/health", func(ctx http.Context) error { return ctx.String(200, "ok") })
	r.GET("/shipments/{id}", func(ctx http.Context) error {
		t0 := time.Now()
		id := ctx.Vars().Get("id")
		res, err := client.Get(carrier + "/v1/shipments/" + id)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != 200 {
			return fmt.Errorf("carrier: %s", res.Status)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		var s shipment
		if err := json.Unmarshal(body, &s); err != nil {
			return err
		}
		if d := time.Since(t0); timing && d > 15*time.Millisecond {
			log.Printf("shipment %s took %v", id, d)
		}
		return ctx.JSON(200, s)
	})
	r.GET("/tariffs/{zone}", func(ctx http.Context) error {
		zone := ctx.Vars().Get("zone")
		prices := map[string]int{}
		for kg := 1; kg <= 30; kg++ {
			prices[fmt.Sprintf("%d kg", kg)] = 390 + kg*45 + len(zone)*10
		}
		return ctx.JSON(200, map[string]any{"zone": zone, "prices": prices})
	})

	app := kratos.New(kratos.Name("shipments"), kratos.Server(srv),
		kratos.Logger(klog.NewFilter(klog.DefaultLogger, klog.FilterLevel(klog.LevelError))))
	if err := app.Run(); err != nil {
		log.Fatal(err)
	}
}
