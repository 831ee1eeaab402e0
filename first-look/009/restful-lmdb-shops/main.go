// Shops and their articles: go-restful over an LMDB file.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strconv"

	"github.com/PowerDNS/lmdb-go/lmdb"
	restful "github.com/emicklei/go-restful/v3"
)

const shops, perShop = 150, 700

func key(n uint32) []byte {
	b := make([]byte, 4)
	binary.BigEndian.PutUint32(b, n*2654435761) // articles are spread over the whole file
	return b
}

func open(dir string, flags uint) (*lmdb.Env, lmdb.DBI) {
	env, err := lmdb.NewEnv()
	if err != nil {
		log.Fatal(err)
	}
	env.SetMapSize(2 << 30)
	if err = env.Open(dir, flags, 0644); err != nil {
		log.Fatal(err)
	}
	var dbi lmdb.DBI
	err = env.Update(func(txn *lmdb.Txn) (err error) { dbi, err = txn.OpenRoot(0); return })
	if err != nil {
		log.Fatal(err)
	}
	return env, dbi
}

func fill(dir string) {
	os.MkdirAll(dir, 0755)
	env, dbi := open(dir, lmdb.NoSync)
	value := make([]byte, 3000)
	for s := uint32(0); s < shops; s++ {
		err := env.Update(func(txn *lmdb.Txn) error {
			for a := uint32(0); a < perShop; a++ {
				rand.Read(value)
				if err := txn.Put(dbi, key(s*perShop+a), value, 0); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	env.Sync(true)
	env.Close()
}

func main() {
	if os.Args[1] == "fill" {
		fill(os.Args[2])
		return
	}
	env, dbi := open(os.Args[2], lmdb.NoReadahead)
	ws := new(restful.WebService)
	ws.Route(ws.GET("/").To(func(req *restful.Request, resp *restful.Response) {
		fmt.Fprintln(resp, "shops")
	}))
	ws.Route(ws.GET("/shop/{id}").To(func(req *restful.Request, resp *restful.Response) {
		id, err := strconv.Atoi(req.PathParameter("id"))
		if err != nil || id < 0 || id >= shops {
			resp.WriteHeader(http.StatusNotFound)
			return
		}
		total := 0
		err = env.View(func(txn *lmdb.Txn) error {
			txn.RawRead = true
			for a := uint32(0); a < perShop; a++ {
				v, err := txn.Get(dbi, key(uint32(id)*perShop+a))
				if err != nil {
					return err
				}
				total += int(v[0])
			}
			return nil
		})
		if err != nil {
			resp.WriteError(http.StatusInternalServerError, err)
			return
		}
		resp.WriteAsJson(map[string]int{"shop": id, "articles": perShop, "total": total})
	}))
	restful.Add(ws)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
