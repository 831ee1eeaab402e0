package main

import (
	"fmt"
	"log"
	"net/http"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	c, err := grpc.NewClient("127.0.0.1:"+os.Getenv("STOCK_PORT"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	stock := grpc_health_v1.NewHealthClient(c)
	http.HandleFunc("/stock/", func(w http.ResponseWriter, r *http.Request) {
		a, err := stock.Check(r.Context(), &grpc_health_v1.HealthCheckRequest{Service: r.URL.Path})
		if err != nil {
			http.Error(w, err.Error(), 502)
			return
		}
		fmt.Fprintln(w, a.Status)
	})
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
