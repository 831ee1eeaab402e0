package main

import (
	"context"
	"log"
	"net"
	"os"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// The standard health service doubles as our stock service: Check(sku).
type stock struct {
	grpc_health_v1.UnimplementedHealthServer
}

func (stock) Check(ctx context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	time.Sleep(30 * time.Millisecond) // the warehouse's disk
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	n, _ := strconv.Atoi(os.Args[2])
	s := grpc.NewServer(grpc.MaxConcurrentStreams(uint32(n)))
	grpc_health_v1.RegisterHealthServer(s, stock{})
	log.Fatal(s.Serve(l))
}
