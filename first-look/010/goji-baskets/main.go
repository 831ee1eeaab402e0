// Baskets and discount vouchers in PostgreSQL, vouchers checked by the partner's service.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
	"goji.io"
	"goji.io/pat"
)

var (
	db      *pgxpool.Pool
	partner = os.Getenv("PARTNER")
)

const schema = `
create table if not exists campaign(id int primary key, used int not null);
create table if not exists basket(id int primary key, customer text, total int);
create table if not exists item(basket int, sku text, qty int);
insert into campaign select i, 0 from generate_series(1,500) i on conflict do nothing;
insert into basket select i, 'customer'||i, i%90 from generate_series(1,5000) i on conflict do nothing;
insert into item select 1+i%5000, 'sku'||i, 1+i%4 from generate_series(1,50000) i;
create index if not exists item_basket on item(basket);
analyze`

func basket(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(pat.Param(r, "id"))
	rows, err := db.Query(r.Context(), "select b.customer, i.sku, i.qty from basket b join item i on i.basket=b.id where b.id=$1", id)
	if err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var c, s string
		var q int
		if err := rows.Scan(&c, &s, &q); err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		fmt.Fprintf(w, "%s;%s;%d\n", c, s, q)
	}
}

// redeem counts one more use of the campaign; with ?partner=1 the partner confirms the voucher first.
func redeem(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(pat.Param(r, "id"))
	ctx := r.Context()
	tx, err := db.Begin(ctx)
	if err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	defer tx.Rollback(context.Background())
	var used int
	if err := tx.QueryRow(ctx, "select used from campaign where id=$1 for update", id).Scan(&used); err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	if r.URL.Query().Get("partner") == "1" {
		res, err := http.Get(partner + "/confirm?ms=120")
		if err != nil {
			http.Error(w, err.Error(), 502)
			return
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	if _, err := tx.Exec(ctx, "update campaign set used=$2 where id=$1", id, used+1); err == nil {
		err = tx.Commit(ctx)
	}
	fmt.Fprintln(w, used+1)
}

func main() {
	var err error
	if db, err = pgxpool.New(context.Background(), os.Getenv("DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
	if _, err = db.Exec(context.Background(), schema); err != nil {
		log.Fatal(err)
	}
	mux := goji.NewMux()
	mux.HandleFunc(pat.Get("/"), func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc(pat.Get("/basket/:id"), basket)
	mux.HandleFunc(pat.Post("/campaign/:id/redeem"), redeem)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], mux))
}
