package main

import (
	"flag"
	"fmt"
	"net/http"
	"sort"
	"strings"

	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/rest"
	"github.com/zeromicro/go-zero/rest/httpx"
)

type Place struct {
	ID    int     `json:"id"`
	Name  string  `json:"name"`
	Kind  string  `json:"kind"`
	Score float64 `json:"score"`
}

type SearchReq struct {
	Q string `form:"q"`
}

var places []Place

func find(q string) []Place {
	q = strings.ToLower(q)
	var hits []Place
	for _, p := range places {
		if n := strings.Count(strings.ToLower(p.Name), q); n > 0 {
			p.Score = float64(n) / float64(len(p.Name))
			hits = append(hits, p)
		}
	}
	sort.Slice(hits, func(i, j int) bool { return hits[i].Score > hits[j].Score })
	if len(hits) > 50 {
		hits = hits[:50]
	}
	return hits
}

func main() {
	port := flag.Int("port", 8888, "")
	flag.Parse()
	syl := []string{"ka", "Lo", "mi", "Ren", "tos", "Va", "ber", "Gil", "dun", "Os"}
	for i := 0; i < 9000; i++ {
		n := ""
		for k, x := 0, i*7919+13; k < 5; k, x = k+1, x/10 {
			n += syl[x%10]
		}
		places = append(places, Place{i, fmt.Sprintf("%s %d", n, i), syl[i%7], 0})
	}
	var c rest.RestConf
	c.Host, c.Port, c.Name = "127.0.0.1", *port, "places"
	c.Timeout, c.MaxConns, c.CpuThreshold, c.MaxBytes = 30000, 10000, 0, 1<<20
	c.Middlewares.Recover, c.Middlewares.Timeout, c.Middlewares.MaxConns, c.Middlewares.Breaker = true, true, true, true
	logx.Disable()
	s := rest.MustNewServer(c)
	defer s.Stop()
	s.AddRoute(rest.Route{Method: "GET", Path: "/health", Handler: func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "ok") }})
	s.AddRoute(rest.Route{Method: "GET", Path: "/search", Handler: func(w http.ResponseWriter, r *http.Request) {
		var req SearchReq
		if err := httpx.Parse(r, &req); err != nil {
			httpx.ErrorCtx(r.Context(), w, err)
			return
		}
		httpx.OkJsonCtx(r.Context(), w, find(req.Q))
	}})
	s.AddRoute(rest.Route{Method: "GET", Path: "/place/:id", Handler: func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			ID int `path:"id"`
		}
		if err := httpx.Parse(r, &req); err != nil || req.ID < 0 || req.ID >= len(places) {
			http.NotFound(w, r)
			return
		}
		httpx.OkJsonCtx(r.Context(), w, places[req.ID])
	}})
	s.Start()
}
