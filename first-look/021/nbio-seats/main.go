// seats holds theatre seats for some minutes while their buyers pay. The holds are kept in a
// NATS JetStream key-value bucket, so that all instances see them.
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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/lesismal/nbio/nbhttp"
	"github.com/nats-io/nats.go"
)

type hold struct {
	Seat  int   `json:"seat"`
	Cents int   `json:"cents"`
	Until int64 `json:"until"`
}

// holds is the value of one key. A show's key has the holds of its last buyers.
type holds struct {
	Holds []hold `json:"holds"`
}

type app struct {
	kv       nats.KeyValue
	tariffs  string
	client   *http.Client
	perSeat  bool
	first    time.Duration
	calls    atomic.Int64
	conflict atomic.Int64
}

var trace = os.Getenv("SEATS_TRACE") != ""

func (a *app) key(show, seat int) string {
	if a.perSeat {
		return fmt.Sprintf("show.%d.seat.%d", show, seat)
	}
	return fmt.Sprintf("show.%d", show)
}

// price asks the tariffs service, which knows the discounts of the hour.
func (a *app) price(ctx context.Context, show, seat int) (int, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s/tariffs/%d/%d", a.tariffs, show, seat), nil)
	if err != nil {
		return 0, err
	}
	res, err := a.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(b))
}

// hold adds a hold to its key; if another buyer was faster, it starts again.
func (a *app) hold(ctx context.Context, show, seat int) (hold, error) {
	a.calls.Add(1)
	key := a.key(show, seat)
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(a.first), backoff.WithMaxInterval(120*time.Millisecond), backoff.WithMaxElapsedTime(5*time.Second))
	return backoff.RetryNotifyWithData(func() (hold, error) {
		var h holds
		var revision uint64
		switch e, err := a.kv.Get(key); {
		case err == nil:
			revision = e.Revision()
			if err := json.Unmarshal(e.Value(), &h); err != nil {
				return hold{}, backoff.Permanent(err)
			}
		case !errors.Is(err, nats.ErrKeyNotFound):
			return hold{}, backoff.Permanent(err)
		}
		cents, err := a.price(ctx, show, seat)
		if err != nil {
			return hold{}, backoff.Permanent(err)
		}
		mine := hold{seat, cents, time.Now().Add(10 * time.Minute).Unix()}
		if len(h.Holds) >= 20 {
			h.Holds = h.Holds[len(h.Holds)-19:]
		}
		h.Holds = append(h.Holds, mine)
		v, _ := json.Marshal(h)
		if _, err := a.kv.Update(key, v, revision); err != nil {
			var api *nats.APIError
			if errors.As(err, &api) && api.ErrorCode == nats.JSErrCodeStreamWrongLastSequence {
				return hold{}, err
			}
			return hold{}, backoff.Permanent(err)
		}
		return mine, nil
	}, backoff.WithContext(b, ctx), func(err error, wait time.Duration) {
		n := a.conflict.Add(1)
		if trace {
			log.Printf("TRACE conflict %s, again in %s (%d in %d calls)", key, wait, n, a.calls.Load())
		}
	})
}

func reply(w http.ResponseWriter, v any) {
	b, _ := json.Marshal(v)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
}

func main() {
	nc, err := nats.Connect("nats://127.0.0.1:"+os.Getenv("NATS_PORT"), nats.Name("seats"))
	if err != nil {
		log.Fatal(err)
	}
	js, err := nc.JetStream()
	if err != nil {
		log.Fatal(err)
	}
	kv, err := js.CreateKeyValue(&nats.KeyValueConfig{Bucket: "holds", History: 1, TTL: 10 * time.Minute, Storage: nats.MemoryStorage})
	if err != nil {
		log.Fatal(err)
	}
	first, err := time.ParseDuration(os.Getenv("RETRY_FIRST"))
	if err != nil {
		first = 60 * time.Millisecond
	}
	a := &app{kv: kv, tariffs: "http://127.0.0.1:" + os.Getenv("TARIFFS_PORT"), perSeat: os.Getenv("HOLD_KEY") == "seat", first: first,
		client: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}

	// Every show has an entry from the start.
	for show := 1; show <= 60; show++ {
		if _, err := kv.Create(a.key(show, 0), []byte(`{"holds":[]}`)); err != nil && !errors.Is(err, nats.ErrKeyExists) {
			log.Fatal(err)
		}
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /up", func(w http.ResponseWriter, r *http.Request) { reply(w, "up") })
	mux.HandleFunc("POST /shows/{show}/holds", func(w http.ResponseWriter, r *http.Request) {
		show, err := strconv.Atoi(r.PathValue("show"))
		var in struct {
			Seat int `json:"seat"`
		}
		if err != nil || json.NewDecoder(r.Body).Decode(&in) != nil {
			http.Error(w, "bad hold", http.StatusBadRequest)
			return
		}
		h, err := a.hold(context.Background(), show, in.Seat)
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		reply(w, h)
	})
	mux.HandleFunc("GET /shows/{show}", func(w http.ResponseWriter, r *http.Request) {
		show, err := strconv.Atoi(r.PathValue("show"))
		if err != nil {
			http.Error(w, "bad show", http.StatusBadRequest)
			return
		}
		e, err := kv.Get(a.key(show, 0))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		var h holds
		json.Unmarshal(e.Value(), &h)
		reply(w, map[string]any{"show": show, "held": len(h.Holds), "stage": []string{"main", "studio", "yard"}[show%3]})
	})
	mux.HandleFunc("GET /shows/{show}/quote/{seat}", func(w http.ResponseWriter, r *http.Request) {
		show, _ := strconv.Atoi(r.PathValue("show"))
		seat, _ := strconv.Atoi(r.PathValue("seat"))
		cents, err := a.price(r.Context(), show, seat)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		reply(w, map[string]int{"cents": cents})
	})

	engine := nbhttp.NewEngine(nbhttp.Config{
		Network: "tcp", Addrs: []string{"127.0.0.1:" + os.Getenv("PORT")}, Handler: mux, MessageHandlerPoolSize: 200,
	})
	if err := engine.Start(); err != nil {
		log.Fatal(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	os.Exit(0)
}
