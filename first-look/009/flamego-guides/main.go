// Travel guides kept as Markdown and rendered on request.
package main

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"strings"

	"github.com/flamego/flamego"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func guide(n, sections int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Guide %d\n\n", n)
	for s := 0; s < sections; s++ {
		fmt.Fprintf(&b, "## Day %d\n\nWalk from *place %d* to **place %d** by the [old road](https://example.org/%d/%d).\n\n", s, s*n, s*n+1, n, s)
		b.WriteString("| stop | km | open |\n|---|---:|---|\n")
		for i := 0; i < 12; i++ {
			fmt.Fprintf(&b, "| stop %d of %d | %d.%d | from `%d:00` |\n", i, s, i*n%30, i, 6+i)
		}
		b.WriteString("\n- bread\n- water\n  - more *water*\n- a map\n\n")
	}
	return []byte(b.String())
}

var page = template.Must(template.New("page").Parse(`<!doctype html><title>{{.Title}}</title><body>{{.Body}}</body>`))

func main() {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	guides := map[string][]byte{}
	for i := 1; i <= 20; i++ {
		guides[fmt.Sprint(i)] = guide(i, 18)
	}
	f := flamego.New()
	render := func(w http.ResponseWriter, title string, text []byte) {
		var body, out bytes.Buffer
		md.Convert(text, &body)
		page.Execute(&out, map[string]any{"Title": title, "Body": template.HTML(body.String())})
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(out.Bytes())
	}
	f.Get("/", func() string { return "guides" })
	f.Get("/guide/{id}", func(c flamego.Context) { render(c.ResponseWriter(), "guide", guides[c.Param("id")]) })
	book := bytes.Join([][]byte{guides["1"], guides["2"], guides["3"]}, []byte("\n\n"))
	f.Get("/book", func(c flamego.Context) { render(c.ResponseWriter(), "book", book) })
	http.ListenAndServe("127.0.0.1:"+os.Args[1], f)
}
