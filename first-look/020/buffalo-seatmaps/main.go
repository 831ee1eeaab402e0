// Seat maps of night trains: a Buffalo application that keeps one JSON document
// per train in a NATS JetStream key-value bucket. A hold is a read-modify-write
// of that document with the revision as guard.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/avast/retry-go/v4"
	"github.com/gobuffalo/buffalo"
	"github.com/gobuffalo/buffalo/render"
	"github.com/gorilla/sessions"
	"github.com/nats-io/nats.go"
)

type Seat struct {
	No       int      `json:"no"`
	Class    string   `json:"class"`
	Window   bool     `json:"window"`
	Holder   string   `json:"holder,omitempty"`
	Segments []string `json:"segments"`
}

type Car struct {
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	Seats  []Seat `json:"seats"`
}

type Train struct {
	ID   string `json:"id"`
	Next int    `json:"next"`
	Cars []Car  `json:"cars"`
}

var trains = []string{"nj40", "nj233", "nj294", "en407", "es474", "ic1281"}

var (
	kv        nats.KeyValue
	r         = render.New(render.Options{})
	conflicts atomic.Int64
	timing    *log.Logger
)

func envInt(name string, def int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return v
	}
	return def
}

func newTrain(id string, cars int) *Train {
	t := &Train{ID: id}
	for c := 0; c < cars; c++ {
		car := Car{Number: 250 + c, Kind: []string{"couchette", "sleeper", "coach"}[c%3]}
		for s := 0; s < 66; s++ {
			car.Seats = append(car.Seats, Seat{No: s + 11, Class: "2", Window: s%3 == 0,
				Segments: []string{"Zürich-Basel", "Basel-Frankfurt", "Frankfurt-Berlin"}})
		}
		t.Cars = append(t.Cars, car)
	}
	return t
}

func isConflict(err error) bool {
	var api *nats.APIError
	return errors.As(err, &api) && api.ErrorCode == nats.JSErrCodeStreamWrongLastSequence
}

// queues has one mutex per train when the holds of this process are to go one
// after the other (there is one process of this service per region).
var queues map[string]*sync.Mutex

// hold marks the next seat of the train for the holder.
func hold(id, holder string) (car, seat int, err error) {
	if q := queues[id]; q != nil {
		q.Lock()
		defer q.Unlock()
	}
	e, err := kv.Get(id)
	if err != nil {
		return 0, 0, retry.Unrecoverable(err)
	}
	var t Train
	if err = json.Unmarshal(e.Value(), &t); err != nil {
		return 0, 0, retry.Unrecoverable(err)
	}
	n := len(t.Cars) * 66
	c := &t.Cars[t.Next%n/66]
	s := &c.Seats[t.Next%n%66]
	s.Holder = holder
	t.Next++
	doc, err := json.Marshal(&t)
	if err != nil {
		return 0, 0, retry.Unrecoverable(err)
	}
	if _, err = kv.Update(id, doc, e.Revision()); err != nil {
		if isConflict(err) {
			conflicts.Add(1)
		}
		return 0, 0, err
	}
	return c.Number, s.No, nil
}

func main() {
	opts := []retry.Option{
		retry.Attempts(12),
		retry.MaxDelay(250*time.Millisecond),
		retry.LastErrorOnly(true),
		retry.RetryIf(isConflict),
	}
	if f := os.Getenv("TIMING_LOG"); f != "" {
		w, err := os.Create(f)
		if err != nil {
			log.Fatal(err)
		}
		timing = log.New(w, "", 0)
	}

	if envInt("ONE_HOLD_PER_TRAIN", 0) == 1 {
		queues = map[string]*sync.Mutex{}
		for _, id := range trains {
			queues[id] = &sync.Mutex{}
		}
	}

	nc, err := nats.Connect("nats://127.0.0.1:" + os.Getenv("NATS_PORT"))
	if err != nil {
		log.Fatal(err)
	}
	js, err := nc.JetStream()
	if err != nil {
		log.Fatal(err)
	}
	kv, err = js.CreateKeyValue(&nats.KeyValueConfig{Bucket: "seatmaps", Storage: nats.MemoryStorage, History: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range trains {
		doc, _ := json.Marshal(newTrain(id, envInt("CARS", 12)))
		if _, err := kv.Put(id, doc); err != nil {
			log.Fatal(err)
		}
	}

	app := buffalo.New(buffalo.Options{
		Env:          "production",
		Name:         "seatmaps",
		Addr:         "127.0.0.1:" + os.Getenv("PORT"),
		LogLvl:       5 - 3, // errors
		SessionStore: sessions.NewCookieStore([]byte("a-key-of-the-seat-maps-of-32-byt")),
	})
	app.GET("/health", func(c buffalo.Context) error {
		return c.Render(http.StatusOK, r.JSON(map[string]any{"ok": true, "conflicts": conflicts.Load()}))
	})
	app.GET("/trains", func(c buffalo.Context) error {
		return c.Render(http.StatusOK, r.JSON(trains))
	})
	app.GET("/trains/{train}/free", func(c buffalo.Context) error {
		e, err := kv.Get(c.Param("train"))
		if err != nil {
			return c.Error(http.StatusNotFound, err)
		}
		var t Train
		if err := json.Unmarshal(e.Value(), &t); err != nil {
			return err
		}
		free := map[string]int{}
		for _, car := range t.Cars {
			for _, s := range car.Seats {
				if s.Holder == "" {
					free[car.Kind]++
				}
			}
		}
		return c.Render(http.StatusOK, r.JSON(free))
	})
	app.POST("/trains/{train}/holds", func(c buffalo.Context) error {
		var in struct {
			Customer int `json:"customer"`
		}
		if err := c.Bind(&in); err != nil {
			return c.Error(http.StatusBadRequest, err)
		}
		start := time.Now()
		tries := 0
		var car, seat int
		err := retry.Do(func() (err error) {
			tries++
			car, seat, err = hold(c.Param("train"), fmt.Sprint("c", in.Customer))
			return err
		}, append(opts, retry.Context(c))...)
		if timing != nil {
			timing.Printf("%d %d %.2f", start.UnixMilli(), tries, float64(time.Since(start).Microseconds())/1000)
		}
		if err != nil {
			return c.Error(http.StatusConflict, err)
		}
		return c.Render(http.StatusCreated, r.JSON(map[string]int{"car": car, "seat": seat}))
	})
	if err := app.Serve(); err != nil {
		log.Fatal(err)
	}
}
