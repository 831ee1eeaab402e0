package main

import (
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"strconv"

	"github.com/julienschmidt/httprouter"
)

const page = 4096

func main() {
	mb, _ := strconv.Atoi(os.Args[2])
	// the orders of all years lie in memory: the first 8 MB are those of this week
	orders := make([]byte, mb<<20)
	rnd := rand.New(rand.NewSource(7))
	for i := 0; i < len(orders); i += 1024 {
		rnd.Read(orders[i : i+64])
	}
	pages := len(orders) / page
	sum := func(from, n, max int) (s int) {
		for i := 0; i < n; i++ {
			s += int(orders[((from+i*131)%max)*page+64])
			s += int(orders[((from+i*131)%max)*page])
		}
		return
	}
	r := httprouter.New()
	r.GET("/orders/:customer", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		id, _ := strconv.Atoi(p.ByName("customer"))
		if id < 900 { // bought this week
			fmt.Fprintln(w, sum(id*17, 200, 2048))
			return
		}
		fmt.Fprintln(w, sum(rand.Intn(pages), 1000, pages))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], r)
}
