package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

type IssueWorker struct {
	river.WorkerDefaults[IssueArgs]
	db   *pgxpool.Pool
	http *http.Client
}

func (w *IssueWorker) Work(ctx context.Context, job *river.Job[IssueArgs]) error {
	begun := time.Now()
	var holder string
	var covered int
	if err := w.db.QueryRow(ctx, "select holder, covered from certificates where number = $1", job.Args.Number).Scan(&holder, &covered); err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte("issuer"))
	fmt.Fprintf(mac, "%s %s %s %d %d", job.Args.Number, job.Args.Sort, holder, covered, job.ID)
	body, _ := json.Marshal(Certificate{Number: job.Args.Number, Holder: holder, Covered: covered,
		Sort: job.Args.Sort, Seal: hex.EncodeToString(mac.Sum(nil)), Issued: begun})
	res, err := w.http.Post(job.Args.Callback, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	note("job", begun.Sub(job.Args.Asked), time.Since(begun))
	return err
}

func work(ctx context.Context) {
	// the web process holds the other end of stdin
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	db := connect(ctx)
	defer db.Close()
	workers := river.NewWorkers()
	river.AddWorker(workers, &IssueWorker{db: db, http: &http.Client{Timeout: 5 * time.Second}})
	poll, err := time.ParseDuration(env("RIVER_FETCH_POLL_INTERVAL", "1s"))
	if err != nil {
		log.Fatal(err)
	}
	client, err := river.NewClient(riverpgxv5.New(db), &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 20}},
		Workers:           workers,
		FetchCooldown:     time.Millisecond,
		FetchPollInterval: poll,
		// LISTEN does not work through PgBouncer's transaction pooling
		PollOnly: env("RIVER_POLL_ONLY", "no") == "yes",
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		log.Fatal(err)
	}
	<-ctx.Done()
	end, done := context.WithTimeout(context.Background(), 3*time.Second)
	defer done()
	client.StopAndCancel(end)
}
