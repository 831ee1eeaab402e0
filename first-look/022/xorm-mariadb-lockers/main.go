// Parcel lockers: door scanners report what they see, the server keeps the
// lockers in MariaDB. A locker's last_seen is written at most every few
// seconds; all other scans only read.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"xorm.io/xorm"
)

type Locker struct {
	Id       int64  `xorm:"pk" json:"id"`
	SiteId   int64  `json:"site"`
	Label    string `json:"label"`
	Doors    int    `json:"doors"`
	Free     int    `json:"free"`
	LastSeen int64  `json:"lastSeen"`
}

type Sighting struct {
	Id       int64 `xorm:"pk autoincr"`
	LockerId int64
	At       int64
	Scan     int64
}

type Site struct {
	Id     int64  `xorm:"pk" json:"id"`
	Name   string `json:"name"`
	Street string `json:"street"`
}

var (
	engine    *xorm.Engine
	seenEvery = int64(6000)
	trace     *tracer
)

// tracer writes timings when TRACE_LOG is set.
type tracer struct {
	mu sync.Mutex
	f  io.Writer
	t0 time.Time
}

func (t *tracer) add(what string, from time.Time) {
	if t == nil {
		return
	}
	d := time.Since(from)
	t.mu.Lock()
	fmt.Fprintf(t.f, "%.3f %s %.2f\n", from.Sub(t.t0).Seconds()*1000, what, d.Seconds()*1000)
	t.mu.Unlock()
}

// catch answers 500 where a handler panics
func catch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		defer func() {
			if e := recover(); e != nil {
				log.Print(e)
				reply(rw, http.StatusInternalServerError, map[string]string{"error": "internal"})
			}
		}()
		next.ServeHTTP(rw, req)
	})
}

func reply(rw http.ResponseWriter, code int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		log.Print(err)
		code, b = http.StatusInternalServerError, []byte("{}")
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("Content-Length", strconv.Itoa(len(b)))
	rw.WriteHeader(code)
	rw.Write(b)
}

func id(req *http.Request) int64 {
	n, _ := strconv.ParseInt(req.PathValue("id"), 10, 64)
	return n
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func getHealth(rw http.ResponseWriter, req *http.Request) {
	must(engine.Ping())
	reply(rw, http.StatusOK, map[string]string{"status": "up"})
}

func getLocker(rw http.ResponseWriter, req *http.Request) {
	t := time.Now()
	var l Locker
	found, err := engine.ID(id(req)).Get(&l)
	must(err)
	trace.add("locker", t)
	if !found {
		reply(rw, http.StatusNotFound, map[string]string{"error": "no such locker"})
		return
	}
	reply(rw, http.StatusOK, l)
}

func getSite(rw http.ResponseWriter, req *http.Request) {
	t := time.Now()
	var s Site
	found, err := engine.ID(id(req)).Get(&s)
	must(err)
	if !found {
		reply(rw, http.StatusNotFound, map[string]string{"error": "no such site"})
		return
	}
	var lockers []Locker
	must(engine.Where("site_id = ?", s.Id).Asc("id").Find(&lockers))
	trace.add("site", t)
	reply(rw, http.StatusOK, map[string]any{"site": s, "lockers": lockers})
}

func postScan(rw http.ResponseWriter, req *http.Request) {
	var in struct {
		N int64 `json:"n"`
	}
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		reply(rw, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	t := time.Now()
	var l Locker
	found, err := engine.ID(id(req)).Get(&l)
	must(err)
	if !found {
		reply(rw, http.StatusNotFound, map[string]string{"error": "no such locker"})
		return
	}
	now := time.Now().UnixMilli()
	if now-l.LastSeen > seenEvery {
		s := engine.NewSession()
		defer s.Close()
		must(s.Begin())
		_, err = s.ID(l.Id).Cols("last_seen").Update(&Locker{LastSeen: now})
		must(err)
		_, err = s.Insert(&Sighting{LockerId: l.Id, At: now, Scan: in.N})
		must(err)
		trace.add("before-commit", t)
		ct := time.Now()
		must(s.Commit())
		trace.add("commit", ct)
	} else {
		trace.add("known", t)
	}
	reply(rw, http.StatusOK, map[string]any{"locker": l.Id, "free": l.Free, "scan": in.N})
}

func number(name string, def int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return def
}

func main() {
	if name := os.Getenv("TRACE_LOG"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			log.Fatal(err)
		}
		trace = &tracer{f: f, t0: time.Now()}
	}
	var err error
	engine, err = xorm.NewEngine("mysql", "lockers:lockers@tcp(127.0.0.1:"+os.Getenv("DB_PORT")+")/lockers?interpolateParams=true")
	if err != nil {
		log.Fatal(err)
	}
	engine.SetMaxOpenConns(20)
	engine.SetMaxIdleConns(20)
	seenEvery = int64(number("SEEN_EVERY_MS", 6000))
	// the lockers were seen at different times before the restart
	if _, err := engine.Exec("UPDATE locker SET last_seen = ? - MOD(id * 1637, ?)", time.Now().UnixMilli(), seenEvery+1300); err != nil {
		log.Fatal(err)
	}
	// fill the pool
	var wg sync.WaitGroup
	for i := 0; i < 20; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, err := engine.Exec("DO SLEEP(0.05)"); err != nil {
				log.Print(err)
			}
		}()
	}
	wg.Wait()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", getHealth)
	mux.HandleFunc("GET /lockers/{id}", getLocker)
	mux.HandleFunc("POST /lockers/{id}/scans", postScan)
	mux.HandleFunc("GET /sites/{id}", getSite)

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	srv := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Handler: catch(mux)}
	go func() {
		<-ctx.Done()
		srv.Close()
	}()
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
