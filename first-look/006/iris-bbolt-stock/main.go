// The stock of a warehouse in a bbolt file, served by Iris.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/kataras/iris/v12"
	bolt "go.etcd.io/bbolt"
)

var (
	stock      = []byte("stock")
	deliveries = []byte("deliveries")
)

func label(sku string) ([]byte, error) {
	res, err := http.Get(os.Getenv("CARRIER") + "/labels?ref=" + sku)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

func add(b *bolt.Bucket, sku string, n int64) (int64, error) {
	var left int64
	if v := b.Get([]byte(sku)); v != nil {
		left = int64(binary.BigEndian.Uint64(v))
	}
	left += n
	return left, b.Put([]byte(sku), binary.BigEndian.AppendUint64(nil, uint64(left)))
}

func main() {
	db, err := bolt.Open(os.Getenv("DATA"), 0o600, &bolt.Options{NoSync: true, FreelistType: bolt.FreelistMapType})
	if err != nil {
		log.Fatal(err)
	}
	db.Update(func(tx *bolt.Tx) error {
		b, _ := tx.CreateBucketIfNotExists(stock)
		tx.CreateBucketIfNotExists(deliveries)
		for i := 0; i < 2000; i++ {
			add(b, fmt.Sprint("sku", i), 1000)
		}
		return nil
	})

	app := iris.New()
	app.Get("/stock/{sku}", func(ctx iris.Context) {
		db.View(func(tx *bolt.Tx) error {
			v := tx.Bucket(stock).Get([]byte(ctx.Params().Get("sku")))
			if v == nil {
				ctx.StatusCode(404)
				return nil
			}
			return ctx.JSON(iris.Map{"left": binary.BigEndian.Uint64(v)})
		})
	})
	app.Post("/stock/{sku}/count", func(ctx iris.Context) {
		var left int64
		err := db.Update(func(tx *bolt.Tx) (err error) {
			left, err = add(tx.Bucket(stock), ctx.Params().Get("sku"), 1)
			return
		})
		if err != nil {
			ctx.StopWithError(500, err)
			return
		}
		ctx.JSON(iris.Map{"left": left})
	})
	app.Post("/deliveries/{sku}", func(ctx iris.Context) {
		sku := ctx.Params().Get("sku")
		var paper []byte
		err := db.Update(func(tx *bolt.Tx) (err error) {
			if _, err = add(tx.Bucket(stock), sku, -1); err != nil {
				return
			}
			if paper, err = label(sku); err != nil {
				return
			}
			b := tx.Bucket(deliveries)
			id, _ := b.NextSequence()
			return b.Put(binary.BigEndian.AppendUint64(nil, id), paper)
		})
		if err != nil {
			ctx.StopWithError(500, err)
			return
		}
		ctx.Write(paper)
	})
	app.Listen("127.0.0.1:"+os.Getenv("PORT"), iris.WithoutStartupLog)
}
