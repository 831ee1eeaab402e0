// stands for the partners' offers service
package main

import (
	"encoding/json"
	"hash/crc32"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/{partner}/offers/{sku}", func(w http.ResponseWriter, r *http.Request) {
		h := crc32.ChecksumIEEE([]byte(r.URL.Path))
		json.NewEncoder(w).Encode(map[string]any{"sku": r.PathValue("sku"), "price": float64(h%10000) / 100, "stock": h % 37})
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
