// catalog: articles over Twirp. Articles are kept in memcached (several nodes,
// bradfitz/gomemcache picks one by the hash of the key) and read from PostgreSQL
// when the cache has none.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	_ "github.com/lib/pq"
	"github.com/twitchtv/twirp"

	"example.com/catalog/catalogpb"
)

var timing = os.Getenv("CATALOG_TIMING") != ""

type server struct {
	cache *memcache.Client
	db    *sql.DB
}

func (s *server) GetArticle(ctx context.Context, req *catalogpb.GetArticleRequest) (*catalogpb.Article, error) {
	if req.Sku == "" {
		return nil, twirp.RequiredArgumentError("sku")
	}
	key := "article:" + req.Sku
	t0 := time.Now()
	item, err := s.cache.Get(key)
	if d := time.Since(t0); timing && d > 10*time.Millisecond {
		log.Printf("get %s: %v after %v", key, err, d)
	}
	if err == nil {
		var a catalogpb.Article
		if err := json.Unmarshal(item.Value, &a); err == nil {
			a.FromCache = true
			return &a, nil
		}
	}
	cached := err == nil || errors.Is(err, memcache.ErrCacheMiss)

	a := &catalogpb.Article{Sku: req.Sku}
	err = s.db.QueryRowContext(ctx, `SELECT title, price_cents, stock FROM article WHERE sku = $1`, req.Sku).
		Scan(&a.Title, &a.PriceCents, &a.Stock)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, twirp.NotFoundError("no such article")
	}
	if err != nil {
		return nil, twirp.InternalErrorWith(err)
	}
	if cached { // a node that is not there gets nothing
		value, _ := json.Marshal(a)
		if err := s.cache.Set(&memcache.Item{Key: key, Value: value, Expiration: 3600}); err != nil {
			log.Printf("set %s: %v", key, err)
		}
	}
	return a, nil
}

func (s *server) ListShelves(ctx context.Context, req *catalogpb.ListShelvesRequest) (*catalogpb.ListShelvesReply, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT DISTINCT shelf FROM article WHERE hall = $1 ORDER BY shelf`, req.Hall)
	if err != nil {
		return nil, twirp.InternalErrorWith(err)
	}
	defer rows.Close()
	reply := &catalogpb.ListShelvesReply{}
	for rows.Next() {
		var shelf string
		if err := rows.Scan(&shelf); err != nil {
			return nil, twirp.InternalErrorWith(err)
		}
		reply.Shelves = append(reply.Shelves, shelf)
	}
	return reply, rows.Err()
}

func main() {
	db, err := sql.Open("postgres", fmt.Sprintf("host=127.0.0.1 port=%s user=postgres dbname=shop sslmode=disable", os.Getenv("DB_PORT")))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	if err := db.Ping(); err != nil {
		log.Fatal(err)
	}
	cache := memcache.New(strings.Split(os.Getenv("MEMCACHED"), ",")...)
	cache.Timeout = 100 * time.Millisecond
	cache.MaxIdleConns = 16

	mux := http.NewServeMux()
	h := catalogpb.NewCatalogServer(&server{cache, db})
	mux.Handle(h.PathPrefix(), h)
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}
