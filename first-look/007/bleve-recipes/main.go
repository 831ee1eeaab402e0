package main

import (
	"fmt"
	"log"
	"math/rand"
	"os"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/go-kratos/kratos/v2"
	khttp "github.com/go-kratos/kratos/v2/transport/http"
)

var words = strings.Fields(`basil bean beet butter cabbage carrot celery chard cheese chili cinnamon clove coriander
 cumin dill endive fennel fig garlic ginger honey kale leek lemon lentil lime mint mustard nutmeg olive onion orange
 oregano paprika parsley pea pear pepper plum potato pumpkin quince radish rice rosemary saffron sage salt sesame
 spinach squash thyme tomato turnip vanilla vinegar walnut yeast yoghurt`)

type recipe struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

func fill(index bleve.Index, n int) error {
	r := rand.New(rand.NewSource(7))
	pick := func(k int) string {
		var b []string
		for ; k > 0; k-- {
			b = append(b, words[r.Intn(len(words))])
		}
		return strings.Join(b, " ")
	}
	batch := index.NewBatch()
	for i := 0; i < n; i++ {
		if err := batch.Index(fmt.Sprint(i), recipe{Title: pick(3), Text: pick(25)}); err != nil {
			return err
		}
	}
	return index.Batch(batch)
}

func main() {
	dir, err := os.MkdirTemp("", "recipes")
	if err != nil {
		log.Fatal(err)
	}
	index, err := bleve.NewUsing(dir+"/recipes.bleve", bleve.NewIndexMapping(), bleve.Config.DefaultIndexType, bleve.Config.DefaultKVStore, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := fill(index, 4000); err != nil {
		log.Fatal(err)
	}
	srv := khttp.NewServer(khttp.Address("127.0.0.1:" + os.Args[1]))
	route := srv.Route("/")
	route.GET("/health", func(ctx khttp.Context) error { return ctx.String(200, "ok") })
	route.GET("/search", func(ctx khttp.Context) error {
		q := bleve.NewMatchQuery(ctx.Query().Get("q"))
		req := bleve.NewSearchRequestOptions(q, 10, 0, false)
		req.Fields = []string{"title"}
		req.Highlight = bleve.NewHighlight()
		res, err := index.SearchInContext(ctx, req)
		if err != nil {
			return err
		}
		return ctx.JSON(200, res.Hits)
	})
	if err := kratos.New(kratos.Server(srv)).Run(); err != nil {
		log.Fatal(err)
	}
}
