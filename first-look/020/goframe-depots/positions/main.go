// The positions service: answers where a vehicle is, takes defect reports and
// streams the changes of a depot. Arguments: port, limit of concurrent HTTP/2
// streams per connection.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

type service struct {
	mu       sync.Mutex
	at       map[string]int
	defects  map[string]int
	watchers map[chan string]bool
}

func (s *service) get(_ context.Context, in *structpb.Struct) (*structpb.Struct, error) {
	v := in.Fields["vehicle"].GetStringValue()
	s.mu.Lock()
	defer s.mu.Unlock()
	return structpb.NewStruct(map[string]any{"vehicle": v, "metre": float64(s.at[v]), "defects": float64(s.defects[v])})
}

func (s *service) report(_ context.Context, in *structpb.Struct) (*structpb.Struct, error) {
	v := in.Fields["vehicle"].GetStringValue()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.defects[v]++
	return structpb.NewStruct(map[string]any{"vehicle": v, "defects": float64(s.defects[v])})
}

// drive moves the vehicles and tells the watchers of each move.
func (s *service) drive() {
	n := 0
	for range time.Tick(20 * time.Millisecond) {
		v := strconv.Itoa(2001 + n%40)
		n++
		s.mu.Lock()
		s.at[v] += 8
		for w := range s.watchers {
			select {
			case w <- v:
			default:
			}
		}
		s.mu.Unlock()
	}
}

// watch streams the changes until the window asked for is over.
func (s *service) watch(in *structpb.Struct, out grpc.ServerStream) error {
	w := make(chan string, 16)
	s.mu.Lock()
	s.watchers[w] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watchers, w)
		s.mu.Unlock()
	}()
	end := time.After(time.Duration(in.Fields["window_ms"].GetNumberValue()) * time.Millisecond)
	for {
		select {
		case v := <-w:
			m, _ := structpb.NewStruct(map[string]any{"vehicle": v})
			if err := out.SendMsg(m); err != nil {
				return err
			}
		case <-end:
			return nil
		case <-out.Context().Done():
			return out.Context().Err()
		}
	}
}

func unary(name string, f func(*service, context.Context, *structpb.Struct) (*structpb.Struct, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(srv any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := &structpb.Struct{}
		if err := dec(in); err != nil {
			return nil, err
		}
		return f(srv.(*service), ctx, in)
	}}
}

func main() {
	limit, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	s := &service{at: map[string]int{}, defects: map[string]int{}, watchers: map[chan string]bool{}}
	for i := 2001; i <= 2040; i++ {
		s.at[fmt.Sprint(i)] = i * 17
	}
	go s.drive()
	srv := grpc.NewServer(grpc.MaxConcurrentStreams(uint32(limit)))
	srv.RegisterService(&grpc.ServiceDesc{
		ServiceName: "tram.Positions",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{unary("Get", (*service).get), unary("Report", (*service).report)},
		Streams: []grpc.StreamDesc{{StreamName: "Watch", ServerStreams: true, Handler: func(srv any, out grpc.ServerStream) error {
			in := &structpb.Struct{}
			if err := out.RecvMsg(in); err != nil {
				return err
			}
			return srv.(*service).watch(in, out)
		}}},
	}, s)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() { <-term; srv.Stop() }()
	if err := srv.Serve(l); err != nil {
		log.Fatal(err)
	}
}
