package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/exp/mmap"
	"golang.org/x/sys/unix"
)

func main() {
	dir := os.Args[2]
	for i := 0; i < 20; i++ {
		os.WriteFile(filepath.Join(dir, fmt.Sprintf("doc-%d", i)), bytes.Repeat([]byte("all work and no play "), 3000), 0o644)
	}
	http.HandleFunc("GET /doc/{id}", func(w http.ResponseWriter, r *http.Request) {
		m, err := mmap.Open(filepath.Join(dir, "doc-"+r.PathValue("id")))
		if err != nil {
			http.Error(w, "none", 404)
			return
		}
		defer m.Close()
		b := make([]byte, 4096)
		m.ReadAt(b, 0)
		fmt.Fprintf(w, "%d plays\n", bytes.Count(b, []byte("play")))
	})
	http.HandleFunc("GET /import/{mb}", func(w http.ResponseWriter, r *http.Request) {
		mb, _ := strconv.Atoi(r.PathValue("mb"))
		b, err := unix.Mmap(-1, 0, mb<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		copy(b, "imported")
		fmt.Fprintf(w, "%s %d MB\n", b[:8], mb)
		unix.Munmap(b)
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
