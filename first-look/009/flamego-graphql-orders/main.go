// Order gateway: GraphQL (graphql-go) on Flamego, products come from a REST service.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/flamego/flamego"
	"github.com/graphql-go/graphql"
)

type Product struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Cost int    `json:"cost"`
}
type Item struct {
	ProductID string
	Quantity  int
	Product   *Product
}
type Order struct {
	ID    string
	Items []*Item
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
var upstream = os.Getenv("PRODUCTS")

func products(ctx context.Context, ids ...string) ([]Product, error) {
	req, _ := http.NewRequestWithContext(ctx, "GET", upstream+"/products?ids="+strings.Join(ids, ","), nil)
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var out []Product
	err = json.NewDecoder(resp.Body).Decode(&out)
	io.Copy(io.Discard, resp.Body)
	return out, err
}

// orders are of 1 or 2 items; those of the wholesale customers ("w...") have 14 or 15
func order(id string) *Order {
	n := 1 + len(id)%2
	if strings.HasPrefix(id, "w") {
		n += 13
	}
	o := &Order{ID: id}
	for i := 0; i < n; i++ {
		o.Items = append(o.Items, &Item{ProductID: fmt.Sprintf("%s-%d", id, i), Quantity: i%4 + 1})
	}
	return o
}

func main() {
	productType := graphql.NewObject(graphql.ObjectConfig{Name: "Product", Fields: graphql.Fields{
		"id": {Type: graphql.String}, "name": {Type: graphql.String}, "cost": {Type: graphql.Int}}})
	itemType := graphql.NewObject(graphql.ObjectConfig{Name: "Item", Fields: graphql.Fields{
		"quantity": {Type: graphql.Int},
		"product": {Type: productType, Resolve: func(p graphql.ResolveParams) (any, error) {
			it := p.Source.(*Item)
			if it.Product != nil {
				return it.Product, nil
			}
			ps, err := products(p.Context, it.ProductID)
			if err != nil {
				return nil, err
			}
			return &ps[0], nil
		}}}})
	orderType := graphql.NewObject(graphql.ObjectConfig{Name: "Order", Fields: graphql.Fields{
		"id": {Type: graphql.String}, "items": {Type: graphql.NewList(itemType)}}})
	one := func(p graphql.ResolveParams) (any, error) { return order(p.Args["id"].(string)), nil }
	// "bundle" asks for all products of the order at once
	bundle := func(p graphql.ResolveParams) (any, error) {
		o := order(p.Args["id"].(string))
		var ids []string
		for _, it := range o.Items {
			ids = append(ids, it.ProductID)
		}
		ps, err := products(p.Context, ids...)
		if err != nil {
			return nil, err
		}
		for i := range ps {
			o.Items[i].Product = &ps[i]
		}
		return o, nil
	}
	arg := graphql.FieldConfigArgument{"id": {Type: graphql.NewNonNull(graphql.String)}}
	schema, err := graphql.NewSchema(graphql.SchemaConfig{Query: graphql.NewObject(graphql.ObjectConfig{Name: "Query", Fields: graphql.Fields{
		"order":  {Type: orderType, Args: arg, Resolve: one},
		"bundle": {Type: orderType, Args: arg, Resolve: bundle}}})})
	if err != nil {
		panic(err)
	}
	f := flamego.New()
	f.Use(flamego.Recovery())
	f.Get("/healthz", func() string { return "ok" })
	f.Get("/graphql", func(c flamego.Context, w http.ResponseWriter) {
		res := graphql.Do(graphql.Params{Schema: schema, RequestString: c.Query("query"), Context: c.Request().Context()})
		body, _ := json.Marshal(res)
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], f)
}
