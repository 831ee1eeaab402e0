// Electricity tariffs of a supplier: go-restful, go-redis (profiles of the
// meters) and a tariff book in memory which a spot price feed keeps up to date.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/emicklei/go-restful/v3"
	"github.com/redis/go-redis/v9"
)

// ---- tariff book ------------------------------------------------------

type Zone struct {
	Name    string      `json:"zone"`
	Spot    float64     `json:"spot"`
	Margin  float64     `json:"margin"`
	Hourly  [24]float64 `json:"hourly"`
	Version int         `json:"version"`
	filed   int
}

type Book struct {
	mu    sync.RWMutex
	zones map[string]*Zone
	order []string
}

func NewBook(n int) *Book {
	b := &Book{zones: map[string]*Zone{}}
	for i := 0; i < n; i++ {
		z := &Zone{Name: fmt.Sprintf("DE-%02d", i), Spot: 71.5 + float64(i%9), Margin: 18}
		for h := range z.Hourly {
			z.Hourly[h] = z.Spot * (1 + 0.3*math.Sin(float64(h)/24*2*math.Pi))
		}
		b.zones[z.Name] = z
		b.order = append(b.order, z.Name)
	}
	return b
}

func (b *Book) Get(name string) (Zone, bool) {
	t0 := time.Now()
	b.mu.RLock()
	defer b.mu.RUnlock()
	note("read", name, time.Since(t0))
	z, ok := b.zones[name]
	if !ok {
		return Zone{}, false
	}
	return *z, true
}

// SetSpot stores a price of the feed.
func (b *Book) SetSpot(name string, spot float64) {
	t0 := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	note("write", name, time.Since(t0))
	z := b.zones[name]
	z.Spot = spot
	for h := range z.Hourly {
		z.Hourly[h] = spot * (1 + 0.3*math.Sin(float64(h)/24*2*math.Pi))
	}
	z.Version++
}

// Each calls f for every zone, under the read lock: readers don't disturb each other.
func (b *Book) Each(f func(z *Zone) error) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, name := range b.order {
		if err := f(b.zones[name]); err != nil {
			return err
		}
	}
	return nil
}

// ---- filing with the regulator ---------------------------------------

type Filing struct {
	book     *Book
	url      string
	client   *http.Client
	snapshot bool
	versions map[string]int
	next     int
}

const perFiling = 5

func (f *Filing) post(z *Zone) error {
	body, _ := json.Marshal(z)
	res, err := f.client.Post(f.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	f.versions[z.Name] = z.Version
	return err
}

// run files the changed prices of the next few zones.
func (f *Filing) run() error {
	left := perFiling
	var changed []Zone
	t0 := time.Now()
	seen := 0
	err := f.book.Each(func(z *Zone) error {
		seen++
		if seen <= f.next || left == 0 || f.versions[z.Name] == z.Version {
			return nil
		}
		left--
		if left == 0 {
			f.next = seen
		}
		if f.snapshot {
			changed = append(changed, *z)
			return nil
		}
		return f.post(z)
	})
	if left > 0 {
		f.next = 0
	}
	note("filing", strconv.Itoa(perFiling-left), time.Since(t0))
	for i := range changed {
		if e := f.post(&changed[i]); e != nil {
			err = e
		}
	}
	return err
}

// ---- REST -------------------------------------------------------------

type Profile struct {
	Meter string  `json:"meter"`
	Zone  string  `json:"zone"`
	Year  float64 `json:"kwh_per_year"`
	Peak  float64 `json:"peak_share"`
}

type Server struct {
	book *Book
	rdb  *redis.Client
}

func (s *Server) tariff(req *restful.Request, resp *restful.Response) {
	z, ok := s.book.Get(req.PathParameter("zone"))
	if !ok {
		resp.WriteErrorString(http.StatusNotFound, "no such zone")
		return
	}
	resp.WriteEntity(z)
}

func (s *Server) profile(ctx context.Context, meter string) (p Profile, err error) {
	raw, err := s.rdb.Get(ctx, "meter:"+meter).Bytes()
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	return p, err
}

func (s *Server) meter(req *restful.Request, resp *restful.Response) {
	p, err := s.profile(req.Request.Context(), req.PathParameter("meter"))
	if err != nil {
		resp.WriteError(http.StatusNotFound, err)
		return
	}
	resp.WriteEntity(p)
}

func (s *Server) quote(req *restful.Request, resp *restful.Response) {
	p, err := s.profile(req.Request.Context(), req.PathParameter("meter"))
	if err != nil {
		resp.WriteError(http.StatusNotFound, err)
		return
	}
	z, ok := s.book.Get(p.Zone)
	if !ok {
		resp.WriteErrorString(http.StatusNotFound, "no such zone")
		return
	}
	total := 0.0
	for h, price := range z.Hourly {
		share := (1 - p.Peak) / 24
		if h >= 17 && h < 21 {
			share += p.Peak / 4
		}
		total += p.Year * share * (price + z.Margin) / 1000
	}
	resp.WriteEntity(map[string]any{"meter": p.Meter, "zone": z.Name, "version": z.Version,
		"per_month": math.Round(total/12*100) / 100})
}

func main() {
	env := func(k, d string) string {
		if v := os.Getenv(k); v != "" {
			return v
		}
		return d
	}
	book := NewBook(60)
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + env("REDIS_PORT", "6379"), PoolSize: 20})
	ctx := context.Background()
	pipe := rdb.Pipeline()
	for m := 0; m < 400; m++ {
		raw, _ := json.Marshal(Profile{strconv.Itoa(1000 + m), book.order[m%len(book.order)], float64(1500 + m*11%4000), 0.1 + float64(m%5)/20})
		pipe.Set(ctx, fmt.Sprintf("meter:%d", 1000+m), raw, 0)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		log.Fatal(err)
	}

	// spot prices, some 30 a second
	go func() {
		for i := 0; ; i++ {
			time.Sleep(33 * time.Millisecond)
			book.SetSpot(book.order[i*7%len(book.order)], 70+float64(i*13%400)/20)
		}
	}()

	filing := &Filing{book: book, url: "http://127.0.0.1:" + env("REGULATOR_PORT", "9001") + "/prices",
		client: &http.Client{Timeout: 5 * time.Second}, snapshot: env("FILING_SNAPSHOT", "no") == "yes", versions: map[string]int{}}
	go func() {
		for range time.Tick(650 * time.Millisecond) {
			if err := filing.run(); err != nil {
				log.Print("filing: ", err)
			}
		}
	}()

	s := &Server{book, rdb}
	ws := new(restful.WebService)
	ws.Produces(restful.MIME_JSON)
	ws.Route(ws.GET("/health").To(func(_ *restful.Request, resp *restful.Response) { resp.WriteEntity(map[string]bool{"ok": true}) }))
	ws.Route(ws.GET("/tariffs/{zone}").To(s.tariff))
	ws.Route(ws.GET("/quotes/{meter}").To(s.quote))
	ws.Route(ws.GET("/meters/{meter}").To(s.meter))
	restful.Add(ws)
	go func() { log.Fatal(http.ListenAndServe("127.0.0.1:"+env("PORT", "8080"), restful.DefaultContainer)) }()

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
}
