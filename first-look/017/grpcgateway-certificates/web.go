package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type Certificate struct {
	Number  string    `json:"number"`
	Holder  string    `json:"holder"`
	Covered int       `json:"covered"`
	Sort    string    `json:"sort"`
	Seal    string    `json:"seal"`
	Issued  time.Time `json:"issued"`
}

type Web struct {
	db      *pgxpool.Pool
	jobs    *river.Client[pgx.Tx]
	self    string
	ids     atomic.Int64
	mu      sync.Mutex
	waiting map[string]chan json.RawMessage
}

func reply(w http.ResponseWriter, status int, v any) {
	body, _ := json.Marshal(v)
	w.Header().Set("content-type", "application/json")
	w.Header().Set("content-length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// certificate gives the stored certificate, or has a new one issued: proofs for
// abroad are valid for one journey only.
func (s *Web) certificate(w http.ResponseWriter, r *http.Request, params map[string]string) {
	c := Certificate{Number: params["number"], Sort: r.URL.Query().Get("for")}
	err := s.db.QueryRow(r.Context(), "select holder, covered, seal, issued from certificates where number = $1", c.Number).
		Scan(&c.Holder, &c.Covered, &c.Seal, &c.Issued)
	if errors.Is(err, pgx.ErrNoRows) {
		reply(w, 404, map[string]string{"error": "no such certificate"})
		return
	}
	if err != nil {
		reply(w, 500, map[string]string{"error": err.Error()})
		return
	}
	if c.Sort != "abroad" {
		reply(w, 200, c)
		return
	}
	issued, err := s.issue(r.Context(), c)
	if err != nil {
		reply(w, 500, map[string]string{"error": err.Error()})
		return
	}
	reply(w, 200, issued)
}

func (s *Web) issue(ctx context.Context, c Certificate) (json.RawMessage, error) {
	t0 := time.Now()
	id := strconv.FormatInt(s.ids.Add(1), 10)
	ch := make(chan json.RawMessage, 1)
	s.mu.Lock()
	s.waiting[id] = ch
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}()
	_, err := s.jobs.Insert(ctx, IssueArgs{Number: c.Number, Sort: c.Sort, Callback: s.self + "/issued/" + id, Asked: t0}, nil)
	if err != nil {
		return nil, err
	}
	inserted := time.Since(t0)
	select {
	case body := <-ch:
		note("issue", inserted, time.Since(t0))
		return body, nil
	case <-time.After(8 * time.Second):
		return nil, errors.New("the certificate was not issued in time")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// issued is called by the worker.
func (s *Web) issued(w http.ResponseWriter, r *http.Request, params map[string]string) {
	var body json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		reply(w, 400, map[string]string{"error": err.Error()})
		return
	}
	s.mu.Lock()
	ch := s.waiting[params["id"]]
	s.mu.Unlock()
	if ch != nil {
		ch <- body
	}
	reply(w, 200, map[string]bool{"taken": ch != nil})
}

func (s *Web) covered(w http.ResponseWriter, r *http.Request, params map[string]string) {
	var n, sum int
	err := s.db.QueryRow(r.Context(), "select count(*), coalesce(sum(covered), 0) from certificates where number between $1 and $2",
		params["number"], params["number"]+"9").Scan(&n, &sum)
	if err != nil {
		reply(w, 500, map[string]string{"error": err.Error()})
		return
	}
	reply(w, 200, map[string]int{"certificates": n, "covered": sum})
}

func serve(ctx context.Context) {
	db := connect(ctx)
	defer db.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(db), nil)
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err == nil {
		_, err = db.Exec(ctx, `create table if not exists certificates (number text primary key, holder text not null,
			covered int not null, seal text not null, issued timestamptz not null default now());
			insert into certificates select 'C' || n, 'holder ' || n, 1000 * (n % 50 + 1), md5(n::text)
			from generate_series(1000, 2999) n on conflict do nothing`)
	}
	if err != nil {
		log.Fatal(err)
	}
	jobs, err := river.NewClient(riverpgxv5.New(db), &river.Config{FetchCooldown: time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}

	worker := exec.Command(os.Args[0], "worker")
	worker.Stdout, worker.Stderr = os.Stdout, os.Stderr
	if _, err = worker.StdinPipe(); err == nil {
		err = worker.Start()
	}
	if err != nil {
		log.Fatal(err)
	}

	port := env("PORT", "8080")
	s := &Web{db: db, jobs: jobs, self: "http://127.0.0.1:" + port, waiting: map[string]chan json.RawMessage{}}
	mux := runtime.NewServeMux()
	handle := func(method, path string, h runtime.HandlerFunc) {
		if err := mux.HandlePath(method, path, h); err != nil {
			log.Fatal(err)
		}
	}
	var ready atomic.Bool
	handle("GET", "/health", func(w http.ResponseWriter, _ *http.Request, _ map[string]string) {
		if ready.Load() {
			reply(w, 200, map[string]bool{"ok": true})
		} else {
			reply(w, 503, map[string]bool{"ok": false})
		}
	})
	handle("GET", "/certificates/{number}", s.certificate)
	handle("GET", "/covered/{number}", s.covered)
	handle("POST", "/issued/{id}", s.issued)
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: mux}
	go func() {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	}()
	// one certificate through the worker, then the instance is ready
	if _, err := s.issue(ctx, Certificate{Number: "C1000", Sort: "abroad"}); err != nil {
		log.Fatal(fmt.Errorf("worker: %w", err))
	}
	ready.Store(true)
	<-ctx.Done()
	server.Close()
	worker.Process.Signal(os.Interrupt)
	worker.Wait()
}
