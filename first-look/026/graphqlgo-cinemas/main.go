// Programme of a chain of cinemas as GraphQL: films and showings are held here, free seats come from the box office.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"time"

	"github.com/graphql-go/graphql"
)

type Showing struct {
	ID   int    `json:"id"`
	Hall string `json:"hall"`
	At   string `json:"at"`
}

type Film struct {
	ID       int       `json:"id"`
	Title    string    `json:"title"`
	Minutes  int       `json:"minutes"`
	Showings []Showing `json:"showings"`
}

func programme() map[int]*Film {
	films := map[int]*Film{}
	for i := 1; i <= 400; i++ {
		f := &Film{ID: i, Title: fmt.Sprintf("Film no. %d", i), Minutes: 80 + i%70}
		for k := 0; k < 6; k++ {
			f.Showings = append(f.Showings, Showing{ID: i*10 + k, Hall: fmt.Sprintf("Hall %d", (i+k)%9+1), At: fmt.Sprintf("%02d:%02d", 12+2*k, i%4*15)})
		}
		films[i] = f
	}
	return films
}

func schema(films map[int]*Film, office *Breaker) graphql.Schema {
	showing := graphql.NewObject(graphql.ObjectConfig{Name: "Showing", Fields: graphql.Fields{
		"id": {Type: graphql.Int}, "hall": {Type: graphql.String}, "at": {Type: graphql.String},
	}})
	film := graphql.NewObject(graphql.ObjectConfig{Name: "Film", Fields: graphql.Fields{
		"id": {Type: graphql.Int}, "title": {Type: graphql.String}, "minutes": {Type: graphql.Int},
		"showings": {Type: graphql.NewList(showing)},
		// null if the box office can't tell
		"freeSeats": {Type: graphql.Int, Resolve: func(p graphql.ResolveParams) (any, error) {
			body, err := office.Get("/seats/" + strconv.Itoa(p.Source.(*Film).ID))
			if err != nil {
				return nil, nil
			}
			return strconv.Atoi(string(body))
		}},
	}})
	query := graphql.NewObject(graphql.ObjectConfig{Name: "Query", Fields: graphql.Fields{
		"film": {
			Type: film, Args: graphql.FieldConfigArgument{"id": {Type: graphql.NewNonNull(graphql.Int)}},
			Resolve: func(p graphql.ResolveParams) (any, error) { return films[p.Args["id"].(int)], nil },
		},
	}})
	s, err := graphql.NewSchema(graphql.SchemaConfig{Query: query})
	if err != nil {
		log.Fatal(err)
	}
	return s
}

// boxOffice is the other service (its own process): it lost its database, refuses at once to tell seats, and takes
// 400 ms to find out that it is not well.
func boxOffice(address string) {
	http.HandleFunc("/seats/", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no database", 503) })
	http.HandleFunc("/.well-known/alive", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(400 * time.Millisecond)
		http.Error(w, "no database", 503)
	})
	log.Fatal(http.ListenAndServe(address, nil))
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "box-office" {
		boxOffice("127.0.0.1:" + os.Args[2])
	}
	s := schema(programme(), NewBreaker("http://127.0.0.1:"+os.Getenv("BOX_OFFICE_PORT")))
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "up") })
	http.HandleFunc("/graphql", func(w http.ResponseWriter, r *http.Request) {
		result := graphql.Do(graphql.Params{Schema: s, RequestString: r.URL.Query().Get("query"), Context: r.Context()})
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(result)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
