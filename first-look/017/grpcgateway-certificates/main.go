// Certificates of insurance: grpc-gateway's ServeMux in front, pgx, and River
// (jobs in PostgreSQL) for the certificates that must be issued anew. The jobs
// are worked by a second process, "certificates worker".
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

type IssueArgs struct {
	Number   string    `json:"number"`
	Sort     string    `json:"sort"`
	Callback string    `json:"callback"`
	Asked    time.Time `json:"asked"`
}

func (IssueArgs) Kind() string { return "issue_certificate" }

func env(key, def string) string {
	if v := os.Getenv(key); v != "" {
		return v
	}
	return def
}

func connect(ctx context.Context) *pgxpool.Pool {
	url := fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable&pool_max_conns=12&pool_min_conns=4", env("DB_PORT", "5432"))
	pool, err := pgxpool.New(ctx, url)
	for i := 0; err == nil && i < 100; i++ {
		if err = pool.Ping(ctx); err == nil {
			return pool
		}
		time.Sleep(200 * time.Millisecond)
		if i < 99 {
			err = nil
		}
	}
	log.Fatal("database: ", err)
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		work(ctx)
		return
	}
	serve(ctx)
}
