// Travel guides in Badger: one guide as HTML, or a whole country as an archive.
package main

import (
	"archive/zip"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/dimfeld/httptreemux/v5"
	"github.com/dgraph-io/badger/v4"
	"github.com/yuin/goldmark"
)

var db *badger.DB

func fill() error {
	wb := db.NewWriteBatch()
	defer wb.Cancel()
	for c := 0; c < 20; c++ {
		for n := 0; n < 60; n++ {
			var s strings.Builder
			fmt.Fprintf(&s, "# Guide %d of country %d\n\n", n, c)
			for k := 0; k < 40; k++ {
				fmt.Fprintf(&s, "## Sight %d\n\nA **fine** place, see [map](/map/%d). Open from %d to %d.\n\n- by foot\n- by *tram* %d\n\n", k, k*n, 7+k%4, 17+k%5, k)
			}
			if err := wb.Set([]byte(fmt.Sprintf("guide/%02d/%02d", c, n)), []byte(s.String())); err != nil {
				return err
			}
		}
	}
	return wb.Flush()
}

func guide(w http.ResponseWriter, r *http.Request, p map[string]string) {
	err := db.View(func(t *badger.Txn) error {
		it, err := t.Get([]byte("guide/" + p["country"] + "/" + p["n"]))
		if err != nil {
			return err
		}
		return it.Value(func(v []byte) error {
			w.Header().Set("Content-Type", "text/html")
			return goldmark.Convert(v, w)
		})
	})
	if err != nil {
		http.Error(w, err.Error(), 404)
	}
}

func archive(w http.ResponseWriter, r *http.Request, p map[string]string) {
	w.Header().Set("Content-Type", "application/zip")
	z := zip.NewWriter(w)
	defer z.Close()
	prefix := []byte("guide/" + p["country"] + "/")
	db.View(func(t *badger.Txn) error {
		it := t.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Seek(prefix); it.ValidForPrefix(prefix); it.Next() {
			f, err := z.Create(string(it.Item().Key()) + ".md")
			if err != nil {
				return err
			}
			if err := it.Item().Value(func(v []byte) error { _, err := f.Write(v); return err }); err != nil {
				return err
			}
		}
		return nil
	})
}

func main() {
	var err error
	db, err = badger.Open(badger.DefaultOptions(os.Args[2]).WithLogger(nil).WithMemTableSize(16 << 20).WithValueLogFileSize(64 << 20))
	if err != nil {
		log.Fatal(err)
	}
	if err := fill(); err != nil {
		log.Fatal(err)
	}
	mux := httptreemux.New()
	mux.GET("/", func(w http.ResponseWriter, r *http.Request, p map[string]string) { fmt.Fprintln(w, "ok") })
	mux.GET("/guide/:country/:n", guide)
	mux.GET("/archive/:country", archive)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], mux))
}
