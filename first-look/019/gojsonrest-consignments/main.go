// Consignments of a haulier: go-json-rest, state in Redis (go-redis), access log and audit trail to syslog.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/syslog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ant0ine/go-json-rest/rest"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog/diode"
)

type timedWriter struct {
	to  io.Writer
	log *os.File
}

func (w timedWriter) Write(p []byte) (int, error) {
	start := time.Now()
	n, err := w.to.Write(p)
	fmt.Fprintf(w.log, "%d write %.2f -\n", time.Now().UnixMilli(), float64(time.Since(start).Microseconds())/1000)
	return n, err
}

func logWriter() io.Writer {
	sys, err := syslog.Dial("unixgram", os.Getenv("SYSLOG_SOCKET"), syslog.LOG_LOCAL0|syslog.LOG_INFO, "consignments")
	if err != nil {
		log.Fatal(err)
	}
	var w io.Writer = sys
	if name := os.Getenv("TIMING_LOG"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			log.Fatal(err)
		}
		w = timedWriter{w, f}
	}
	if n, _ := strconv.Atoi(os.Getenv("LOG_RING")); n > 0 {
		w = diode.NewWriter(w, n, 10*time.Millisecond, func(missed int) {
			fmt.Fprintln(os.Stderr, "log records dropped:", missed)
		})
	}
	return w
}

type server struct {
	redis *redis.Client
	audit *log.Logger
}

func (s *server) seed(ctx context.Context) error {
	pipe := s.redis.Pipeline()
	for i := 0; i < 500; i++ {
		pipe.HSet(ctx, "consignment:"+strconv.Itoa(i), "id", i, "from", depots[i%len(depots)],
			"to", depots[(i*3+1)%len(depots)], "kilos", 40+i%700, "state", "on the road", "scans", 0)
	}
	_, err := pipe.Exec(ctx)
	return err
}

var depots = []string{"Antwerp", "Bremen", "Calais", "Dresden", "Essen", "Fulda", "Ghent"}

func (s *server) consignment(w rest.ResponseWriter, r *rest.Request) {
	id := r.PathParam("id")
	state, err := s.redis.HGetAll(r.Context(), "consignment:"+id).Result()
	if err != nil {
		rest.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if len(state) == 0 {
		rest.NotFound(w, r)
		return
	}
	s.audit.Printf("audit action=read consignment=%s customer=%s", id, state["from"])
	s.audit.Printf("audit action=disclose consignment=%s fields=from,to,kilos,state", id)
	w.WriteJson(state)
}

func (s *server) scan(w rest.ResponseWriter, r *rest.Request) {
	id := r.PathParam("id")
	var scan struct {
		Gate string `json:"gate"`
		N    int    `json:"n"`
	}
	if err := r.DecodeJsonPayload(&scan); err != nil {
		rest.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.audit.Printf("audit action=scan consignment=%s gate=%s n=%d", id, scan.Gate, scan.N)
	scans, err := s.redis.HIncrBy(r.Context(), "consignment:"+id, "scans", 1).Result()
	if err != nil {
		rest.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	s.audit.Printf("audit action=scanned consignment=%s scans=%d", id, scans)
	w.WriteJson(map[string]any{"consignment": id, "scans": scans})
}

func tariff(w rest.ResponseWriter, r *rest.Request) {
	zone, _ := strconv.Atoi(r.PathParam("zone"))
	w.WriteJson(map[string]any{"zone": zone, "base": 4 + zone%9, "perKilo": "0." + strconv.Itoa(10+zone%50)})
}

func main() {
	s := &server{redis: redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Getenv("REDIS_PORT"), MinIdleConns: 8})}
	if err := s.seed(context.Background()); err != nil {
		log.Fatal(err)
	}
	s.audit = log.New(logWriter(), "", 0)

	api := rest.NewApi()
	api.Use(
		&rest.IfMiddleware{
			Condition: func(r *rest.Request) bool {
				return strings.HasPrefix(r.URL.Path, "/consignments/")
			},
			IfTrue: &rest.AccessLogJsonMiddleware{Logger: s.audit},
		},
		&rest.TimerMiddleware{},
		&rest.RecorderMiddleware{},
		&rest.RecoverMiddleware{},
	)
	router, err := rest.MakeRouter(
		rest.Get("/consignments/#id", s.consignment),
		rest.Post("/consignments/#id/scans", s.scan),
		rest.Get("/tariffs/#zone", tariff),
		rest.Get("/health", func(w rest.ResponseWriter, r *rest.Request) { w.WriteJson("ok") }),
	)
	if err != nil {
		log.Fatal(err)
	}
	api.SetApp(router)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), api.MakeHandler()))
}
