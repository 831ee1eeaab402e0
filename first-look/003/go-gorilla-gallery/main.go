package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"os"

	"github.com/gorilla/mux"
	"golang.org/x/image/draw"
)

var photo *image.RGBA

func page(w http.ResponseWriter, r *http.Request) {
	for i := 0; i < 40; i++ {
		fmt.Fprintf(w, "<li><a href=/photo/%s/%d>photo %d</a></li>\n", mux.Vars(r)["album"], i, i)
	}
}

func thumb(w http.ResponseWriter, r *http.Request) {
	dst := image.NewRGBA(image.Rect(0, 0, 640, 480))
	draw.CatmullRom.Scale(dst, dst.Bounds(), photo, photo.Bounds(), draw.Src, nil)
	var b bytes.Buffer
	jpeg.Encode(&b, dst, nil)
	w.Header().Set("Content-Type", "image/jpeg")
	w.Write(b.Bytes())
}

func main() {
	photo = image.NewRGBA(image.Rect(0, 0, 1280, 960))
	for y := 0; y < 960; y++ {
		for x := 0; x < 1280; x++ {
			photo.SetRGBA(x, y, color.RGBA{uint8(x), uint8(y), uint8(x ^ y), 255})
		}
	}
	r := mux.NewRouter()
	r.HandleFunc("/album/{album}", page)
	r.HandleFunc("/thumb/{id}", thumb)
	http.ListenAndServe("127.0.0.1:"+os.Args[1], r)
}
