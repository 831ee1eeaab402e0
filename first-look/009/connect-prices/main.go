// Price book of a shop: a connect-go service (JSON or protobuf over HTTP).
package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"log"
	"net/http"
	"os"
	"sort"
	"sync"
	"sync/atomic"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type Price struct {
	SKU   string
	Cents int64
	Tags  []string
}

type Book struct {
	mu     sync.RWMutex
	prices map[string]*Price
	frozen atomic.Pointer[map[string]*Price]
}

func NewBook(n int) *Book {
	b := &Book{prices: make(map[string]*Price, n)}
	for i := 0; i < n; i++ {
		sku := fmt.Sprintf("sku-%05d", i)
		h := fnv.New32a()
		h.Write([]byte(sku))
		b.prices[sku] = &Price{sku, int64(h.Sum32() % 100000), []string{"shop", sku[4:6], "eur"}}
	}
	b.frozen.Store(&b.prices)
	return b
}

func (b *Book) Get(_ context.Context, r *connect.Request[wrapperspb.StringValue]) (*connect.Response[wrapperspb.Int64Value], error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	p, ok := b.prices[r.Msg.Value]
	if !ok {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("no such sku"))
	}
	return connect.NewResponse(wrapperspb.Int64(p.Cents)), nil
}

func (b *Book) Set(_ context.Context, r *connect.Request[wrapperspb.StringValue]) (*connect.Response[wrapperspb.Int64Value], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.prices[r.Msg.Value]
	if !ok {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("no such sku"))
	}
	p.Cents++
	return connect.NewResponse(wrapperspb.Int64(p.Cents)), nil
}

func digest(all map[string]*Price, top int) *structpb.ListValue {
	list := make([]*Price, 0, len(all))
	for _, p := range all {
		list = append(list, p)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Cents != list[j].Cents {
			return list[i].Cents > list[j].Cents
		}
		return list[i].SKU < list[j].SKU
	})
	out := &structpb.ListValue{}
	for _, p := range list[:top] {
		out.Values = append(out.Values, structpb.NewStringValue(fmt.Sprintf("%s %d %v", p.SKU, p.Cents, p.Tags)))
	}
	return out
}

// Digest lists the dearest articles of the whole book.
func (b *Book) Digest(_ context.Context, r *connect.Request[wrapperspb.Int64Value]) (*connect.Response[structpb.ListValue], error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return connect.NewResponse(digest(b.prices, int(r.Msg.Value))), nil
}

// Best does the same on the published edition, which nobody changes.
func (b *Book) Best(_ context.Context, r *connect.Request[wrapperspb.Int64Value]) (*connect.Response[structpb.ListValue], error) {
	return connect.NewResponse(digest(*b.frozen.Load(), int(r.Msg.Value))), nil
}

func main() {
	n := 200000
	fmt.Sscan(os.Getenv("ARTICLES"), &n)
	b := NewBook(n)
	mux := http.NewServeMux()
	mux.Handle("/prices.v1.Prices/Get", connect.NewUnaryHandler("/prices.v1.Prices/Get", b.Get))
	mux.Handle("/prices.v1.Prices/Set", connect.NewUnaryHandler("/prices.v1.Prices/Set", b.Set))
	mux.Handle("/prices.v1.Prices/Digest", connect.NewUnaryHandler("/prices.v1.Prices/Digest", b.Digest))
	mux.Handle("/prices.v1.Prices/Best", connect.NewUnaryHandler("/prices.v1.Prices/Best", b.Best))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], mux))
}
