package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/google/renameio/v2"
)

func main() {
	dir := os.Args[2]
	var n atomic.Int64
	os.WriteFile(filepath.Join(dir, "motd"), bytes.Repeat([]byte("hello "), 200), 0o644)
	http.HandleFunc("GET /motd", func(w http.ResponseWriter, r *http.Request) {
		b, _ := os.ReadFile(filepath.Join(dir, "motd"))
		w.Write(b)
	})
	http.HandleFunc("POST /message", func(w http.ResponseWriter, r *http.Request) {
		kb, _ := strconv.Atoi(r.URL.Query().Get("kb"))
		id := n.Add(1)
		// renameio writes a temporary file, syncs it and renames it
		err := renameio.WriteFile(filepath.Join(dir, fmt.Sprintf("msg-%d", id%500)), bytes.Repeat([]byte{byte(id)}, kb<<10), 0o644)
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		fmt.Fprintf(w, "stored %d\n", id)
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
