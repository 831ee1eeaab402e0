package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"
)

type line struct {
	Sku   string `json:"sku"`
	Qty   int    `json:"qty"`
	Title string `json:"title"`
}

func main() {
	db, err := pgxpool.New(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/health", func(c *gin.Context) { c.String(200, "ok") })

	r.GET("/cart/:id", func(c *gin.Context) {
		ctx := c.Request.Context()
		id, _ := strconv.Atoi(c.Param("id"))
		rows, err := db.Query(ctx, "SELECT sku, qty FROM cart_lines WHERE cart = $1", id)
		if err != nil {
			c.String(500, err.Error())
			return
		}
		var lines []line
		for rows.Next() {
			var l line
			rows.Scan(&l.Sku, &l.Qty)
			lines = append(lines, l)
		}
		rows.Close()
		for i := range lines {
			db.QueryRow(ctx, "SELECT title FROM products WHERE sku = $1", lines[i].Sku).Scan(&lines[i].Title)
		}
		c.JSON(http.StatusOK, lines)
	})

	r.GET("/v2/cart/:id", func(c *gin.Context) {
		ctx := c.Request.Context()
		id, _ := strconv.Atoi(c.Param("id"))
		rows, err := db.Query(ctx, "SELECT l.sku, l.qty, p.title FROM cart_lines l JOIN products p USING (sku) WHERE l.cart = $1", id)
		if err != nil {
			c.String(500, err.Error())
			return
		}
		defer rows.Close()
		var lines []line
		for rows.Next() {
			var l line
			rows.Scan(&l.Sku, &l.Qty, &l.Title)
			lines = append(lines, l)
		}
		c.JSON(http.StatusOK, lines)
	})
	log.Fatal(r.Run("127.0.0.1:" + os.Args[1]))
}
