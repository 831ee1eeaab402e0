package main

import (
	"encoding/json"
	"net/http"
	"os"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/urfave/negroni/v3"
)

type Sale struct {
	Product string  `db:"product" json:"product"`
	Pieces  int     `db:"pieces" json:"pieces"`
	Revenue float64 `db:"revenue" json:"revenue"`
}

func main() {
	db := sqlx.MustOpen("mysql", os.Getenv("DSN"))
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	db.SetConnMaxLifetime(5 * time.Minute)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if err := db.PingContext(r.Context()); err != nil {
			http.Error(w, err.Error(), 503)
		}
	})
	mux.HandleFunc("GET /shops/{id}/sales", func(w http.ResponseWriter, r *http.Request) {
		out := []Sale{}
		if err := db.SelectContext(r.Context(), &out, `SELECT product, SUM(pieces) AS pieces, SUM(pieces*price) AS revenue
			FROM sales WHERE shop = ? GROUP BY product ORDER BY revenue DESC LIMIT 20`, r.PathValue("id")); err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(out)
	})
	mux.HandleFunc("GET /shops/{id}", func(w http.ResponseWriter, r *http.Request) {
		var s struct {
			ID   int    `db:"id" json:"id"`
			Name string `db:"name" json:"name"`
		}
		if err := db.GetContext(r.Context(), &s, "SELECT id, name FROM shops WHERE id = ?", r.PathValue("id")); err != nil {
			http.Error(w, err.Error(), 404)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(s)
	})
	n := negroni.New(negroni.NewRecovery())
	n.UseHandler(mux)
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), n))
}
