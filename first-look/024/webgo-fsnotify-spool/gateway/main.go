// Submission gateway of a mail system: takes messages for mailboxes, puts them into the spool of the
// content filter (for signatures, then for words) and waits for each verdict, which comes as a file in the
// mailbox's queue.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnkamalesh/webgo/v7"
	"github.com/fsnotify/fsnotify"
)

const boxes = 24

type message struct {
	Sender  string `json:"sender"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

type verdict struct {
	Score float64 `json:"score"`
	Words int     `json:"words"`
}

var (
	spool    string
	ids      atomic.Int64
	accepted [boxes]atomic.Int64
	trace    = os.Getenv("SPOOL_TRACE") != ""
)

func queue(box int) string { return filepath.Join(spool, "queues", fmt.Sprintf("child_%02d", box)) }

func submit(id string, m *message) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	name := filepath.Join(spool, "new", id)
	if err := os.WriteFile(filepath.Join(spool, "tmp", id), raw, 0o600); err != nil {
		return err
	}
	return os.Rename(filepath.Join(spool, "tmp", id), name)
}

func take(box int, id string) (*verdict, error) {
	name := filepath.Join(queue(box), id)
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var v verdict
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return &v, os.Remove(name)
}

var errTimeout = errors.New("no verdict")

// perEvent watches the queue for this message: open, watch, receive, process, remove, close.
func perEvent(box int, id string, m *message) (*verdict, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	defer func() {
		begin := time.Now()
		w.Remove(queue(box))
		w.Close()
		if trace {
			log.Printf("close of watch %.1f ms", float64(time.Since(begin).Microseconds())/1000)
		}
	}()
	if err := w.Add(queue(box)); err != nil {
		return nil, err
	}
	if err := submit(id, m); err != nil {
		return nil, err
	}
	timeout := time.After(3 * time.Second)
	for {
		select {
		case e := <-w.Events:
			if e.Has(fsnotify.Create) && filepath.Base(e.Name) == id {
				return take(box, id)
			}
		case err := <-w.Errors:
			return nil, err
		case <-timeout:
			return nil, errTimeout
		}
	}
}

// shared is one watch on all queues, opened at the start and kept.
type shared struct {
	sync.Mutex
	waiting map[string]chan struct{}
}

func newShared() (*shared, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	for b := 0; b < boxes; b++ {
		if err := w.Add(queue(b)); err != nil {
			return nil, err
		}
	}
	s := &shared{waiting: map[string]chan struct{}{}}
	go func() {
		for e := range w.Events {
			if !e.Has(fsnotify.Create) {
				continue
			}
			id := filepath.Base(e.Name)
			s.Lock()
			c := s.waiting[id]
			delete(s.waiting, id)
			s.Unlock()
			if c != nil {
				close(c)
			}
		}
	}()
	return s, nil
}

func (s *shared) deliver(box int, id string, m *message) (*verdict, error) {
	c := make(chan struct{})
	s.Lock()
	s.waiting[id] = c
	s.Unlock()
	if err := submit(id, m); err != nil {
		return nil, err
	}
	select {
	case <-c:
		return take(box, id)
	case <-time.After(3 * time.Second):
		return nil, errTimeout
	}
}

func boxOf(r *http.Request) (int, bool) {
	var b int
	_, err := fmt.Sscanf(webgo.Context(r).Params()["box"], "%d", &b)
	return b, err == nil && b >= 0 && b < boxes
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: gateway PORT SPOOL FILTER-PORT")
	}
	spool = os.Args[2]
	for _, d := range []string{"tmp", "new"} {
		if err := os.MkdirAll(filepath.Join(spool, d), 0o700); err != nil {
			log.Fatal(err)
		}
	}
	for b := 0; b < boxes; b++ {
		if err := os.MkdirAll(queue(b), 0o700); err != nil {
			log.Fatal(err)
		}
	}
	// the filter is told where the spool is
	c, err := net.Dial("tcp", "127.0.0.1:"+os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(c, "%s\n", spool)
	if _, err := c.Read(make([]byte, 1)); err != nil {
		log.Fatal(err)
	}
	deliver := perEvent
	if os.Getenv("SPOOL_WATCH") == "shared" {
		s, err := newShared()
		if err != nil {
			log.Fatal(err)
		}
		deliver = s.deliver
	}

	cfg := &webgo.Config{Host: "127.0.0.1", Port: os.Args[1], ReadTimeout: 60 * time.Second, WriteTimeout: 60 * time.Second}
	router := webgo.NewRouter(cfg,
		&webgo.Route{Name: "submit", Method: http.MethodPost, Pattern: "/boxes/:box/messages", TrailingSlash: true,
			Handlers: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
				box, ok := boxOf(r)
				var m message
				if !ok || json.NewDecoder(r.Body).Decode(&m) != nil || strings.TrimSpace(m.Text) == "" {
					webgo.R400(w, "bad message")
					return
				}
				id := fmt.Sprintf("m%02d-%08d", box, ids.Add(1))
				// two filters one after the other: signatures, then words
				if _, err := deliver(box, id+".sig", &m); err != nil {
					log.Print(err)
					webgo.R500(w, "not delivered")
					return
				}
				v, err := deliver(box, id+".spam", &m)
				if err != nil {
					log.Print(err)
					webgo.R500(w, "not delivered")
					return
				}
				accepted[box].Add(1)
				webgo.R201(w, map[string]any{"id": id, "spam": v.Score > 0.5, "score": v.Score, "words": v.Words})
			}}},
		&webgo.Route{Name: "box", Method: http.MethodGet, Pattern: "/boxes/:box", TrailingSlash: true,
			Handlers: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
				box, ok := boxOf(r)
				if !ok {
					webgo.R404(w, "no such box")
					return
				}
				left, err := os.ReadDir(queue(box))
				if err != nil {
					webgo.R500(w, "no queue")
					return
				}
				webgo.R200(w, map[string]any{"box": box, "accepted": accepted[box].Load(), "waiting": len(left)})
			}}},
		&webgo.Route{Name: "health", Method: http.MethodGet, Pattern: "/health",
			Handlers: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) { webgo.R200(w, "ok") }}},
	)
	router.Start()
}
