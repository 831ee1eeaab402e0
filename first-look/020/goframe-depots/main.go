// Depot board of a tram company: a GoFrame application. The position of each
// vehicle comes over gRPC from the positions service, over one ClientConn.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gogf/gf/v2/frame/g"
	"github.com/gogf/gf/v2/net/ghttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
)

var lines = map[string][]string{
	"2": {"Wagenhalle", "Hauptpost", "Elisabethkirche", "Messe"},
	"4": {"Wagenhalle", "Klinikum", "Universität", "Zoo"},
	"9": {"Betriebshof Ost", "Rathaus", "Stadtpark", "Hafen"},
}

type board struct {
	conn    *grpc.ClientConn
	changes atomic.Int64
	log     *os.File
	mu      sync.Mutex
}

func (b *board) note(format string, args ...any) {
	if b.log != nil {
		b.mu.Lock()
		fmt.Fprintf(b.log, format+"\n", args...)
		b.mu.Unlock()
	}
}

func (b *board) call(ctx context.Context, method string, in map[string]any) (*structpb.Struct, error) {
	req, err := structpb.NewStruct(in)
	if err != nil {
		return nil, err
	}
	out := &structpb.Struct{}
	start := time.Now()
	err = b.conn.Invoke(ctx, "/tram.Positions/"+method, req, out)
	b.note("call %d %.2f", start.UnixMilli(), float64(time.Since(start).Microseconds())/1000)
	return out, err
}

// watch asks for the changes of one depot; the stream stays open until the
// positions service has reported the changes of its window.
func (b *board) watch(depot string, window time.Duration) error {
	start := time.Now()
	s, err := b.conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, "/tram.Positions/Watch")
	if err != nil {
		return err
	}
	req, _ := structpb.NewStruct(map[string]any{"depot": depot, "window_ms": float64(window.Milliseconds())})
	if err := s.SendMsg(req); err != nil {
		return err
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	for {
		m := &structpb.Struct{}
		if err := s.RecvMsg(m); err == io.EOF {
			b.note("watch %d %.2f", start.UnixMilli(), float64(time.Since(start).Microseconds())/1000)
			return nil
		} else if err != nil {
			return err
		}
		b.changes.Add(1)
	}
}

// follow keeps the depot view up to date: all depots at once, every now and then.
func (b *board) follow(depots []string, every, window time.Duration) {
	for range time.Tick(every) {
		var wg sync.WaitGroup
		for _, d := range depots {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if err := b.watch(d, window); err != nil {
					g.Log().Error(context.Background(), err)
				}
			}()
		}
		wg.Wait()
	}
}

func main() {
	conn, err := grpc.NewClient("127.0.0.1:"+os.Getenv("POSITIONS_PORT"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	b := &board{conn: conn}
	if f := os.Getenv("TIMING_LOG"); f != "" {
		if b.log, err = os.Create(f); err != nil {
			panic(err)
		}
	}
	go b.follow([]string{"nord", "ost", "hafen", "messe"}, 550*time.Millisecond, 100*time.Millisecond)

	port, _ := strconv.Atoi(os.Getenv("PORT"))
	s := g.Server()
	s.SetAddr(fmt.Sprintf("127.0.0.1:%d", port))
	s.SetDumpRouterMap(false)
	s.SetAccessLogEnabled(false)
	s.BindHandler("GET:/health", func(r *ghttp.Request) {
		r.Response.WriteJson(g.Map{"ok": true, "changes": b.changes.Load()})
	})
	s.BindHandler("GET:/lines/:line", func(r *ghttp.Request) {
		stops, ok := lines[r.Get("line").String()]
		if !ok {
			r.Response.WriteStatus(404)
			return
		}
		r.Response.WriteJson(g.Map{"line": r.Get("line").String(), "stops": stops})
	})
	s.BindHandler("GET:/vehicles/:vehicle", func(r *ghttp.Request) {
		out, err := b.call(r.Context(), "Get", g.Map{"vehicle": r.Get("vehicle").String()})
		if err != nil {
			r.Response.WriteStatus(502, err.Error())
			return
		}
		r.Response.WriteJson(out.AsMap())
	})
	s.BindHandler("POST:/vehicles/:vehicle/defects", func(r *ghttp.Request) {
		out, err := b.call(r.Context(), "Report", g.Map{"vehicle": r.Get("vehicle").String(), "code": r.Get("code").Float64()})
		if err != nil {
			r.Response.WriteStatus(502, err.Error())
			return
		}
		r.Response.WriteJson(out.AsMap())
	})
	s.Run()
}
