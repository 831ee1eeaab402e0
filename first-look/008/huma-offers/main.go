package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/oauth2/clientcredentials"
)

type Offer struct {
	SKU   string  `json:"sku"`
	Price float64 `json:"price"`
	Stock int     `json:"stock"`
}

func main() {
	partners := map[string]*http.Client{}
	for _, p := range []string{"north", "south"} {
		cfg := clientcredentials.Config{
			ClientID: "shop-" + p, ClientSecret: "s3cret",
			TokenURL: os.Getenv("IDP") + "/" + p + "/token",
		}
		partners[p] = cfg.Client(context.Background())
	}
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("Offers", "1.0.0"))

	huma.Get(api, "/health", func(ctx context.Context, _ *struct{}) (*struct{ Body string }, error) {
		return &struct{ Body string }{"ok"}, nil
	})
	huma.Get(api, "/offers/{partner}/{sku}", func(ctx context.Context, in *struct {
		Partner string `path:"partner" enum:"north,south"`
		SKU     string `path:"sku"`
	}) (*struct{ Body Offer }, error) {
		req, _ := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s/%s/offers/%s", os.Getenv("PARTNER_API"), in.Partner, in.SKU), nil)
		res, err := partners[in.Partner].Do(req)
		if err != nil {
			return nil, huma.Error502BadGateway("partner", err)
		}
		defer res.Body.Close()
		out := &struct{ Body Offer }{}
		if err := json.NewDecoder(res.Body).Decode(&out.Body); err != nil {
			return nil, huma.Error502BadGateway("partner", err)
		}
		return out, nil
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}
