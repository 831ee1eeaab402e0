// Listings of an estate agency.
//
//	listings serve PORT            the service
//	listings migrate PORT TIMEOUT  the schema migration of the release (lock_timeout TIMEOUT; 0 waits for ever)
//	listings report PORT           the price report of the analysts
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	dbx "github.com/go-ozzo/ozzo-dbx"
	routing "github.com/go-ozzo/ozzo-routing/v2"
	"github.com/go-ozzo/ozzo-routing/v2/content"
	"github.com/go-ozzo/ozzo-routing/v2/fault"
	"github.com/lib/pq"
)

type Listing struct {
	ID       int     `db:"id" json:"id"`
	District string  `db:"district" json:"district"`
	Street   string  `db:"street" json:"street"`
	Rooms    int     `db:"rooms" json:"rooms"`
	Area     float64 `db:"area" json:"area"`
	Price    int64   `db:"price" json:"price"`
	Viewed   int     `db:"viewed" json:"viewed"`
}

const columns = "id, district, street, rooms, area, price, viewed"

func open() *dbx.DB {
	db, err := dbx.Open("postgres", fmt.Sprintf(
		"host=127.0.0.1 port=%s user=listings dbname=listings sslmode=disable application_name=%s",
		os.Getenv("DB_PORT"), os.Args[1]))
	if err != nil {
		log.Fatal(err)
	}
	return db
}

// await returns when the database takes statements.
func await(db *dbx.DB) {
	for db.DB().Ping() != nil {
		time.Sleep(100 * time.Millisecond)
	}
}

func serve(addr string) {
	db := open()
	db.DB().SetMaxOpenConns(80)
	db.DB().SetMaxIdleConns(80)

	router := routing.New()
	router.Use(fault.Recovery(log.Printf), content.TypeNegotiator(content.JSON))

	router.Get("/health", func(c *routing.Context) error {
		var n int
		if err := db.NewQuery("SELECT count(*) FROM districts").Row(&n); err != nil {
			return err
		}
		return c.Write(map[string]int{"districts": n})
	})
	router.Get(`/districts`, func(c *routing.Context) error {
		names := []string{}
		if err := db.NewQuery("SELECT name FROM districts ORDER BY name").Column(&names); err != nil {
			return err
		}
		return c.Write(names)
	})
	router.Get(`/listings/<id:\d+>`, func(c *routing.Context) error {
		var l Listing
		if err := db.NewQuery("SELECT " + columns + " FROM listings WHERE id = {:id}").
			Bind(dbx.Params{"id": c.Param("id")}).WithContext(c.Request.Context()).One(&l); err != nil {
			return routing.NewHTTPError(http.StatusNotFound, err.Error())
		}
		return c.Write(l)
	})
	router.Get(`/districts/<name>/listings`, func(c *routing.Context) error {
		found := []Listing{}
		if err := db.NewQuery("SELECT " + columns + " FROM listings WHERE district = {:d} AND rooms >= {:r} ORDER BY price LIMIT 20").
			Bind(dbx.Params{"d": c.Param("name"), "r": c.Query("rooms", "1")}).
			WithContext(c.Request.Context()).All(&found); err != nil {
			return err
		}
		return c.Write(found)
	})
	log.Fatal(http.ListenAndServe(addr, router))
}

// status answers everyone who dials with one line, so that one sees that the job runs.
func status(addr string, line *string) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		log.Fatal(err)
	}
	for {
		if c, err := l.Accept(); err == nil {
			fmt.Fprintln(c, *line)
			c.Close()
		}
	}
}

// migrate adds the columns of the energy certificate, a step for each of them, with a short rest between two steps.
func migrate(addr, timeout string) {
	ctx := context.Background()
	line := "starting"
	go status(addr, &line)
	db := open()
	await(db)
	conn, err := db.DB().Conn(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := conn.ExecContext(ctx, "SET lock_timeout = '"+timeout+"'"); err != nil {
		log.Fatal(err)
	}
	for step := 1; step <= 1200; step++ {
		for {
			begin := time.Now()
			_, err := conn.ExecContext(ctx, fmt.Sprintf("ALTER TABLE listings ADD COLUMN certificate_%d integer", step))
			took := time.Since(begin).Round(time.Millisecond)
			if err == nil {
				line = fmt.Sprintf("step %d took %v", step, took)
				log.Print(line)
				break
			}
			if e, ok := err.(*pq.Error); !ok || e.Code.Name() != "lock_not_available" {
				log.Fatal(err)
			}
			log.Printf("step %d gave up after %v", step, took)
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond)
	}
	select {}
}

// the price per square metre under four scenarios, by district and bucket
const priceReport = `
SELECT a.district, width_bucket(a.price, 0, 2000000, 20) AS bucket, count(*), avg(a.price / a.area),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY a.price / a.area), stddev(ln(a.price) * sqrt(a.area))
FROM listings a, generate_series(1, 4) AS scenario
GROUP BY 1, 2 ORDER BY 1, 2`

// report reads the whole table every two seconds.
func report(addr string) {
	line := "starting"
	go status(addr, &line)
	db := open()
	await(db)
	for next := time.Now(); ; next = next.Add(2 * time.Second) {
		time.Sleep(time.Until(next))
		begin := time.Now()
		var rows []dbx.NullStringMap
		if err := db.NewQuery(priceReport).All(&rows); err != nil {
			log.Fatal(err)
		}
		line = fmt.Sprintf("%d rows after %v", len(rows), time.Since(begin).Round(time.Millisecond))
		log.Print(line)
	}
}

func main() {
	addr := "127.0.0.1:" + os.Args[2]
	switch os.Args[1] {
	case "serve":
		serve(addr)
	case "migrate":
		migrate(addr, os.Args[3])
	case "report":
		report(addr)
	}
}
