package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/emicklei/go-restful/v3"
	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

type label struct {
	ID, Order string
}

var rdb *redis.Client
var queue *asynq.Client

// printLabel is the worker's side: draws the label and hands it to whoever ordered it.
func printLabel(ctx context.Context, t *asynq.Task) error {
	var l label
	if err := json.Unmarshal(t.Payload(), &l); err != nil {
		return err
	}
	img := image.NewGray(image.Rect(0, 0, 240, 120))
	for i, c := range []byte(l.Order + l.ID) {
		for b := 0; b < 8; b++ {
			for y := 20; y < 100 && c>>b&1 == 1; y++ {
				img.SetGray((i*8+b)%240, y, color.Gray{255})
			}
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return err
	}
	p := rdb.Pipeline()
	p.RPush(ctx, "label:"+l.ID, buf.Bytes())
	p.Expire(ctx, "label:"+l.ID, time.Minute)
	_, err := p.Exec(ctx)
	return err
}

func orderLabel(req *restful.Request, resp *restful.Response) {
	ctx := req.Request.Context()
	l := label{ID: uuid.NewString(), Order: req.QueryParameter("order")}
	payload, _ := json.Marshal(l)
	if _, err := queue.EnqueueContext(ctx, asynq.NewTask("label:print", payload)); err != nil {
		resp.WriteError(http.StatusInternalServerError, err)
		return
	}
	out, err := rdb.BLPop(ctx, 10*time.Second, "label:"+l.ID).Result()
	if err != nil {
		resp.WriteError(http.StatusGatewayTimeout, err)
		return
	}
	resp.AddHeader("Content-Type", "image/png")
	resp.Write([]byte(out[1]))
}

func orderStatus(req *restful.Request, resp *restful.Response) {
	n, err := rdb.Incr(req.Request.Context(), "seen:"+req.PathParameter("id")).Result()
	if err != nil {
		resp.WriteError(http.StatusInternalServerError, err)
		return
	}
	resp.WriteAsJson(map[string]any{"order": req.PathParameter("id"), "seen": n})
}

func main() {
	addr := os.Getenv("REDIS_ADDR")
	check, err := time.ParseDuration(os.Getenv("TASK_CHECK_INTERVAL"))
	if err != nil {
		log.Fatal(err)
	}
	rdb = redis.NewClient(&redis.Options{Addr: addr, PoolSize: 64})
	opt := asynq.RedisClientOpt{Addr: addr}
	queue = asynq.NewClient(opt)
	worker := asynq.NewServer(opt, asynq.Config{Concurrency: 8, TaskCheckInterval: check, LogLevel: asynq.WarnLevel})
	mux := asynq.NewServeMux()
	mux.HandleFunc("label:print", printLabel)
	if err := worker.Start(mux); err != nil {
		log.Fatal(err)
	}
	ws := new(restful.WebService)
	ws.Route(ws.GET("/labels").To(orderLabel))
	ws.Route(ws.GET("/orders/{id}").To(orderStatus))
	ws.Route(ws.GET("/health").To(func(_ *restful.Request, w *restful.Response) { fmt.Fprint(w, "ok") }))
	restful.Add(ws)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
