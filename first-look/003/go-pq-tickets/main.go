package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"os"

	_ "github.com/lib/pq"
)

func main() {
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(60)
	db.SetMaxIdleConns(60)
	// POST /buy?event=N takes a seat
	http.HandleFunc("/buy", func(w http.ResponseWriter, r *http.Request) {
		var left int
		err := db.QueryRow("UPDATE events SET seats_left = seats_left - 1 WHERE id = $1 RETURNING seats_left", r.URL.Query().Get("event")).Scan(&left)
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		fmt.Fprintf(w, `{"left":%d}`, left)
	})
	// GET /prices?event=N
	http.HandleFunc("/prices", func(w http.ResponseWriter, r *http.Request) {
		rows, err := db.Query("SELECT category, cents FROM prices WHERE event = $1", r.URL.Query().Get("event"))
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var c string
			var n int
			rows.Scan(&c, &n)
			fmt.Fprintf(w, "%s %d\n", c, n)
		}
	})
	// GET /last?visitor=N: the last ten pages a visitor has seen
	http.HandleFunc("/last", func(w http.ResponseWriter, r *http.Request) {
		rows, err := db.Query("SELECT page FROM visits WHERE visitor = $1 ORDER BY id DESC LIMIT 10", r.URL.Query().Get("visitor"))
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var p string
			rows.Scan(&p)
			fmt.Fprintln(w, p)
		}
	})
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) {
		if err := db.Ping(); err != nil {
			http.Error(w, err.Error(), 503)
		}
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
