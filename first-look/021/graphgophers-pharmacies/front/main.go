// front is the GraphQL API of a group of pharmacies.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	graphql "github.com/graph-gophers/graphql-go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/stats"

	pb "pharmacies/stockpb"
)

const schema = `
schema { query: Query }
type Query {
  stock(product: ID!, branch: Int!): Stock!
  pharmacy(branch: Int!): Pharmacy!
  price(product: ID!): Int!
  board: [Receipt!]!
}
type Stock { product: ID! units: Int! shelf: String! priceCents: Int! }
type Pharmacy { branch: Int! street: String! opens: String! closes: String! onDuty: Boolean! }
type Receipt { branch: Int! product: ID! units: Int! }
`

// The documents that the apps and the web shop may run.
var documents = map[string]string{
	"stock-v3":    `query($product: ID!, $branch: Int!) { stock(product: $product, branch: $branch) { product units shelf priceCents } }`,
	"pharmacy-v1": `query($branch: Int!) { pharmacy(branch: $branch) { branch street opens closes onDuty } }`,
	"price-v2":    `query($product: ID!) { price(product: $product) }`,
	"board-v1":    `query { board { branch product units } }`,
}

type root struct {
	stock  pb.StockClient
	mu     sync.RWMutex
	prices map[string]int64
	board  map[int32]*pb.ReceiptsReply
}

type stockResolver struct {
	product string
	r       *pb.UnitsReply
}

func (s *stockResolver) Product() graphql.ID { return graphql.ID(s.product) }
func (s *stockResolver) Units() int32        { return s.r.Units }
func (s *stockResolver) Shelf() string       { return s.r.Shelf }
func (s *stockResolver) PriceCents() int32   { return int32(s.r.PriceCents) }

func (q *root) Stock(ctx context.Context, a struct {
	Product graphql.ID
	Branch  int32
}) (*stockResolver, error) {
	r, err := q.stock.Units(ctx, &pb.UnitsRequest{Product: string(a.Product), Branch: a.Branch})
	if err != nil {
		return nil, err
	}
	return &stockResolver{string(a.Product), r}, nil
}

type pharmacyResolver struct{ n int32 }

func (p *pharmacyResolver) Branch() int32  { return p.n }
func (p *pharmacyResolver) Street() string { return fmt.Sprintf("Market Street %d", p.n*3) }
func (p *pharmacyResolver) Opens() string  { return fmt.Sprintf("%02d:00", 7+p.n%3) }
func (p *pharmacyResolver) Closes() string { return fmt.Sprintf("%02d:30", 17+p.n%4) }
func (p *pharmacyResolver) OnDuty() bool   { return p.n%5 == 0 }

func (q *root) Pharmacy(a struct{ Branch int32 }) *pharmacyResolver { return &pharmacyResolver{a.Branch} }

func (q *root) Price(a struct{ Product graphql.ID }) int32 {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return int32(q.prices[string(a.Product)])
}

type receiptResolver struct {
	branch int32
	r      *pb.Receipt
}

func (r *receiptResolver) Branch() int32       { return r.branch }
func (r *receiptResolver) Product() graphql.ID { return graphql.ID(r.r.Product) }
func (r *receiptResolver) Units() int32        { return r.r.Units }

func (q *root) Board() []*receiptResolver {
	q.mu.RLock()
	defer q.mu.RUnlock()
	var out []*receiptResolver
	for b, rs := range q.board {
		for _, r := range rs.Receipts {
			out = append(out, &receiptResolver{b, r})
		}
	}
	return out
}

// watch keeps the prices of one group of products up to date.
func (q *root) watch(group string) {
	for {
		s, err := q.stock.WatchPrices(context.Background(), &pb.WatchRequest{Group: group})
		for err == nil {
			var c *pb.PriceChange
			if c, err = s.Recv(); err == nil {
				q.mu.Lock()
				q.prices[c.Product] = c.PriceCents
				q.mu.Unlock()
			}
		}
		time.Sleep(time.Second)
	}
}

// refresh reads the receipts of the branches for the board, four at a time.
func (q *root) refresh(every time.Duration) {
	branch := int32(1)
	for range time.Tick(every) {
		var wg sync.WaitGroup
		for i := 0; i < 4; i++ {
			b := branch
			branch = branch%40 + 1
			wg.Go(func() {
				r, err := q.stock.Receipts(context.Background(), &pb.ReceiptsRequest{Branch: b})
				if err != nil {
					log.Print(err)
					return
				}
				q.mu.Lock()
				q.board[b] = r
				q.mu.Unlock()
			})
		}
		wg.Wait()
	}
}

// tracer logs, for checks only, the time between the begin of a call and its stream on the connection.
type tracer struct{ calls, waits atomic.Int64 }
type beganKey struct{}
type began struct {
	method string
	at     time.Time
}

func (t *tracer) TagRPC(ctx context.Context, i *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, beganKey{}, &began{i.FullMethodName, time.Now()})
}
func (t *tracer) HandleRPC(ctx context.Context, s stats.RPCStats) {
	b := ctx.Value(beganKey{}).(*began)
	switch s.(type) {
	case *stats.OutHeader:
		t.calls.Add(1)
		if d := time.Since(b.at); d > 10*time.Millisecond {
			t.waits.Add(1)
			log.Printf("TRACE no stream for %s: %s (%d of %d)", b.method, d, t.waits.Load(), t.calls.Load())
		}
		b.at = time.Now()
	case *stats.End:
		if d := time.Since(b.at); d > 10*time.Millisecond && b.method == "/stock.v1.Stock/Units" {
			log.Printf("TRACE answer of %s after %s", b.method, d)
		}
	}
}
func (t *tracer) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (t *tracer) HandleConn(context.Context, stats.ConnStats)                       {}

func main() {
	opts := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if os.Getenv("PH_TRACE") != "" {
		opts = append(opts, grpc.WithStatsHandler(&tracer{}))
	}
	conn, err := grpc.NewClient("passthrough:///127.0.0.1:"+os.Getenv("STOCK_PORT"), opts...)
	if err != nil {
		log.Fatal(err)
	}
	q := &root{stock: pb.NewStockClient(conn), prices: map[string]int64{}, board: map[int32]*pb.ReceiptsReply{}}
	for i := 0; i < 400; i++ {
		q.prices[fmt.Sprintf("p%03d", i)] = int64(199 + i*7)
	}
	every, err := time.ParseDuration(os.Getenv("BOARD_EVERY"))
	if err != nil {
		every = 500 * time.Millisecond
	}
	go q.watch("prescription")
	go q.watch("over-the-counter")
	go q.refresh(every)

	s := graphql.MustParseSchema(schema, q)
	http.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	http.HandleFunc("POST /graphql", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ID        string         `json:"id"`
			Variables map[string]any `json:"variables"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || documents[in.ID] == "" {
			http.Error(w, "bad document", http.StatusBadRequest)
			return
		}
		res := s.Exec(r.Context(), documents[in.ID], "", in.Variables)
		w.Header().Set("Content-Type", "application/json")
		if len(res.Errors) > 0 {
			w.WriteHeader(http.StatusBadGateway)
		}
		json.NewEncoder(w).Encode(res)
	})
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-stop; os.Exit(0) }()
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
