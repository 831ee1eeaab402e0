// Boarding desk of a regional airport: flights live in an in-memory buntdb,
// gate readers post boardings, the ground station gets a copy of all flights
// every few hundred milliseconds.
package main

import (
	"bytes"
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

	"github.com/tidwall/buntdb"
)

type Flight struct {
	No      string `json:"no"`
	From    string `json:"from"`
	To      string `json:"to"`
	Gate    string `json:"gate"`
	Status  string `json:"status"`
	Seats   int    `json:"seats"`
	Boarded int    `json:"boarded"`
	Remark  string `json:"remark"`
}

type Lounge struct {
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Open  string   `json:"open"`
	Rooms []string `json:"rooms"`
}

type app struct {
	db      *buntdb.DB
	lounges map[string]Lounge
	trace   *tracer
}

// tracer writes timings when TRACE_LOG is set.
type tracer struct {
	mu sync.Mutex
	f  io.Writer
	t0 time.Time
}

func newTracer() *tracer {
	name := os.Getenv("TRACE_LOG")
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	return &tracer{f: f, t0: time.Now()}
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

func reply(w http.ResponseWriter, code int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(code)
	w.Write(b)
}

func fail(w http.ResponseWriter, err error) {
	if errors.Is(err, buntdb.ErrNotFound) {
		reply(w, http.StatusNotFound, map[string]string{"error": "no such flight"})
		return
	}
	reply(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
}

func (a *app) flight(w http.ResponseWriter, r *http.Request) {
	var f Flight
	t := time.Now()
	err := a.db.View(func(tx *buntdb.Tx) error {
		a.trace.add("view", t)
		s, err := tx.Get("flight:" + r.PathValue("id"))
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(s), &f)
	})
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, f)
}

func (a *app) gate(w http.ResponseWriter, r *http.Request) {
	list := []json.RawMessage{}
	t := time.Now()
	err := a.db.View(func(tx *buntdb.Tx) error {
		a.trace.add("gate", t)
		pivot, _ := json.Marshal(map[string]string{"gate": r.PathValue("id")})
		return tx.AscendEqual("gate", string(pivot), func(k, v string) bool {
			list = append(list, json.RawMessage(v))
			return true
		})
	})
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, map[string]any{"gate": r.PathValue("id"), "flights": list})
}

func (a *app) board(w http.ResponseWriter, r *http.Request) {
	var in struct {
		N int `json:"n"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		reply(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	var f Flight
	t := time.Now()
	err := a.db.Update(func(tx *buntdb.Tx) error {
		a.trace.add("update", t)
		key := "flight:" + r.PathValue("id")
		s, err := tx.Get(key)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(s), &f); err != nil {
			return err
		}
		f.Boarded++
		if f.Boarded > f.Seats {
			f.Boarded = 0
		}
		f.Status = "boarding"
		b, err := json.Marshal(f)
		if err != nil {
			return err
		}
		_, _, err = tx.Set(key, string(b), nil)
		return err
	})
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusCreated, map[string]any{"flight": f.No, "boarded": f.Boarded, "n": in.N})
}

func (a *app) lounge(w http.ResponseWriter, r *http.Request) {
	l, ok := a.lounges[r.PathValue("id")]
	if !ok {
		reply(w, http.StatusNotFound, map[string]string{"error": "no such lounge"})
		return
	}
	reply(w, http.StatusOK, l)
}

// station sends all flights to the ground station, some at a time.
type station struct {
	db       *buntdb.DB
	url      string
	client   *http.Client
	batch    int
	every    time.Duration
	snapshot bool
	trace    *tracer
}

func (s *station) send(batch []json.RawMessage) error {
	b, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	req, err := http.NewRequest("PUT", s.url, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if res.StatusCode >= 300 {
		return fmt.Errorf("ground station: %s", res.Status)
	}
	return nil
}

func (s *station) copyAll() error {
	var later [][]json.RawMessage
	push := func(batch []json.RawMessage) error {
		if s.snapshot {
			later = append(later, batch)
			return nil
		}
		return s.send(batch)
	}
	t := time.Now()
	err := s.db.View(func(tx *buntdb.Tx) error {
		var batch []json.RawMessage
		var perr error
		err := tx.AscendKeys("flight:*", func(k, v string) bool {
			batch = append(batch, json.RawMessage(v))
			if len(batch) == s.batch {
				perr = push(batch)
				batch = nil
			}
			return perr == nil
		})
		if err == nil {
			err = perr
		}
		if err == nil && len(batch) > 0 {
			err = push(batch)
		}
		return err
	})
	s.trace.add("copy-tx", t)
	for _, b := range later {
		if err == nil {
			err = s.send(b)
		}
	}
	s.trace.add("copy", t)
	return err
}

func (s *station) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.every):
		}
		if err := s.copyAll(); err != nil {
			log.Print(err)
		}
	}
}

func number(name string, def int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return def
}

func fill(db *buntdb.DB) error {
	towns := []string{"BGO", "TRD", "AES", "BOO", "TOS", "KRS", "SVG", "HAU", "MOL", "EVE"}
	return db.Update(func(tx *buntdb.Tx) error {
		for i := 100; i < 460; i++ {
			f := Flight{
				No: fmt.Sprintf("RA%d", i), From: towns[i%10], To: towns[(i/10+3)%10],
				Gate: fmt.Sprintf("B%d", i%40), Status: "scheduled", Seats: 70 + i%3*20,
				Remark: "bags to belt " + strconv.Itoa(i%7),
			}
			b, err := json.Marshal(f)
			if err != nil {
				return err
			}
			if _, _, err := tx.Set("flight:"+strconv.Itoa(i), string(b), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func main() {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateIndex("gate", "flight:*", buntdb.IndexJSON("gate")); err != nil {
		log.Fatal(err)
	}
	if err := fill(db); err != nil {
		log.Fatal(err)
	}
	a := &app{db: db, lounges: map[string]Lounge{}, trace: newTracer()}
	for i := 1; i <= 8; i++ {
		id := strconv.Itoa(i)
		a.lounges[id] = Lounge{ID: id, Name: "Lounge " + id, Open: "05:30-22:00", Rooms: []string{"quiet", "family", "work"}}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	st := &station{
		db: db, url: "http://127.0.0.1:" + os.Getenv("STATION_PORT") + "/flights",
		client: &http.Client{Timeout: 5 * time.Second}, batch: number("COPY_BATCH", 60),
		every:    time.Duration(number("COPY_EVERY_MS", 600)) * time.Millisecond,
		snapshot: os.Getenv("COPY_SNAPSHOT") == "on", trace: a.trace,
	}
	go st.run(ctx)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "up"})
	})
	mux.HandleFunc("GET /flights/{id}", a.flight)
	mux.HandleFunc("GET /gates/{id}", a.gate)
	mux.HandleFunc("POST /flights/{id}/boardings", a.board)
	mux.HandleFunc("GET /lounges/{id}", a.lounge)

	srv := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Handler: mux}
	go func() {
		<-ctx.Done()
		srv.Close()
	}()
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
