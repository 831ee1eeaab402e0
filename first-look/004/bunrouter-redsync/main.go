package main

import (
	"io"
	"log"
	"net/http"
	"os"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/uptrace/bunrouter"
)

func main() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Getenv("REDIS_PORT"), PoolSize: 64, MinIdleConns: 8})
	locks := redsync.New(goredis.NewPool(client))
	risk := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

	router := bunrouter.New()
	router.GET("/health", func(w http.ResponseWriter, req bunrouter.Request) error {
		return client.Ping(req.Context()).Err()
	})
	router.POST("/events/:id/reserve", func(w http.ResponseWriter, req bunrouter.Request) error {
		ctx, event := req.Context(), req.Param("id")
		mutex := locks.NewMutex("lock:event:" + event)
		if err := mutex.LockContext(ctx); err != nil {
			return err
		}
		defer mutex.UnlockContext(ctx)

		resp, err := risk.Get(os.Getenv("RISK") + "/check/" + event)
		if err != nil {
			return err
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		seat, err := client.Incr(ctx, "seats:"+event).Result()
		if err != nil {
			return err
		}
		return bunrouter.JSON(w, bunrouter.H{"event": event, "seat": seat})
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), router))
}
