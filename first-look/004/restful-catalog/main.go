package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/emicklei/go-restful/v3"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"
)

type Item struct {
	Sku   string   `json:"sku"`
	Name  string   `json:"name"`
	Cents int      `json:"cents"`
	Tags  []string `json:"tags"`
}

func main() {
	items := make([]Item, 8000)
	bySku := map[string]*Item{}
	for i := range items {
		items[i] = Item{fmt.Sprintf("A%d", i), fmt.Sprintf("article number %d", i), 100 + i%900, []string{"new", "blue", "cotton"}}
		bySku[items[i].Sku] = &items[i]
	}
	served := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "served_total"}, []string{"route"})
	if gateway := os.Getenv("PUSHGATEWAY"); gateway != "" {
		pusher := push.New(gateway, "catalog").Collector(served)
		go func() {
			for range time.Tick(400 * time.Millisecond) {
				if err := pusher.Push(); err != nil {
					log.Print(err)
				}
			}
		}()
	}

	ws := new(restful.WebService)
	ws.Produces(restful.MIME_JSON)
	ws.Route(ws.GET("/items/{sku}").To(func(req *restful.Request, resp *restful.Response) {
		served.WithLabelValues("item").Inc()
		item, ok := bySku[req.PathParameter("sku")]
		if !ok {
			resp.WriteErrorString(http.StatusNotFound, "no such article")
			return
		}
		resp.WriteAsJson(item)
	}))
	ws.Route(ws.GET("/export").To(func(req *restful.Request, resp *restful.Response) {
		served.WithLabelValues("export").Inc()
		resp.WriteAsJson(items)
	}))
	restful.PrettyPrintResponses = false
	container := restful.NewContainer().Add(ws)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), container))
}
