package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

var article = []byte(strings.Repeat("The quick brown fox jumps over the lazy dog, and again, number 42; ", 400))

func page(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	for i := 0; i < 10; i++ {
		b.Reset()
		z, _ := gzip.NewWriterLevel(&b, 9)
		for k := 0; k < 4; k++ {
			fmt.Fprintf(z, "<p>%d %s", k*i, r.URL.Path)
			z.Write(article)
		}
		z.Close()
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Write(b.Bytes())
}

func main() {
	http.HandleFunc("/articles/", page)
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok\n")) })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
