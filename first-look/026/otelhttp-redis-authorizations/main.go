// Fraud detection for card payments: POST /authorizations decides whether a card may be charged.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

type item struct {
	SKU      string  `json:"sku"`
	Category string  `json:"category"`
	Price    float64 `json:"price"`
	Quantity int     `json:"quantity"`
}

type authorization struct {
	ID      string            `json:"id"`
	Card    int               `json:"card"`
	Amount  float64           `json:"amount"`
	Country string            `json:"country"`
	Device  map[string]string `json:"device"`
	Basket  []item            `json:"basket"`
}

type verdict struct {
	ID      string   `json:"id"`
	Score   float64  `json:"score"`
	Allow   bool     `json:"allow"`
	Reasons []string `json:"reasons"`
}

type server struct {
	db *redis.Client
}

var tracer = otel.Tracer("fraud")

// features loads what is known of the card: its profile and its last payments.
func (s *server) features(ctx context.Context, card int) (map[string]string, []float64, error) {
	ctx, span := tracer.Start(ctx, "features")
	defer span.End()
	pipe := s.db.Pipeline()
	profile := pipe.HGetAll(ctx, fmt.Sprintf("card:%d", card))
	last := pipe.LRange(ctx, fmt.Sprintf("payments:%d", card), 0, 49)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, nil, err
	}
	payments := make([]float64, 0, 50)
	for _, p := range last.Val() {
		f, _ := strconv.ParseFloat(p, 64)
		payments = append(payments, f)
	}
	return profile.Val(), payments, nil
}

func score(a *authorization, profile map[string]string, payments []float64) verdict {
	var mean, spread float64
	for _, p := range payments {
		mean += p / float64(len(payments))
	}
	for _, p := range payments {
		spread += (p - mean) * (p - mean) / float64(len(payments))
	}
	v := verdict{ID: a.ID, Reasons: []string{}}
	if z := (a.Amount - mean) / (math.Sqrt(spread) + 1); z > 3 {
		v.Score += 0.3
		v.Reasons = append(v.Reasons, "amount")
	}
	if profile["country"] != a.Country {
		v.Score += 0.2
		v.Reasons = append(v.Reasons, "country")
	}
	h := fnv.New32a()
	for _, k := range []string{"agent", "screen", "fonts", "canvas"} {
		io.WriteString(h, a.Device[k])
	}
	if profile["device"] != strconv.Itoa(int(h.Sum32()%100)) {
		v.Score += 0.1
		v.Reasons = append(v.Reasons, "device")
	}
	for _, i := range a.Basket {
		if i.Category == "giftcard" {
			v.Score += 0.02 * float64(i.Quantity)
		}
	}
	v.Allow = v.Score < 0.7
	return v
}

func (s *server) authorize(w http.ResponseWriter, r *http.Request) {
	ctx, span := tracer.Start(r.Context(), "decode")
	var a authorization
	err := json.NewDecoder(r.Body).Decode(&a)
	span.End()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	profile, payments, err := s.features(ctx, a.Card%2000)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(score(&a, profile, payments))
}

func (s *server) card(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	profile, payments, err := s.features(r.Context(), id)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"profile": profile, "payments": payments})
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "")
	db := flag.String("db", "127.0.0.1:6379", "")
	flag.Parse()
	if path := os.Getenv("TRACE_FILE"); path != "" {
		f, err := os.Create(path)
		if err != nil {
			log.Fatal(err)
		}
		exporter, err := stdouttrace.New(stdouttrace.WithWriter(f))
		if err != nil {
			log.Fatal(err)
		}
		provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter, sdk.WithBatchTimeout(time.Second)), sdk.WithSampler(sdk.TraceIDRatioBased(0.5)))
		defer provider.Shutdown(context.Background())
		otel.SetTracerProvider(provider)
	}
	s := &server{db: redis.NewClient(&redis.Options{Addr: *db, PoolSize: 32, MinIdleConns: 8})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /authorizations", s.authorize)
	mux.HandleFunc("GET /cards/{id}", s.card)
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if err := s.db.Ping(r.Context()).Err(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	log.Fatal((&http.Server{Addr: *listen, Handler: otelhttp.NewHandler(mux, "fraud"), ReadHeaderTimeout: 10 * time.Second}).ListenAndServe())
}
