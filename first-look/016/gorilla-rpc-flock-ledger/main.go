// ledger: a JSON-RPC service (gorilla/rpc) that appends bookings to a journal
// file. The journal is shared with the exporter, a process of its own, so both
// take a file lock (gofrs/flock here, fcntl.flock there).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/gorilla/mux"
	"github.com/gorilla/rpc/v2"
	"github.com/gorilla/rpc/v2/json2"
)

var timing = os.Getenv("LEDGER_TIMING") != ""

type Ledger struct {
	dir   string
	retry time.Duration

	mu       sync.RWMutex
	balances map[string]int64
}

type PostArgs struct {
	Account string `json:"account"`
	Ref     int64  `json:"ref"`
	Cents   int64  `json:"cents"`
}

type PostReply struct {
	Account string `json:"account"`
	Offset  int64  `json:"offset"`
}

type line struct {
	At      time.Time `json:"at"`
	Account string    `json:"account"`
	Ref     int64     `json:"ref"`
	Cents   int64     `json:"cents"`
}

// Post appends one booking to the journal.
func (l *Ledger) Post(r *http.Request, a *PostArgs, reply *PostReply) error {
	if a.Account == "" {
		return errors.New("account is missing")
	}
	rec, err := json.Marshal(line{time.Now().UTC(), a.Account, a.Ref, a.Cents})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	t0 := time.Now()
	lock := flock.New(filepath.Join(l.dir, "journal.lock"))
	defer lock.Close()
	ok, err := lock.TryLockContext(ctx, l.retry)
	if err != nil || !ok {
		return fmt.Errorf("journal is locked: %v", err)
	}
	if d := time.Since(t0); timing && d > 2*time.Millisecond {
		log.Printf("file lock after %v", d)
	}
	f, err := os.OpenFile(filepath.Join(l.dir, "journal.jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(append(rec, '\n')); err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.balances[a.Account] += a.Cents
	l.mu.Unlock()
	reply.Account, reply.Offset = a.Account, st.Size()
	return nil
}

type BalanceArgs struct {
	Account string `json:"account"`
}

type BalanceReply struct {
	Cents int64 `json:"cents"`
}

// Balance tells the sum of the bookings since the start.
func (l *Ledger) Balance(r *http.Request, a *BalanceArgs, reply *BalanceReply) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	reply.Cents = l.balances[a.Account]
	return nil
}

func main() {
	retry, err := time.ParseDuration(os.Getenv("LOCK_RETRY"))
	if err != nil {
		log.Fatal(err)
	}
	ledger := &Ledger{dir: os.Getenv("LEDGER_DIR"), retry: retry, balances: map[string]int64{}}
	s := rpc.NewServer()
	s.RegisterCodec(json2.NewCodec(), "application/json")
	if err := s.RegisterService(ledger, "Ledger"); err != nil {
		log.Fatal(err)
	}
	r := mux.NewRouter()
	r.Handle("/rpc", s).Methods("POST")
	r.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), r))
}
