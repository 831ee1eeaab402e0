// Bestsellers of a bookshop: Hertz, PostgreSQL by pgx, kept in go-cache.
package main

import (
	"context"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/patrickmn/go-cache"
)

type Book struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
	Sold  int    `json:"sold"`
}

const topQuery = `select b.id, b.title, sum(s.copies)::int as sold
from sales s join books b on b.id = s.book group by b.id, b.title order by sold desc, b.id limit 50`

var pool *pgxpool.Pool

func load(ctx context.Context) ([]Book, error) {
	rows, err := pool.Query(ctx, topQuery)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Book])
}

type page struct {
	books []Book
	until time.Time
}

func main() {
	ttl, err := time.ParseDuration(os.Getenv("TTL"))
	if err != nil {
		log.Fatal(err)
	}
	cfg, _ := pgxpool.ParseConfig(os.Getenv("DB_URL"))
	cfg.MaxConns, cfg.MinConns = 48, 48
	if pool, err = pgxpool.NewWithConfig(context.Background(), cfg); err != nil {
		log.Fatal(err)
	}
	cached := cache.New(ttl, 10*time.Minute)
	h := server.New(server.WithHostPorts("127.0.0.1:" + os.Getenv("PORT")))
	h.GET("/ready", func(_ context.Context, c *app.RequestContext) { c.String(200, "ok") })

	if os.Getenv("STALE_WHILE_REVALIDATE") == "" {
		h.GET("/bestsellers", func(ctx context.Context, c *app.RequestContext) {
			if v, ok := cached.Get("top"); ok {
				c.JSON(200, v)
				return
			}
			books, err := load(ctx)
			if err != nil {
				c.String(500, err.Error())
				return
			}
			cached.SetDefault("top", books)
			c.JSON(200, books)
		})
	} else {
		first, err := load(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		cached.Set("top", page{first, time.Now().Add(ttl)}, cache.NoExpiration)
		var loading atomic.Bool
		h.GET("/bestsellers", func(_ context.Context, c *app.RequestContext) {
			v, _ := cached.Get("top")
			p := v.(page)
			if time.Now().After(p.until) && loading.CompareAndSwap(false, true) {
				go func() {
					defer loading.Store(false)
					if books, err := load(context.Background()); err == nil {
						cached.Set("top", page{books, time.Now().Add(ttl)}, cache.NoExpiration)
					}
				}()
			}
			c.JSON(200, p.books)
		})
	}
	h.Spin()
}
