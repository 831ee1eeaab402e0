package main

import (
	"context"
	"os"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/jackc/pgx/v5/pgxpool"
)

type line struct {
	Article string `json:"article"`
	Cents   int    `json:"cents"`
}
type order struct {
	ID     int       `json:"id"`
	Placed time.Time `json:"placed"`
	Lines  []line    `json:"lines"`
}

func main() {
	cfg, err := pgxpool.ParseConfig(os.Args[2])
	if err != nil {
		panic(err)
	}
	cfg.MaxConns = 16
	cfg.MinConns = 8
	db, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		panic(err)
	}
	h := server.Default(server.WithHostPorts("127.0.0.1:" + os.Args[1]))
	h.GET("/health", func(ctx context.Context, c *app.RequestContext) {
		if err := db.Ping(ctx); err != nil {
			c.String(503, err.Error())
			return
		}
		c.String(200, "ok")
	})
	h.GET("/customers/:id/orders", func(ctx context.Context, c *app.RequestContext) {
		orders, err := ordersOf(ctx, db, c.Param("id"))
		if err != nil {
			c.String(500, err.Error())
			return
		}
		c.JSON(200, orders)
	})
	h.Spin()
}

func ordersOf(ctx context.Context, db *pgxpool.Pool, customer string) ([]order, error) {
	rows, err := db.Query(ctx, "select id, placed from orders where customer = $1::text::int order by id", customer)
	if err != nil {
		return nil, err
	}
	var orders []order
	for rows.Next() {
		var o order
		if err := rows.Scan(&o.ID, &o.Placed); err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	for i := range orders {
		if orders[i].Lines, err = linesOf(ctx, db, orders[i].ID); err != nil {
			return nil, err
		}
	}
	return orders, rows.Err()
}

func linesOf(ctx context.Context, db *pgxpool.Pool, id int) ([]line, error) {
	rows, err := db.Query(ctx, "select article, cents from lines where order_id = $1 order by n", id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lines []line
	for rows.Next() {
		var l line
		if err := rows.Scan(&l.Article, &l.Cents); err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, rows.Err()
}
