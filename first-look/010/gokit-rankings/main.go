// Rankings of shops by region, from the analytics service, kept for a moment.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/go-kit/kit/endpoint"
	httptransport "github.com/go-kit/kit/transport/http"
	"github.com/gorilla/mux"
	"github.com/patrickmn/go-cache"
)

type rankingService struct {
	analytics string
	client    *http.Client
	kept      *cache.Cache
}

func (s *rankingService) Ranking(ctx context.Context, region string) (json.RawMessage, error) {
	if v, ok := s.kept.Get(region); ok {
		return v.(json.RawMessage), nil
	}
	req, err := http.NewRequestWithContext(ctx, "GET", s.analytics+"/ranking?region="+region, nil)
	if err != nil {
		return nil, err
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	s.kept.Set(region, json.RawMessage(b), cache.DefaultExpiration)
	return b, nil
}

func makeRanking(s *rankingService) endpoint.Endpoint {
	return func(ctx context.Context, request interface{}) (interface{}, error) {
		return s.Ranking(ctx, request.(string))
	}
}

func main() {
	keep, err := time.ParseDuration(os.Getenv("KEEP"))
	if err != nil {
		log.Fatal(err)
	}
	s := &rankingService{os.Getenv("ANALYTICS"), &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, cache.New(keep, time.Minute)}
	r := mux.NewRouter()
	r.Methods("GET").Path("/").HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok\n")) })
	r.Methods("GET").Path("/ranking/{region}").Handler(httptransport.NewServer(
		makeRanking(s),
		func(_ context.Context, r *http.Request) (interface{}, error) { return mux.Vars(r)["region"], nil },
		httptransport.EncodeJSONResponse,
	))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], r))
}
