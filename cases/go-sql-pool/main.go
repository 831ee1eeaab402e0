// A page that asks PostgreSQL for something that takes its time: server PORT DATABASE_PORT CONNECTIONS WAIT_S
package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	_ "github.com/lib/pq"
)

func main() {
	source := fmt.Sprintf("host=127.0.0.1 port=%s user=lab dbname=postgres sslmode=disable", os.Args[2])
	store, err := sql.Open("postgres", source)
	if err != nil {
		log.Fatal(err)
	}
	most, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	store.SetMaxOpenConns(most)
	store.SetMaxIdleConns(most)
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) {
		if err := store.Ping(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var one int
		if err := store.QueryRow("SELECT 1 FROM pg_sleep($1)", os.Args[4]).Scan(&one); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, one)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
