// stock is the group's stock service. It holds the units of all branches and asks the
// wholesaler for receipts.
package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"log"
	"math/rand"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"google.golang.org/grpc"

	pb "pharmacies/stockpb"
)

type server struct {
	pb.UnimplementedStockServer
	units map[string]*pb.UnitsReply
}

func key(product string, branch int32) string { return product + "/" + strconv.Itoa(int(branch)) }

func (s *server) Units(_ context.Context, q *pb.UnitsRequest) (*pb.UnitsReply, error) {
	if r, ok := s.units[key(q.Product, q.Branch)]; ok {
		return r, nil
	}
	return &pb.UnitsReply{}, nil
}

// Receipts asks the wholesaler, whose interface takes 100 to 130 ms for a branch.
func (s *server) Receipts(ctx context.Context, q *pb.ReceiptsRequest) (*pb.ReceiptsReply, error) {
	select {
	case <-time.After(100*time.Millisecond + time.Duration(rand.Int63n(int64(30*time.Millisecond)))):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out := &pb.ReceiptsReply{}
	for i := int32(0); i < 8; i++ {
		out.Receipts = append(out.Receipts, &pb.Receipt{Product: fmt.Sprintf("p%03d", (q.Branch*31+i*7)%400), Units: 6})
	}
	return out, nil
}

func (s *server) WatchPrices(q *pb.WatchRequest, out grpc.ServerStreamingServer[pb.PriceChange]) error {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for n := 0; ; n++ {
		if err := out.Send(&pb.PriceChange{Product: fmt.Sprintf("p%03d", n%400), PriceCents: int64(299 + n%900)}); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-out.Context().Done():
			return nil
		}
	}
}

func main() {
	streams, err := strconv.Atoi(os.Getenv("MAX_STREAMS"))
	if err != nil {
		streams = 100
	}
	s := &server{units: map[string]*pb.UnitsReply{}}
	for p := 0; p < 400; p++ {
		for b := int32(1); b <= 40; b++ {
			product := fmt.Sprintf("p%03d", p)
			h := fnv.New32a()
			h.Write([]byte(key(product, b)))
			s.units[key(product, b)] = &pb.UnitsReply{Units: int32(h.Sum32() % 60), Shelf: fmt.Sprintf("%c%d", 'A'+p%9, p%14), PriceCents: int64(199 + p*7)}
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	g := grpc.NewServer(grpc.MaxConcurrentStreams(uint32(streams)))
	pb.RegisterStockServer(g, s)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-stop; g.Stop() }()
	log.Fatal(g.Serve(l))
}
