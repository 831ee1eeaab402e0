package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/go-chi/chi/v5"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

func main() {
	// the endpoint comes from OTEL_EXPORTER_OTLP_ENDPOINT
	exp, err := otlptracehttp.New(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exp))

	r := chi.NewRouter()
	r.Get("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "shop")
	})
	r.Group(func(r chi.Router) {
		r.Use(otelhttp.NewMiddleware("shop", otelhttp.WithTracerProvider(tp)))
		r.Get("/checkout", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, "thank you")
		})
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], r))
}
