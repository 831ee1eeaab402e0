// A server whose requests wait in user space, where the kernel sees idle threads.
//
//	waits PORT MODE OTHER_PORT
//
// The other server, at the other port, answers after a while: it is this program with the mode "other" and that while in
// milliseconds in place of the port. What some requests wait for depends on the mode:
//
//	lock      a mutex that another request holds while it asks the other server
//	permits   one of two places in a channel, held while a request asks the other server
//	backoff   a sleep before the other server is asked again, which has refused every tenth time
//	sleep     a sleep, every tenth time
//	pool      one of two connections of a database/sql pool, used to ask the other server
//	conns     one of two connections that net/http keeps to the other server
//	table     a lock of readers and writers that a goroutine in the background holds while it asks the other server
//	group     goroutines that ask the other server, every tenth time
//	reply     the other server, which answers later every tenth time
package main

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const places = 2

var (
	other   string
	mu      sync.Mutex
	table   sync.RWMutex
	permits = make(chan struct{}, places)
	served  atomic.Int64
	client  = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	narrow  = &http.Client{Transport: &http.Transport{MaxConnsPerHost: places, MaxIdleConnsPerHost: places}}
	db      *sql.DB
)

//go:noinline
func ask(client *http.Client, path string) bool {
	response, err := client.Get("http://" + other + path)
	if err != nil {
		log.Print(err)
		return false
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

//go:noinline
func refresh() {
	mu.Lock()
	defer mu.Unlock()
	ask(client, "/")
}

//go:noinline
func look() {
	table.RLock()
	defer table.RUnlock()
}

//go:noinline
func reload() {
	table.Lock()
	defer table.Unlock()
	ask(client, "/")
}

//go:noinline
func fanOut() {
	var group sync.WaitGroup
	for range 3 {
		group.Add(1)
		go func() {
			defer group.Done()
			ask(client, "/")
		}()
	}
	group.Wait()
}

//go:noinline
func limited() {
	permits <- struct{}{}
	defer func() { <-permits }()
	ask(client, "/")
}

//go:noinline
func askAgain() {
	for !ask(client, "/flaky") {
		time.Sleep(40 * time.Millisecond)
	}
}

//go:noinline
func query() {
	var answer string
	if err := db.QueryRowContext(context.Background(), "/").Scan(&answer); err != nil {
		log.Print(err)
	}
}

func handle(mode string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		tenth := served.Add(1)%10 == 0
		switch mode {
		case "lock":
			refresh()
		case "permits":
			limited()
		case "backoff":
			askAgain()
		case "sleep":
			if tenth {
				time.Sleep(40 * time.Millisecond)
			}
		case "table":
			look()
		case "group":
			if tenth {
				fanOut()
			}
		case "pool":
			query()
		case "conns":
			ask(narrow, "/")
		case "reply":
			if tenth {
				ask(client, "/")
			}
		}
		_, _ = io.WriteString(w, "ok\n")
	}
}

// A driver that asks the other server over a connection of its own, line by line.
type database struct{}
type connection struct {
	net.Conn
	lines *bufio.Reader
}
type statement struct {
	*connection
	query string
}
type row struct{ text string }

func (database) Open(string) (driver.Conn, error) {
	dialled, err := net.Dial("tcp", other)
	if err != nil {
		return nil, err
	}
	return &connection{dialled, bufio.NewReader(dialled)}, nil
}
func (c *connection) Prepare(query string) (driver.Stmt, error) { return &statement{c, query}, nil }
func (*connection) Begin() (driver.Tx, error)                   { return nil, errors.New("none") }
func (*statement) Close() error                                 { return nil }
func (*statement) NumInput() int                                { return 0 }
func (*statement) Exec([]driver.Value) (driver.Result, error)   { return nil, errors.New("none") }
func (s *statement) Query([]driver.Value) (driver.Rows, error) {
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", s.query, other)
	if _, err := io.WriteString(s.Conn, request); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(s.lines, nil)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	return &row{string(text)}, err
}
func (*row) Columns() []string { return []string{"answer"} }
func (*row) Close() error      { return nil }
func (r *row) Next(into []driver.Value) error {
	if r.text == "" {
		return io.EOF
	}
	into[0], r.text = r.text, ""
	return nil
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: waits PORT MODE OTHER_PORT")
	}
	mode := os.Args[2]
	if mode == "other" {
		millis, err := strconv.Atoi(os.Args[3])
		if err != nil {
			log.Fatal(err)
		}
		http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Duration(millis) * time.Millisecond)
			_, _ = io.WriteString(w, "ok\n")
		})
		http.HandleFunc("/flaky", func(w http.ResponseWriter, _ *http.Request) {
			if served.Add(1)%10 == 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = io.WriteString(w, "ok\n")
		})
	} else {
		other = "127.0.0.1:" + os.Args[3]
		sql.Register("other", database{})
		db, _ = sql.Open("other", "")
		db.SetMaxOpenConns(places)
		db.SetMaxIdleConns(places)
		http.HandleFunc("/", handle(mode))
		if mode == "table" {
			go func() {
				for {
					time.Sleep(100 * time.Millisecond)
					reload()
				}
			}()
		}
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
